import { describe, expect, test } from "vitest";
import { OPTIONS, kernel, opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { brief, collect, MemoryDisk, said } from "../../test/support/stores.ts";
import type { Json } from "../base/json.ts";
import { appendReserved } from "../journal/journal.ts";
import { defineTool } from "../transaction/tool.ts";
import { callIdAt, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Item, toolCallId } from "../wire/item.ts";
import { keepItems } from "../wire/keep.ts";

const call = callIdAt(toSessionId("s"), 0, 0);
const effect = { tool: "t", name: "n", key: "k", generation: 0 };
const writeback = { page: "p", change: {} };

/** One well-formed record of every kind that only the kernel may write. */
const RESERVED: readonly RecordDraft[] = [
  { kind: "session-created", session: toSessionId("other") },
  { kind: "session-recovered", closedCalls: [call], damaged: [1], previousWriter: "died" },
  { kind: "call-waiting", callId: call, tool: "t", args: {}, for: "approval" },
  { kind: "approval-given", callId: call, approved: true },
  { kind: "checkpoint-kept", openCalls: [] },
  { kind: "state-changed", delta: {}, cause: "mine" },
  { kind: "effect-opened", ...effect, callId: call, args: {} },
  { kind: "effect-done", ...effect, result: {} },
  { kind: "effect-joined", ...effect, callId: call },
  { kind: "effect-left", ...effect, callId: call },
  { kind: "effect-undone", ...effect, how: "undone" },
  { kind: "writeback-staged", ...writeback },
  { kind: "writeback-rejected", ...writeback, reason: "no" },
  { kind: "writeback-committed", ...writeback },
  { kind: "mode-changed", mode: "act" },
  { kind: "catalog-changed", version: 1, epoch: 1, reason: "mine", tools: [] },
  { kind: "history-cut", through: 1, records: 1, reason: "mine" },
  { kind: "file-diverged", path: "a" },
  { kind: "rewound", to: 0, scope: ["state"] },
  { kind: "agents-returned", calls: [call] },
  { kind: "forked", from: toSessionId("other"), after: 1 },
];

describe("[JOURNAL-21] what only the kernel writes", () => {
  test.each(RESERVED.map((draft) => [draft.kind, draft] as const))("%s is refused by both doors", async (_, draft) => {
    const { session } = await opened();
    const before = brief(await collect(session.read()));
    const refusal = { code: "RECORD_RESERVED", details: { kind: draft.kind } };
    await expect(session.append(draft)).rejects.toMatchObject(refusal);
    await expect(session.append([said("with it"), draft])).rejects.toMatchObject(refusal);
    await expect(session.journal.append(draft)).rejects.toMatchObject(refusal);
    expect(brief(await collect(session.read()))).toEqual(before);
    await session.append(said("goes on"));
  });

  test("the kernel's options of an append are refused", async () => {
    const { session } = await opened();
    const { head } = session.journal;
    for (const options of [{ anchor: head }, { checkpoint: {} }, { checked: {} }, { unsynced: true }])
      await expect(session.journal.append(said("x"), options)).rejects.toMatchObject({ code: "RECORD_RESERVED" });
    expect(session.journal.head).toEqual(head);
  });

  test("a call is opened once and ends once, whatever is under way", async () => {
    const { session } = await opened();
    const open = { kind: "call-opened", callId: call, tool: "t", args: {} } as const;
    const close = { kind: "call-closed", callId: call, tool: "t", status: "success" } as const;
    await expect(session.append(close)).rejects.toMatchObject({ code: "CALL_CLOSED" });
    await expect(session.append([open, open])).rejects.toMatchObject({ code: "CALL_OPEN" });
    await session.append(open);
    await expect(session.append(open)).rejects.toMatchObject({ code: "CALL_OPEN" });
    const ends = await Promise.allSettled([session.append(close), session.append(close), session.append([close])]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await expect(session.append([close, open])).rejects.toMatchObject({ code: "CALL_CLOSED" });
    expect((await session.callRecords()).length).toBe(1);
  });

  test("an operation that was in order when it was applied is answered again, and a new one is refused", async () => {
    const { session } = await opened();
    const close = { kind: "call-closed", callId: call, tool: "t", status: "success" } as const;
    await session.append({ kind: "call-opened", callId: call, tool: "t", args: {} });
    const once = await session.append(close, { operation: "end" });
    expect(await session.append(close, { operation: "end" })).toEqual({ ...once, repeated: true });
    await expect(session.append(close, { operation: "end again" })).rejects.toMatchObject({ code: "CALL_CLOSED" });
    expect(session.journal.head.seq).toBe(once.last);
  });

  test("nobody ends a call that is running, and the call still ends", async () => {
    let ending: Promise<unknown> | undefined;
    const meddling = defineTool({
      name: "meddling",
      description: "Lets somebody end it from outside.",
      access: "read",
      async run(_, handle) {
        ending = session.append({
          kind: "call-closed",
          callId: handle.id as never,
          tool: "meddling",
          status: "success",
        });
        await ending.catch(() => {});
        return "done";
      },
    });
    const { session } = await opened(new MemoryDisk(), { ...OPTIONS, tools: [...(OPTIONS.tools ?? []), meddling] });
    const outcome = await session.runTool({ name: "meddling", input: {} });
    expect(outcome.status).toBe("success");
    await expect(ending).rejects.toMatchObject({ code: "RECORD_RESERVED" });
    await run(session, "a");
    expect((await session.callRecords()).length).toBe(2);
  });
});

const answer = (items: Json): RecordDraft => ({ kind: "model-said", items });
const item = (one: Json): RecordDraft => answer({ originals: [], items: [one] });
const used = (usage: Json): RecordDraft => ({ kind: "model-said", text: "ok", usage });
const view = (levels: Json): RecordDraft => ({ kind: "view-chosen", levels, renderer: "mine" });
const cut = (left: Json): RecordDraft => ({ kind: "boundary-crossed", boundary: "compaction", cut: left });
const placed = { from: 0, after: null, last: null, runs: [], turn: 0 };

/** Records that fit their kind and that no turn could read, each with the place of what is wrong. */
const UNREADABLE: readonly (readonly [RecordDraft, string])[] = [
  [answer(null), "items"],
  [answer([]), "items"],
  [answer({ items: [] }), "items.originals"],
  [answer({ originals: [{ format: "mine", message: {} }], items: [] }), "items.originals[0].format"],
  [item(null), "items.items[0]"],
  [item({ kind: "nonsense" }), "items.items[0].kind"],
  [item({ kind: "constructor" }), "items.items[0].kind"],
  [item({ kind: "assistant", parts: "hello" }), "items.items[0].parts"],
  [item({ kind: "assistant", parts: [{ type: "image" }] }), "items.items[0].parts[0].media"],
  [item({ kind: "assistant", parts: [], from: null }), "items.items[0].from"],
  [item({ kind: "call", callKind: "function", name: 5 }), "items.items[0].name"],
  [used(null), "usage"],
  [used({ input: "many", output: 1 }), "usage.input"],
  [view(null), "levels"],
  [view({ ...placed, runs: [["low", 1]] }), "levels.runs[0]"],
];

describe("[JOURNAL-22] what no turn could read", () => {
  test.each(UNREADABLE)("%j is refused, and nothing is written", async (draft, place) => {
    const { session } = await opened();
    const { head } = session.journal;
    const fault = expect.stringContaining(`${place} must be`);
    const refusal = { code: "RECORD_MALFORMED", details: { kind: draft.kind, fault } };
    await expect(session.append([said("with it"), draft])).rejects.toMatchObject(refusal);
    expect(session.journal.head).toEqual(head);
  });

  test("what decides what requests show is the kernel's: a cut, and what a view notes beside its levels", async () => {
    const { session } = await opened();
    const { head } = session.journal;
    const own = { through: "000000001.0", stays: [], handle: "h", items: { originals: [], items: [] } };
    const reserved = { code: "RECORD_RESERVED" };
    await expect(session.append(cut(own))).rejects.toMatchObject({ ...reserved, details: { field: "cut" } });
    const levels = { ...placed, prepared: {} };
    await expect(session.append(view(levels))).rejects.toMatchObject({ ...reserved, details: { field: "prepared" } });
    expect(session.journal.head).toEqual(head);
  });

  test("what can be read is taken: an answer of a host's, a view, a boundary", async () => {
    const { session } = await opened();
    const asked: Item = {
      kind: "call",
      callKind: "function",
      callId: toolCallId("a"),
      name: "step",
      input: { n: "a" },
    };
    const spoken: Item = { kind: "assistant", parts: [{ type: "text", text: "hello" }] };
    await session.append([
      used({ input: 1, output: 2, cacheRead: 0 }),
      answer(keepItems([spoken, asked]) as unknown as Json),
      view(placed),
      { kind: "boundary-crossed", boundary: "reset" },
    ]);
    expect((await session.conversation()).map(({ kind }) => kind)).toEqual([
      "assistant",
      "assistant",
      "call",
      "output",
    ]);
  });

  test.each([...UNREADABLE.map(([draft]) => draft), cut(null), cut({ through: 5 })])(
    "%j that is in a journal already keeps nobody from going on",
    async (draft) => {
      const { disk, session } = await opened();
      await session.append(said("before"));
      await watch(session.run("go", { model: scripted([{ text: "ok", usage: { input: 50, output: 1 } }]) }));
      await appendReserved(session.journal, draft);
      await session.close();
      const { holdfast } = kernel(disk);
      const again = await holdfast.open("s");
      const { end } = await watch(again.run("and now", { model: scripted([{ text: "ok" }]) }));
      expect(end.status).toBe("done");
      expect(await again.compact({ tail: 0, said: 0 })).toMatchObject({ crossed: true });
      await again.close();
      const look = await holdfast.look("s");
      expect(await look.view()).toBeDefined();
      expect(Number.isFinite((await look.view())?.budget)).toBe(true);
    },
  );
});
