import { describe, expect, test } from "vitest";
import { look, OPTIONS, opened, run } from "../../test/support/durable.ts";
import { between, collect, ioError, type MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { forkSession } from "../journal/fork.ts";
import { appendReserved } from "../journal/journal.ts";
import { openJournal } from "../journal/open.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { defineTool } from "../transaction/tool.ts";
import { Holdfast } from "./holdfast.ts";
import { type JournalReading, stateAt } from "./rebuild.ts";

/** Two kept states, and a change after each. */
async function twoCheckpoints() {
  const { disk, deps, session } = await opened();
  const kept: number[] = [];
  for (const n of ["a", "b"]) {
    await run(session, n);
    await session.checkpoint();
    kept.push(session.journal.head.seq);
  }
  await run(session, "c");
  const seen = await look(session);
  await session.close();
  await deps.store.close();
  return { disk, kept, seen };
}

type Meddling = Parameters<typeof between>[1];

function meddled(disk: MemoryDisk, meddle: Meddling, options = {}) {
  const { store, ...deps } = memoryDeps(disk);
  return new Holdfast({ ...deps, store: between(store, meddle) }, { ...OPTIONS, ...options });
}

const unproven = (seqs: readonly number[]): Meddling => ({
  records: (records) => records.map((record) => (seqs.includes(record.seq) ? { ...record, salt: "x" } : record)),
});

describe("a state that is built again", () => {
  test("[TURN-97] is not guessed where the checkpoint is lost that a cut session begins with", async () => {
    const { disk, deps, holdfast, session } = await opened();
    await run(session, "a");
    await session.setMode("plan");
    await session.checkpoint();
    await session.append({ kind: "user-said", text: "and on" });
    expect(await holdfast.retain(session, { records: 3 })).toMatchObject({ withinBounds: true });
    const first = (await holdfast.look("s")).row.anchor.seq + 1;
    const seen = await look(session);
    await session.close();
    await deps.store.close();
    const damaged = meddled(disk, unproven([first]));
    const refusal = { code: "SESSION_DAMAGED", details: { record: first } };
    await expect(damaged.open("s")).rejects.toMatchObject(refusal);
    const looked = await damaged.look("s");
    expect(await looked.conversation()).toMatchObject([{ kind: "user" }]);
    expect(await looked.mode()).toBe("plan");
    await expect(looked.state()).rejects.toMatchObject(refusal);
    await expect(looked.state(first + 1)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    const sound = await meddled(disk, {}).open("s");
    expect(await look(sound)).toEqual(seen);
    await sound.close();
  });

  test("[TURN-5] a store that fails is told as that, and nothing is built around it", async () => {
    const { disk } = await twoCheckpoints();
    const failing = meddled(disk, {
      smallBlob: () => {
        throw ioError();
      },
    });
    await expect(failing.open("s")).rejects.toMatchObject({ code: "STORE_IO" });
    let reads = 0;
    const failingLater = meddled(disk, {
      smallBlob: () => {
        reads += 1;
        if (reads > 1) throw ioError();
        return undefined; // the newest kept state is lost
      },
    });
    await expect(failingLater.open("s")).rejects.toMatchObject({ code: "STORE_IO" });
  });

  test("[TURN-5] what no kept state leads to is told as gone, never guessed", async () => {
    const { disk, kept, seen } = await twoCheckpoints();
    const [first = 0, second = 0] = kept;
    const whole = await meddled(disk, {}).look("s");
    expect(await whole.state(second)).toMatchObject({ counter: 2 });
    const hurt = await meddled(disk, unproven([first])).look("s");
    await expect(hurt.state(first)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    expect(await hurt.state(second)).toMatchObject({ counter: 2 });
    const session = await meddled(disk, {}).open("s");
    expect(await look(session)).toEqual(seen);
    await session.close();
  });

  test("[TURN-62] what somebody cuts off between two reads is told as gone, and no other record is taken for it", async () => {
    const { session } = await opened();
    await run(session, "a");
    const { journal } = session;
    const seq = journal.head.seq;
    const { opened: at, folded, head } = journal;
    const reading = (read: JournalReading["read"]) =>
      stateAt({ opened: at, folded, head, read }, seq, [], undefined as never);
    const nothing = reading(async function* () {});
    await expect(nothing).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    const another = reading(() => journal.read({ from: 1, to: 1 }));
    await expect(another).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    await session.close();
  });

  test("[TURN-62] what retention has cut off is told as gone", async () => {
    const { disk } = await twoCheckpoints();
    const holdfast = meddled(disk, {});
    const session = await holdfast.open("s");
    await session.checkpoint();
    await holdfast.retain(session, { records: 1 });
    const after = await holdfast.look("s");
    await expect(after.state(1)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    await session.close();
  });

  test("[REDACT-10] a change that was dropped leaves the states that need it told as gone", async () => {
    const { deps, holdfast, session } = await opened();
    await run(session, "a");
    await run(session, "hunter2-of-old-times");
    const at = session.journal.head.seq;
    await run(session, "b");
    await session.close();
    holdfast.registerSecret("hunter2-of-old-times");
    await holdfast.dropSecrets("s");
    const looked = await holdfast.look("s");
    await expect(looked.state(at)).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    await deps.store.close();
  });

  test("[TURN-2] a change whose call's end is damaged is true all the same, and has no boundary", async () => {
    const { disk, deps, session } = await opened();
    await run(session, "a");
    const callId = await run(session, "b");
    const seen = await look(session);
    const closing = (await collect(session.read())).find((one) => one.kind === "call-closed" && one.callId === callId);
    await deps.store.close();
    const again = await meddled(disk, unproven([closing?.seq ?? 0])).open("s");
    expect(await look(again)).toEqual({ ...seen, diary: expect.anything() as unknown });
    await again.close();
  });
});

describe("a change that another writer has written down", () => {
  test("[TURN-2] and that introduces nothing, in so many words, is read, and built upon", async () => {
    const { deps, holdfast, session } = await opened();
    await run(session, "a");
    const seen = await look(session);
    const ours = (await collect(session.read())).find(({ kind }) => kind === "state-changed");
    await session.close();
    const { seq: _seq, at: _at, ...change } = ours as typeof ours & { readonly kind: "state-changed" };
    const journal = await openJournal(deps, "theirs");
    await appendReserved(journal, { ...change, introduces: null } as RecordDraft);
    await journal.close();
    const theirs = await holdfast.open("theirs");
    expect(await look(theirs)).toEqual(seen);
    await run(theirs, "b");
    expect((await look(theirs)).steps).toEqual(["a", "b"]);
    await theirs.close();
  });
});

describe("a fork that only its records make one", () => {
  test("[TURN-81] of a session in plan mode is in plan mode without a second word", async () => {
    const { deps, holdfast, session } = await opened();
    await session.setMode("plan", "to look around");
    await session.close();
    await forkSession({ ...deps }, "s", { as: "f" });
    const fork = await holdfast.open("f");
    expect(fork.mode).toBe("plan");
    const own = (await collect(fork.read())).filter(({ seq }) => seq > session.journal.head.seq);
    expect(own.map(({ kind }) => kind)).toContain("forked");
    expect(own.map(({ kind }) => kind)).not.toContain("mode-changed");
    await fork.close();
  });

  test("[TURN-81] whose first record is damaged is opened all the same", async () => {
    const { disk, deps, session } = await opened();
    await run(session, "a");
    await session.close();
    await forkSession({ ...deps }, "s", { as: "f" });
    const fork = await meddled(disk, unproven([1])).open("f");
    expect(fork.mode).toBe("plan");
    await fork.close();
  });
});

describe("what was done outside", () => {
  const stuck = { run: () => "receipt", undo: () => Promise.reject(new Error("the bank is closed")) };
  const hanging = Promise.withResolvers<void>();
  const pay = defineTool<{ readonly order: string; readonly fail?: boolean; readonly hang?: boolean }>({
    name: "pay",
    access: "external",
    effects: { payment: stuck },
    run: async ({ order, fail, hang }, call) => {
      await call.effect("payment", {}, { key: order });
      if (hang === true) {
        hanging.resolve();
        await new Promise(() => {});
      }
      return fail === true ? call.fail("no", "no") : "paid";
    },
  });

  test("[TURN-62] and could not be undone is kept in a checkpoint as that, by its key", async () => {
    const options = { tools: [pay] };
    const { disk, deps, session } = await opened(undefined, options);
    const { effects } = await session.runTool({ name: "pay", input: { order: "one", fail: true } });
    expect(effects).toMatchObject([{ key: "one", is: "not-undone" }]);
    await session.checkpoint();
    await deps.store.close();
    const again = await opened(disk, options);
    expect(again.session.state.poisoned).toBe(false);
    expect(await again.session.runTool({ name: "pay", input: { order: "one" } })).toMatchObject({ ok: true });
    await again.session.close();
  });

  test("[TURN-13] by two calls is left when only one of them is taken back", async () => {
    const { session } = await opened(undefined, { tools: [pay] });
    await session.runTool({ name: "pay", input: { order: "one" } });
    const second = await session.runTool({ name: "pay", input: { order: "one" } });
    const { effects } = await session.rewind({ before: second.callId });
    expect(effects).toEqual([]);
    await session.close();
  });

  test("[TURN-1] by a call that was cut off, and before it by one that could not undo it, is told as what it is", async () => {
    const { disk, deps, session } = await opened(undefined, { tools: [pay] });
    await session.runTool({ name: "pay", input: { order: "one", fail: true } });
    void session.runTool({ name: "pay", input: { order: "one", hang: true } }).catch(() => {});
    await hanging.promise;
    await deps.store.close(); // the process is gone
    const again = await opened(disk, { tools: [pay] });
    expect(again.session.recovered.effects).toMatchObject([{ key: "one", is: "not-undone" }]);
    await again.session.close();
  });
});

test("[WRITEBACK-10] what was staged for a shelf that is out of reach is staged still when the session opens", async () => {
  const { disk, deps, session } = await opened();
  await session.writeback.stage({
    kind: "preference",
    page: "style",
    field: "notes",
    op: "append",
    value: "short",
    scope: "project",
  });
  await deps.store.close();
  const away = meddled(disk, {
    before: (batch) => {
      if (batch.kind === "create") throw ioError(); // the shelf is not there yet, and cannot be made
      return undefined;
    },
  });
  const again = await away.open("s");
  expect(again.recovered.staged).toEqual(["s.000001"]);
  expect(again.writeback.pending).toHaveLength(1);
});
