import { describe, expect, test, vi } from "vitest";
import { kernel, opened, OPTIONS, stagedSizes } from "../../test/support/durable.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import type { Json } from "../base/json.ts";
import { appendReserved } from "../journal/journal.ts";
import { defineTool } from "../transaction/tool.ts";
import type { KeptState } from "./kept-state.ts";
import { Holdfast } from "./holdfast.ts";
import type { Session } from "./session.ts";

const RECEIPT = "r".repeat(1000);
const WORDS = "w".repeat(1000);

/** Pays, with many words, and remembers what was really done. */
function bank() {
  const done: string[] = [];
  const undone: Json[] = [];
  const pay = defineTool<{ readonly order: string }>({
    name: "pay",
    access: "external",
    effects: {
      payment: {
        run: (_args: unknown, { key }) => {
          done.push(key);
          return `${key} ${RECEIPT}`;
        },
        undo: (args: Json, result: Json) => {
          undone.push([args, result]);
        },
      },
    },
    run: ({ order }, call) => call.effect("payment", { order, words: WORDS }, { key: order }),
  });
  return { done, undone, options: { tools: [pay] } };
}

const paid = (session: Session, order: string) => session.runTool({ name: "pay", input: { order } });

async function keptAt(session: Session, seq: number) {
  const [entry] = await collect(session.read({ from: seq, to: seq }));
  if (entry?.kind !== "checkpoint-kept") throw new Error("no checkpoint");
  return { state: entry.state as unknown as KeptState, blobs: entry.blobs ?? [], bytes: JSON.stringify(entry).length };
}

describe("what was done outside, in checkpoints", () => {
  test("[TURN-90] is written once: each costs its key and whose it is, however much it said", async () => {
    const { options } = bank();
    const { session } = await opened(new MemoryDisk(), options);
    for (let n = 0; n < 200; n += 1) await paid(session, `order-${n}`);
    await session.checkpoint();
    await paid(session, "one more");
    const sizes = stagedSizes(session);
    const { state, bytes } = await keptAt(session, (await session.checkpoint()).last);
    expect(state.effects).toHaveLength(201);
    expect(JSON.stringify(state.effects).length / 201).toBeLessThan(350);
    expect(bytes).toBeLessThan(100_000);
    expect(sizes.at(-1)).toBeLessThan(3_000);
    const again = stagedSizes(session);
    await session.checkpoint();
    expect(again).toEqual([]);
    await session.close();
  });

  test("[TURN-92] a session that stays open holds no arguments that nothing can be undone with any more", async () => {
    const { undone, options } = bank();
    const { session } = await opened(new MemoryDisk(), { ...options, checkpoints: { limit: 3 } });
    const forgotten = vi.spyOn(session.transactions.effects, "forgetArguments");
    const calls = [];
    for (let n = 0; n < 8; n += 1) calls.push(await paid(session, `order-${n}`));
    await session.checkpoint();
    expect([...(forgotten.mock.lastCall?.[0] ?? [])].map(({ key }) => key)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `order-${n}`),
    );
    expect((await paid(session, "order-0")).output).toContain(RECEIPT); // it is not done again
    await session.rewind({ before: calls[6]!.callId });
    expect(undone).toMatchObject([7, 6].map((n) => [{ order: `order-${n}`, words: WORDS }, expect.any(String)]));
    await session.close();
  });

  test("[TURN-92] those of what somebody else's call may take back are held, however many calls ago it was", async () => {
    const { undone, options } = bank();
    const { session } = await opened(new MemoryDisk(), { ...options, checkpoints: { limit: 3 } });
    const takeBack = await session.mark();
    for (let n = 0; n < 8; n += 1) await paid(session, `order-${n}`);
    await session.checkpoint();
    await takeBack();
    expect(undone.map((one) => (one as [{ words: string }])[0].words)).toEqual(Array(8).fill(WORDS));
    await session.close();
  });

  test("[TURN-92] is not undone with the call that can be taken back, where one that no longer can relies on it", async () => {
    const { done, undone, options } = bank();
    const limited = { ...options, checkpoints: { limit: 3 } };
    const { disk, deps, session } = await opened(new MemoryDisk(), limited);
    const slow = await session.begin({ name: "pay", input: { order: "a" } });
    await slow.call.effect("payment", { order: "a", words: WORDS }, { key: "a" });
    await paid(session, "a");
    for (let n = 0; n < 4; n += 1) await paid(session, `order-${n}`);
    await session.checkpoint();
    await slow.abort();
    expect(undone).toEqual([]);
    await deps.store.close();
    const again = (await opened(disk, limited)).session;
    expect(undone).toEqual([]);
    expect(await paid(again, "a")).toMatchObject({ output: `a ${RECEIPT}` });
    expect(done.filter((key) => key === "a")).toEqual(["a"]);
    await again.close();
  });

  test("[TURN-92] a fork that stays open holds none of what it inherited either", async () => {
    const { undone, options } = bank();
    const { session } = await opened(new MemoryDisk(), options);
    const { callId } = await paid(session, "a");
    const fork = await session.fork({ after: callId, as: "f" });
    const forgotten = vi.spyOn(fork.transactions.effects, "forgetArguments");
    const { last } = await fork.checkpoint();
    expect([...(forgotten.mock.lastCall?.[0] ?? [])].map(({ key }) => key)).toEqual(["a"]);
    expect(JSON.stringify((await keptAt(fork, last)).state.effects)).not.toContain('"args":[');
    expect(await paid(fork, "a")).toMatchObject({ output: `a ${RECEIPT}` });
    await fork.rewind({ before: callId });
    expect(undone).toEqual([]);
    await fork.close();
    await session.rewind({ before: callId });
    expect(undone).toEqual([[{ order: "a", words: WORDS }, `a ${RECEIPT}`]]);
    await session.close();
  });

  test("[TURN-90] lies in few pieces, however many checkpoints there were", async () => {
    const { options } = bank();
    const { session, holdfast } = await opened(new MemoryDisk(), options);
    const sizes = stagedSizes(session);
    for (let n = 0; n < 64; n += 1) {
      await paid(session, `order-${n}`);
      await session.checkpoint();
    }
    const { state } = await keptAt(session, (await session.checkpoint()).last);
    expect(state.effectContents?.length).toBeLessThan(8);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(64 * 2_100 * 12);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    await session.close();
  });

  test("[TURN-90] is written once, too, of one that failed while it ran, and of one that still runs", async () => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    const effects = {
      broken: { run: () => Promise.reject(new Error("cut off")) },
      slow: {
        run: () => {
          begun.resolve();
          return end.promise;
        },
      },
    };
    const odd = defineTool<{ readonly effect: string }>({
      name: "odd",
      access: "external",
      effects,
      run: ({ effect }, call) => call.effect(effect, { words: WORDS }, { key: effect }),
    });
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools: [odd] });
    expect(await session.runTool({ name: "odd", input: { effect: "broken" } })).toMatchObject({ ok: false });
    const running = session.runTool({ name: "odd", input: { effect: "slow" } });
    await begun.promise;
    const effectsAt = async (seq: number) => (await keptAt(session, seq)).state.effects;
    for (let n = 0; n < 2; n += 1)
      expect(JSON.stringify(await effectsAt((await session.checkpoint()).last))).not.toContain(WORDS);
    end.resolve(RECEIPT);
    expect(await running).toMatchObject({ ok: true });
    expect(JSON.stringify(await effectsAt((await session.checkpoint()).last))).not.toContain(RECEIPT);
    await deps.store.close();
    const again = (await opened(disk, { tools: [odd] })).session;
    expect(await again.runTool({ name: "odd", input: { effect: "slow" } })).toMatchObject({ output: RECEIPT });
    expect(await again.runTool({ name: "odd", input: { effect: "broken" } })).toMatchObject({ ok: false });
    await again.close();
  });

  test("[TURN-90] is not said by a checkpoint that joins an append either", async () => {
    const { options } = bank();
    const { session } = await opened(new MemoryDisk(), options);
    await session.checkpoint();
    for (let n = 0; n < 300; n += 1) await paid(session, `order-${n}`);
    const entries = await collect(session.read());
    const kept = entries.filter((entry) => entry.kind === "checkpoint-kept");
    expect(kept.length).toBeGreaterThan(2);
    for (const one of kept) expect(JSON.stringify(one)).not.toContain(RECEIPT);
    await session.close();
  });

  test("[TURN-90] is answered, and undone, as it was said, by the next process and by a fork", async () => {
    const { done, undone, options } = bank();
    const { disk, deps, session } = await opened(new MemoryDisk(), options);
    const first = await paid(session, "a");
    await paid(session, "b");
    await session.checkpoint();
    await session.fork({ after: first.callId, as: "f" }).then((fork) => fork.close());
    await deps.store.close();
    const { holdfast, session: again } = await opened(disk, options);
    expect(await paid(again, "a")).toMatchObject({ output: `a ${RECEIPT}` });
    const { effects } = await again.rewind({ before: first.callId });
    expect(effects.map(({ key, is }) => [key, is])).toEqual([
      ["b", "undone"],
      ["a", "undone"],
    ]);
    expect(undone).toEqual([
      [{ order: "b", words: WORDS }, `b ${RECEIPT}`],
      [{ order: "a", words: WORDS }, `a ${RECEIPT}`],
    ]);
    const fork = await holdfast.open("f");
    expect(await paid(fork, "a")).toMatchObject({ output: `a ${RECEIPT}` });
    expect(done).toEqual(["a", "b"]);
    await fork.close();
    await again.close();
  });

  test("[TURN-90] [TURN-4] that an older version said in full is read, and said by its place from then on", async () => {
    const { done, options } = bank();
    const { disk, deps, session } = await opened(new MemoryDisk(), options);
    await paid(session, "a");
    const { parts } = (await keptAt(session, (await session.checkpoint()).last)).state;
    await paid(session, "b");
    const { kept } = session.journal.folded;
    const { last } = await appendReserved(session.journal, [], { checkpoint: { ...kept } as object });
    const { state } = await keptAt(session, last);
    expect(state.parts).toEqual(parts);
    expect(JSON.stringify(state.effects)).toContain(`b ${RECEIPT}`);
    await deps.store.close();
    const again = (await opened(disk, options)).session;
    for (const order of ["a", "b"]) expect(await paid(again, order)).toMatchObject({ output: `${order} ${RECEIPT}` });
    expect(done).toEqual(["a", "b"]);
    const next = await keptAt(again, (await again.checkpoint()).last);
    expect(JSON.stringify(next.state.effects)).not.toContain(RECEIPT);
    await again.close();
  });

  test("[TURN-90] and is lost with its content may have happened: told, never done anew, and no later checkpoint fails", async () => {
    const { done, options } = bank();
    const { disk, deps, session } = await opened(new MemoryDisk(), options);
    await paid(session, "a");
    const { state } = await keptAt(session, (await session.checkpoint()).last);
    await deps.store.close();
    const lost = state.effectContents?.[0]?.name;
    const { store, ...rest } = memoryDeps(disk);
    const lossy = between(store, { smallBlob: (wanted, bytes) => (wanted === lost ? undefined : bytes) });
    const survivor = await new Holdfast({ ...rest, store: lossy }, { ...OPTIONS, ...options }).open("s");
    expect(await paid(survivor, "a")).toMatchObject({
      ok: false,
      output: expect.stringContaining("may have happened"),
    });
    const faults = (await collect(survivor.read())).filter((entry) => entry.kind === "fault-raised");
    expect(faults).toMatchObject([{ fault: "effect-lost", detail: { tool: "pay", name: "payment", key: "a" } }]);
    const kept = await keptAt(survivor, (await survivor.checkpoint()).last);
    expect(kept.state.effects).toMatchObject([{ entry: { key: "a" }, standing: { is: "unknown" } }]);
    expect(kept.blobs.map(({ name }) => name)).not.toContain(lost);
    await survivor.close();
    const again = (await opened(disk, options)).session;
    expect(await paid(again, "a")).toMatchObject({ ok: false });
    expect(done).toEqual(["a"]);
    await again.close();
  });

  test("[TURN-90] [BUNDLE-1] comes along in a bundle", async () => {
    const { done, options } = bank();
    const { holdfast, session } = await opened(new MemoryDisk(), options);
    await paid(session, "a");
    await session.checkpoint();
    await session.close();
    const bundle = Buffer.concat(await collect(holdfast.exportBundle("s", {})));
    const elsewhere = kernel(new MemoryDisk(), options).holdfast;
    await elsewhere.importBundle(() => [bundle]);
    const copy = await elsewhere.open("s");
    expect(await paid(copy, "a")).toMatchObject({ output: `a ${RECEIPT}` });
    expect(done).toEqual(["a"]);
    await copy.close();
  });
});
