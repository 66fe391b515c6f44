import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { kernel, look, opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { notesPart, withNote } from "../../test/support/notes-part.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { inWorkspace } from "../../test/support/workspaces.ts";
import { lazily, resourceKey } from "../state/resources.ts";
import { explainPage } from "../context/explain.ts";
import { defineTool } from "../transaction/tool.ts";
import { createHoldfast } from "./holdfast.ts";

/** A process that knows nobody's tools and slices. */
const STRANGER = { tools: [], slices: [] };

describe("a process that does not know the slices", () => {
  test("[CLI-5] rewinds them as one that does, before and after any checkpoint, logs kept", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }),
        fc.nat(),
        fc.boolean(),
        async (checkpoints, pick, before) => {
          const ends = [];
          for (const options of [{}, STRANGER]) {
            const { disk, deps, session } = await opened();
            const calls: string[] = [];
            for (const [n, kept] of checkpoints.entries()) {
              calls.push(await run(session, String(n)));
              if (kept) await session.checkpoint();
            }
            await deps.store.close();
            const rewinding = await opened(disk, options);
            const call = calls[pick % calls.length] as string;
            await rewinding.session.rewind(before ? { before: call } : { after: call });
            await rewinding.session.checkpoint(); // whatever it does not know goes into it, too
            await rewinding.deps.store.close();
            const again = await opened(disk);
            ends.push(await look(again.session));
          }
          expect(ends[1]).toEqual(ends[0]);
          expect(ends[0]?.diary).toEqual(checkpoints.map((_, n) => String(n)));
        },
      ),
      { numRuns: 25 },
    ));

  test("[CLI-5] tells a part that it cannot follow, and plans no rewind from a guess", async () => {
    const note = writes<string>("note", async (title, call) => call.change(notesPart, withNote(title, "text")));
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools: [note], parts: [notesPart] });
    const { callId } = await session.runTool({ name: "note", input: "a" });
    await deps.store.close();
    const { holdfast } = await opened(disk, STRANGER);
    const seen = await holdfast.look("s");
    expect(await seen.skippedChanges()).toHaveLength(1);
    await expect(seen.planRewind({ before: callId })).rejects.toMatchObject({ code: "SESSION_NOT_FOLLOWED" });
  });
});

describe("looking at a session", () => {
  test("[CLI-6] takes nothing and writes nothing while another process writes it", async () => {
    const { disk, session } = await opened();
    const first = await run(session, "a");
    await run(session, "b");
    const before = await collect(session.read());
    const other = await opened(disk, STRANGER).catch((error: unknown) => error);
    expect(other).toMatchObject({ code: "SESSION_BUSY" });
    const seen = await kernel(disk, STRANGER).holdfast.look("s");
    expect(seen.writer).toBe("held");
    expect(seen.boundaries).toEqual(session.checkpoints.list());
    expect(await seen.conversation()).toEqual(await session.conversation());
    expect(await seen.mode()).toBe("act");
    const { delta: _data, ...plan } = await session.rewind({ after: first, dryRun: true });
    expect(await seen.planRewind({ after: first })).toMatchObject(plan);
    expect(await collect(session.read())).toEqual(before);
    await run(session, "c"); // the writer has lost nothing
    expect(seen.boundaries).toHaveLength(2); // and the look is of its moment
    await expect(seen.placeOf({ after: "call_zz" })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
  });

  test("[CLI-6] tells a call that was cut off, without closing it", async () => {
    const { disk, deps, session } = await opened(new MemoryDisk(), {
      tools: [writes("stuck", () => new Promise(() => {}))],
    });
    void session.runTool({ name: "stuck", input: {} }).catch(() => {});
    while (session.openCalls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [callId = ""] = session.openCalls;
    const head = session.journal.head.seq;
    await deps.store.close();
    const { holdfast, deps: mine } = kernel(disk, STRANGER);
    const seen = await holdfast.look("s");
    expect(seen.writer).toBe("died");
    expect(seen.openCalls).toEqual([{ callId, tool: "stuck" }]);
    expect(await seen.placeOf({ before: callId })).toBe(head - 1);
    await expect(seen.placeOf({ after: callId })).rejects.toMatchObject({ code: "CALLS_OPEN" });
    const row = await mine.store.reading((read) => read.session(seen.id));
    expect(row?.head.seq).toBe(head);
  });

  test("[CLI-9] plans a rewind of a session that a crash cut off as it then happens, effects included", async () => {
    const undone: string[] = [];
    const sent = Promise.withResolvers<void>();
    const stuck = defineTool({
      name: "stuck",
      access: "write",
      effects: { mail: { run: () => "sent", undo: () => void undone.push("mail") } },
      run: async (_input, call) => {
        await call.effect("mail", {}, { key: "one" });
        sent.resolve();
        await new Promise(() => {});
      },
    });
    const tools = [writes("fine", () => "ok"), stuck];
    const { disk, deps, session } = await opened(new MemoryDisk(), { tools });
    const { callId: before } = await session.runTool({ name: "fine", input: {} });
    void session.runTool({ name: "stuck", input: {} }).catch(() => {});
    await sent.promise;
    await deps.store.close();
    const { holdfast } = kernel(disk, { tools });
    const seen = await holdfast.look("s");
    const planned = await seen.planRewind({ before });
    const [, cutOff = ""] = planned.calls;
    expect(seen.openCalls).toEqual([{ callId: cutOff, tool: "stuck" }]);
    const alone = await seen.planRewind({ before: cutOff });
    const again = await holdfast.open("s");
    const { effects, ...plan } = planned;
    expect(effects).toEqual([expect.objectContaining({ name: "mail", is: "happened" })]);
    expect(await again.rewind({ before, dryRun: true })).toEqual(planned);
    expect(await again.rewind({ before: cutOff, dryRun: true })).toEqual(alone);
    expect(await again.rewind({ before })).toMatchObject({ ...plan, done: true });
    expect(undone).toEqual(["mail"]);
  });
});

test("[CLI-9] [SNAP-8] a rewind is planned as it then happens, and no resource is made for it", async () => {
  const made: string[] = [];
  const kept = (name: string, value: { n: number; shared?: boolean }) =>
    [
      resourceKey<{ n: number }>(name),
      lazily(() => {
        made.push(name);
        const snapshotable = { snapshot: () => value.n, restore: (to: number) => void (value.n = to) };
        return Object.assign(value, snapshotable);
      }),
    ] as const;
  const resources = () => [kept("box", { n: 0 }), kept("spent", { n: 0, shared: true })];
  const use = writes("use", async (_input, call) => {
    for (const name of ["box", "spent"]) (await call.resource(resourceKey<{ n: number }>(name))).n += 1;
    return "used";
  });
  const { disk, deps, session } = await opened(new MemoryDisk(), { tools: [use], resources });
  const { callId: first } = await session.runTool({ name: "use", input: {} });
  await session.runTool({ name: "use", input: {} });
  await deps.store.close();
  made.length = 0;
  const { holdfast } = kernel(disk, { tools: [use], resources });
  const targets = [{ after: first }, { before: first }];
  const plans = [];
  for (const target of targets) plans.push(await (await holdfast.look("s")).planRewind(target));
  expect(made).toEqual([]);
  const again = await holdfast.open("s");
  for (const [nth, target] of targets.entries()) {
    expect(plans[nth]?.delta).toHaveProperty(["holdfast.resources"]);
    expect(await again.rewind({ ...target, dryRun: true })).toEqual(plans[nth]);
  }
  expect(await again.rewind({ after: first })).toEqual({ ...plans[0], done: true });
});

describe("looking at a session in a folder", () => {
  const write = writes<{ readonly path: string; readonly text: string }>("write", ({ path, text }, call) =>
    call.files.writeText(path, text),
  );

  test("[CLI-6] plans the files as the session itself would, and leaves folder and lock alone", async () => {
    const { holdfast, session, root } = await inWorkspace({ tools: [write] });
    const { callId } = await session.runTool({ name: "write", input: { path: "a.txt", text: "one" } });
    await session.runTool({ name: "write", input: { path: "b.txt", text: "two" } });
    writeFileSync(join(root, "b.txt"), "somebody else's");
    const lies = () => readdirSync(root, { recursive: true }).map(String).sort();
    const before = lies();
    const seen = await holdfast.look("s");
    const plan = await seen.planRewind({ before: callId });
    expect(plan).toEqual(await session.rewind({ before: callId, dryRun: true }));
    expect(plan.files).toEqual({
      files: [{ path: "a.txt", does: "remove" }],
      kept: [{ path: "b.txt", why: "changed" }],
      unlike: [],
    });
    expect(lies()).toEqual(before);
    expect(readFileSync(join(root, "b.txt"), "utf8")).toBe("somebody else's");
    await holdfast.close();
  });

  test("[CLI-6] without the folder neither plans nor does a rewind that would leave the files behind", async () => {
    const { holdfast, session } = await inWorkspace({ tools: [write] });
    const { callId } = await session.runTool({ name: "write", input: { path: "a.txt", text: "one" } });
    await session.close();
    const without = await createHoldfast({ store: holdfast.store });
    const seen = await without.look("s");
    expect(await seen.binding()).toMatchObject({ mode: "host" });
    await expect(seen.planRewind({ before: callId })).rejects.toMatchObject({ code: "WORKSPACE_NEEDED" });
    expect(await seen.planRewind({ before: callId, scope: "conversation" })).toMatchObject({ calls: [callId] });
    const open = await without.open("s");
    await expect(open.rewind({ before: callId })).rejects.toMatchObject({ code: "WORKSPACE_NEEDED" });
    await open.close();
    const elsewhere = await inWorkspace();
    const wrong = await createHoldfast({ store: holdfast.store, workspace: elsewhere.root });
    await expect((await wrong.look("s")).planRewind({ before: callId })).rejects.toMatchObject({
      code: "WORKSPACE_FOREIGN",
    });
    await elsewhere.holdfast.close();
    await holdfast.close();
  });
});

describe("what the model saw", () => {
  const read = writes<{ readonly n: number }>("read", ({ n }) => `${n}: ${"lorem ipsum dolor ".repeat(400)}`);
  const asks = (n: number) => ({ calls: [{ name: "read", input: { n } }] });

  test("[CLI-32] is told while a call runs, and after a crash that cut one off", async () => {
    const seen: unknown[] = [];
    const disk = new MemoryDisk();
    const looks = writes("look", async () => {
      seen.push((await (await kernel(disk, STRANGER).holdfast.look("s")).view())?.view?.entries.length);
      await new Promise(() => {}); // and then the machine stops
    });
    const { session } = await opened(disk, { tools: [read, looks] });
    void watch(session.run("Read.", { model: scripted([asks(1), { calls: [{ name: "look", input: {} }] }]) }));
    await expect.poll(() => seen).toEqual([3]);
    const after = await (await kernel(disk, STRANGER).holdfast.look("s")).view();
    expect(after?.view?.entries.length).toBe(3);
  });

  test("[CLI-8] is told page by page after a call of a tool that nobody offered, and after tools have changed", async () => {
    const { session, disk } = await opened(new MemoryDisk(), { tools: [read] });
    const unknown = { calls: [{ name: "nope", input: {} }] };
    await watch(session.run("Go.", { model: scripted([asks(1), unknown, { text: "Done." }]) }));
    await watch(session.run("More.", { model: scripted([{ text: "Done." }]) }));
    const pages = session.context.view?.pages.map(({ id }) => id);
    const seen = async () => (await kernel(disk, STRANGER).holdfast.look("s")).view();
    expect((await seen())?.view?.pages.map(({ id }) => id)).toEqual(pages);
    expect((await seen())?.unknownPages).toBe(0);
    await session.catalog.remove(["read"]); // what was sent was sent while it was offered
    expect((await seen())?.view?.pages.map(({ id }) => id)).toEqual(pages);
  });

  test("[CLI-8] is told with the rules of then, also when they were changed or unpinned since", async () => {
    const { session, disk } = await opened();
    const rule = { id: "r", scope: "session", source: "the user" } as const;
    const model = scripted([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    await session.context.pin({ ...rule, text: "Be brief." });
    await watch(session.run("Go.", { model }));
    await session.context.pin({ ...rule, text: "Be thorough." });
    await watch(session.run("More.", { model }));
    await session.context.unpin("r");
    await watch(session.run("And more.", { model }));
    const seen = async (turn: number) => {
      const look = await kernel(disk, STRANGER).holdfast.look("s");
      return JSON.stringify((await look.view({ turn }))?.view?.items);
    };
    expect(await seen(0)).toMatch(/Be brief/);
    expect(await seen(0)).not.toMatch(/thorough/);
    expect(await seen(1)).toMatch(/Be thorough/);
    expect(await seen(2)).toMatch(/And more/);
    expect(await seen(2)).not.toMatch(/Be thorough|Be brief/);
  });

  test("[CLI-8] is told page by page as the session has it, in a process that made none of it", async () => {
    const { holdfast, session, deps, disk } = await opened(new MemoryDisk(), {
      tools: [read],
      context: { window: 12_000, rules: [{ id: "r1", text: "Never push.", source: "AGENTS.md", scope: "project" }] },
    });
    const script = [...Array.from({ length: 12 }, (_, n) => asks(n)), { text: "Done." }];
    await watch(session.run("Read them all.", { model: scripted(script) }));
    const { view } = session.context;
    const seen = await (await kernel(disk, STRANGER).holdfast.look("s")).view();
    expect(seen?.unknownPages).toBe(1); // the rule is the program's
    expect(seen?.counted).toBeGreaterThan(0);
    const own = (view?.pages ?? []).slice(1);
    for (const { id } of own) {
      const [told, is] = [seen?.view, view].map((one) => (one === undefined ? undefined : explainPage(one, id)));
      expect(told).toMatchObject({ page: id, level: is?.level, kind: is?.kind, handle: is?.handle });
    }
    const levels = new Set(seen?.view?.entries.map(({ level }) => level));
    expect(levels.size).toBeGreaterThan(1);
    expect(new Set(seen?.view?.entries.filter(({ level }) => level !== "full").map(({ why }) => why))).not.toContain(
      "new",
    );
    expect(seen?.since.length).toBe(1); // the answer
    const first = await (await holdfast.look("s")).view({ turn: 0 });
    expect(first?.view?.pages.map(({ kind }) => kind)).toEqual(["constraint", "conversation"]);
    expect(await (await holdfast.look("s")).view({ turn: 99 })).toBeUndefined();
    await deps.store.close();
  });
});
