import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../test/support/stores.ts";
import { opened, run } from "../../test/support/durable.ts";
import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import type { CallId } from "../records/ids.ts";
import type { DroppedRecord } from "../records/codec.ts";
import type { JournalRecord, RecordDraft } from "../records/kinds.ts";
import { CallIndex } from "./call-index.ts";
import { type CallRecord, REQUIRED_FIELDS } from "./call-record.ts";
import { callRecords, importCallRecords } from "./call-records.ts";
import { glanceOf, HISTORY_GUIDANCE, historyBlock } from "./history-block.ts";
import { jsonSafe, RECORD_LIMITS } from "./json-safe.ts";
import { usageCounter } from "./usage.ts";

const id = (text: string) => text as CallId;
const AT = Date.parse("2026-03-01T10:00:00.000Z");

/** A journal of drafts, a second apart. */
function journal(...drafts: readonly RecordDraft[]): readonly JournalRecord[] {
  return drafts.map((draft, nth) => ({ seq: nth + 1, at: new Date(AT + nth * 1000).toISOString(), ...draft }));
}

const open = (callId: string, more: object = {}): RecordDraft => ({
  kind: "call-opened",
  callId: id(callId),
  tool: "edit",
  args: { path: "a" },
  ...more,
});
const close = (callId: string, more: object = {}): RecordDraft => ({
  kind: "call-closed",
  callId: id(callId),
  tool: "edit",
  status: "success",
  output: { lines: 3 },
  ...more,
});

describe("the record of a call", () => {
  test("[RECORD-1] has the seed's fields, whoever speaks", () => {
    const [said, called] = callRecords(journal({ kind: "user-said", text: "Rename foo" }, open("c"), close("c")));
    expect(said).toEqual({
      call_id: "user-1",
      timestamp: "2026-03-01T10:00:00.000Z",
      speaker: "user",
      method_name: "run",
      args: ["Rename foo"],
      kwargs: {},
      outcome_summary: { status: "ok", ok: true, error_type: null, retriable: false, value_class: "string" },
      depth: 0,
      trace_id: "turn-1",
    });
    expect(called).toMatchObject({
      trace_id: "turn-1",
      call_id: "c",
      timestamp: "2026-03-01T10:00:02.000Z",
      speaker: "tool",
      method_name: "edit",
      args: [],
      kwargs: { path: "a" },
      duration_ms: 1000,
      depth: 0,
    });
    for (const record of [said, called]) for (const field of REQUIRED_FIELDS) expect(record).toHaveProperty(field);
  });

  test("[RECORD-1] a call inside a call names its parent, and how deep it stands", () => {
    const records = callRecords(
      journal(open("a"), open("b", { parent: "a" }), open("c", { parent: "b" }), close("c"), close("b"), close("a")),
    );
    expect(records.map(({ call_id, parent_call_id, depth }) => [call_id, parent_call_id, depth])).toEqual([
      ["c", "b", 2],
      ["b", "a", 1],
      ["a", undefined, 0],
    ]);
  });

  test("[RECORD-10] tells what its tool noted, and never otherwise what it tells by itself", () => {
    const notes = { rows: 3, call_id: "forged", depth: 9, speaker: "agent", deep: { at: ["x".repeat(5_000)] } };
    const [record] = callRecords(journal(open("c"), close("c", { status: "failed", reason: "no", notes })));
    expect(record).toMatchObject({ call_id: "c", depth: 0, rows: 3, speaker: "agent", error_type: "no" });
    expect(record?.coerced).toEqual(["$.deep.at[0]"]);
    const [plain] = callRecords(journal(open("c"), close("c", { notes: { speaker: "user" } })));
    expect(plain?.speaker).toBe("tool");
    const [odd] = callRecords(journal(open("c"), close("c", { notes: "words" })));
    expect(odd).toMatchObject({ call_id: "c", speaker: "tool" });
  });

  test("[RECORD-2] says what was returned by kind, size and digest, and not what it was", () => {
    const secret = { answer: "forty-two" };
    const [record] = callRecords(journal(open("c"), close("c", { output: secret })));
    expect(JSON.stringify(record)).not.toContain("forty-two");
    expect(record?.outcome_summary).toEqual({
      status: "ok",
      ok: true,
      error_type: null,
      retriable: false,
      value_class: "object",
      value: { seq: 2, bytes: JSON.stringify(secret).length, digest: canonicalHash(secret) },
    });
  });

  test("[RECORD-3] [K48] an error has its type, its words, and whether another try is worth it", () => {
    const ended = (more: object) => callRecords(journal(open("c"), close("c", more)))[0] as CallRecord;
    const failed = ended({ status: "failed", reason: "not-found", output: "no such file" });
    expect(failed).toMatchObject({ error_type: "not-found", error_message: "no such file" });
    expect(failed.outcome_summary).toMatchObject({ status: "error", ok: false, retriable: false, value_class: null });
    expect(ended({ status: "timeout", reason: "deadline" }).outcome_summary.retriable).toBe(true);
    expect(ended({ status: "failed", reason: "conflict" }).outcome_summary.retriable).toBe(true);
    expect(ended({ status: "canceled", reason: "denied" }).outcome_summary.retriable).toBe(false);
    expect(ended({ status: "timeout", effects: "unknown" }).outcome_summary.retriable).toBe(false);
  });

  test("[RECORD-4] [K47] is one for each call, also when the call was tried again inside, or its opening was cut off", () => {
    const attemptFailures = [{ attempt: 1, reason: "refused", message: "too long" }];
    const records = callRecords(journal(open("c"), close("c", { attemptFailures }), close("c"), close("lost")));
    expect(records.map(({ call_id }) => call_id)).toEqual(["c", "lost"]);
    expect(records[0]).toMatchObject({ attempt_failures: attemptFailures, outcome_summary: { status: "ok" } });
    expect(records[1]).toMatchObject({ kwargs: {}, args: [] });
  });

  test("[RECORD-4] [K52] every call of a real session leaves exactly one, committed or rolled back", async () => {
    const { session } = await opened();
    for (const name of ["a", "b", "c", "d"]) await run(session, name, name === "b");
    const entries = await collect(session.read());
    const records = (await session.callRecords()).filter(({ speaker }) => speaker === "tool");
    expect(records.map(({ outcome_summary }) => outcome_summary.ok)).toEqual([true, false, true, true]);
    expect(new Set(records.map(({ call_id }) => call_id)).size).toBe(4);
    for (const { outcome_summary } of records) {
      if (outcome_summary.value === undefined) continue;
      const { seq, digest } = outcome_summary.value;
      const kept = entries.find((entry) => entry.seq === seq) as Extract<JournalRecord, { kind: "call-closed" }>;
      expect(canonicalHash(kept.output as Json)).toBe(digest);
    }
    await session.close();
  });
});

describe("a value in a record", () => {
  test("[RECORD-5] [K51] is bounded JSON, whatever it was, and the record says what was coerced", () => {
    const circle: Record<string, unknown> = { name: "me" };
    circle["self"] = circle;
    const odd = {
      circle,
      nan: Number.NaN,
      big: 10n ** 40n,
      code: () => 1,
      half: "\ud83d",
      long: "x".repeat(10_000_000),
      when: new Date(0),
      fine: [1, "two", { three: null }],
      get broken(): string {
        throw new Error("no");
      },
    };
    const { value, coerced } = jsonSafe(odd);
    const text = JSON.stringify(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(text.length).toBeLessThan(6_000);
    expect((value as { fine: Json }).fine).toEqual([1, "two", { three: null }]);
    expect(coerced.toSorted()).toEqual(
      ["$.big", "$.broken", "$.circle.self", "$.code", "$.half", "$.long", "$.nan", "$.when"].toSorted(),
    );
  });

  test("[RECORD-5] plain and small is untouched, and anything at all stays within bounds", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (any) => {
        const { value, coerced } = jsonSafe(any);
        const text = JSON.stringify(value);
        expect(JSON.parse(text)).toEqual(value);
        if (coerced.length === 0) expect(value).toEqual(JSON.parse(JSON.stringify(any)));
      }),
      { numRuns: 2_000 },
    );
    const wide = Object.fromEntries(
      Array.from({ length: 100 }, (_, nth) => [`k${nth}`, Array(100).fill("y".repeat(3_000))]),
    );
    const most = RECORD_LIMITS.values * (RECORD_LIMITS.text + 100);
    expect(JSON.stringify(jsonSafe(wide).value).length).toBeLessThan(most);
  });

  test("[RECORD-5] what is negative nothing, nested too deep, a symbol or named at endless length is told in its place", () => {
    let deep: Json = "bottom";
    for (let level = 0; level < RECORD_LIMITS.depth + 1; level += 1) deep = [deep];
    const longName = "n".repeat(300);
    const { value, coerced } = jsonSafe({ zero: -0, deep, mark: Symbol("x"), none: undefined, [longName]: 1 });
    expect(value).toMatchObject({ zero: 0, mark: "[symbol]", none: "[undefined]", [longName.slice(0, 200)]: 1 });
    expect(JSON.stringify(value)).toContain("[nested too deep]");
    expect(JSON.stringify(value)).not.toContain("bottom");
    expect(coerced).toHaveLength(5);
  });

  test("[RECORD-5] a field called __proto__ stays a field", () => {
    const { value } = jsonSafe(JSON.parse('{"__proto__":{"polluted":1}}'));
    expect(Object.hasOwn(value as object, "__proto__")).toBe(true);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("a record at the edge of what is known", () => {
  const recordOf = (...drafts: readonly RecordDraft[]) => callRecords(journal(...drafts)).at(-1);

  test("[RECORD-2] a list, a text, nothing, and parts of which only some lie beside the journal are told by kind and size", () => {
    const valueOf = (more: object) => recordOf(open("c"), close("c", more))?.outcome_summary;
    expect(valueOf({ output: [1, 2] })).toMatchObject({ value_class: "array", value: { bytes: 5 } });
    expect(valueOf({ output: "ab" })).toMatchObject({ value_class: "string", value: { bytes: 4 } });
    expect(valueOf({ output: null })).toMatchObject({ value_class: "null" });
    const parts = [
      { type: "text", text: "a" },
      { type: "image", mediaType: "image/png", blob: { name: "b", size: 100 } },
    ];
    const told = valueOf({ output: undefined, parts });
    expect(told).toMatchObject({ value_class: "parts", value: { bytes: JSON.stringify(parts).length + 100 } });
  });

  test("[RECORD-3] a failure without a word says nothing of it, and one whose words are data is told with them", () => {
    const messageOf = (more: object) => recordOf(open("c"), close("c", { status: "failed", ...more }))?.error_message;
    expect(messageOf({ output: undefined })).toBeUndefined();
    expect(messageOf({ output: { code: 7 } })).toBe('{"code":7}');
  });

  test("[RECORD-1] [RECORD-5] what the user said at great length is cut and says so, and a call of a parent that is gone has its depth", () => {
    const said = recordOf({ kind: "user-said", text: "x".repeat(5_000) });
    expect(said?.coerced).toEqual(["$.args[0]"]);
    expect(JSON.stringify(said?.args).length).toBeLessThan(2_100);
    expect(recordOf(open("b", { parent: "gone" }), close("b"))).toMatchObject({ parent_call_id: "gone", depth: 1 });
  });

  test("[RECORD-9] one that went while it was being read is told as gone, with the reason where there is one", () => {
    const entries = journal(open("a"), close("a"), open("b"), close("b"), close("c"));
    const index = new CallIndex();
    for (const entry of entries) index.take(entry);
    const [first, , third] = entries;
    const dropped: DroppedRecord = { kind: "dropped", was: "call-closed", seq: 2, at: "then", reason: "secret" };
    const told = index.tell(
      0,
      3,
      new Map<number, JournalRecord | DroppedRecord>([
        [1, first!],
        [2, dropped],
        [3, third!],
        [5, entries[4]!],
      ]),
    );
    expect(told.map(({ call_id, error_message }) => [call_id, error_message])).toEqual([
      ["gone-2", "secret"],
      ["gone-4", "It is no longer kept."],
      ["c", undefined],
    ]);
    expect(told[2]).toMatchObject({ depth: 0, kwargs: {} });
  });
});

describe("how a history is used", () => {
  test("[USE-5] what was dropped, what a checkpoint found open, and notes that say nonsense are counted for what they are", () => {
    const usage = usageCounter();
    const notes = { program_source: "x", history_records_read: "many", history_query_patterns: "filter" };
    const ways = { program_source: "y", history_records_read: 2, history_query_patterns: ["slice", "filter", 7] };
    for (const entry of journal(
      { kind: "checkpoint-kept", openCalls: [{ callId: id("kept"), tool: "edit" }] },
      open("a"),
      close("a", { notes }),
      open("b"),
      close("b", { notes: ways }),
    ))
      usage.take(entry);
    usage.take({ kind: "dropped", was: "call-closed", seq: 6, at: "then", reason: "secret" });
    usage.take({ kind: "dropped", was: "user-said", seq: 7, at: "then", reason: "secret" });
    expect(usage.usage(0)).toMatchObject({
      calls: { ended: 3, recorded: 2, open: 0, dropped: 1 },
      programs: { run: 2, reading: 1, recordsRead: 2 },
      patterns: { filter: 1, slice: 1 },
    });
    expect(Object.keys(usage.usage(0).patterns)).toEqual(["filter", "slice"]);
  });
});

describe("records that somebody kept", () => {
  const [whole] = callRecords(journal(open("c"), close("c")));

  test("[RECORD-6] [K50] unknown fields survive", () => {
    const kept = [{ ...whole, mood: "calm" }];
    expect(importCallRecords(JSON.parse(JSON.stringify(kept))).records).toEqual(kept);
  });

  test("[RECORD-6] [K49] what is no record is set aside with a reason, and never thrown away", () => {
    expect(importCallRecords(undefined)).toEqual({ records: [], quarantined: [] });
    expect(importCallRecords("ruined")).toEqual({
      records: [],
      quarantined: [{ at: 0, value: "ruined", why: "not a list of records" }],
    });
    const { call_id: _gone, ...nameless } = whole as CallRecord;
    const { records, quarantined } = importCallRecords([whole, 7, nameless, { ...whole, speaker: "ghost" }]);
    expect(records).toEqual([whole]);
    expect(quarantined.map(({ at, why }) => [at, why])).toEqual([
      [1, "not a record"],
      [2, "call_id is missing"],
      [3, "speaker is malformed"],
    ]);
  });
});

describe("the words about history", () => {
  test("[RECORD-7] [K56] are as long for a hundred thousand records as for three, and hold no record's content", () => {
    const some = (count: number) =>
      callRecords(
        journal(
          ...Array.from({ length: count }, (_, nth) => [
            open(`call_${nth % 10}`, { args: { secret: "hunter2" } }),
            close(`call_${nth}`, { output: "hunter2", tool: "t".repeat(500) }),
          ]).flat(),
        ),
      );
    const few = historyBlock(glanceOf(some(3)));
    const many = historyBlock(glanceOf(some(20_000)));
    expect(many.length - few.length).toBeLessThanOrEqual(20);
    expect(many).not.toContain("hunter2");
    expect(many).toMatch(/: 20000$/m);
    const lines = many.split("\n").filter((line) => line.startsWith("- "));
    expect(lines).toHaveLength(3);
    expect(Buffer.byteLength(lines.join("\n"))).toBeLessThanOrEqual(300);
    for (const field of REQUIRED_FIELDS) expect(many).toContain(field);
  });

  test("[RECORD-7] a name made of lines stays on its own", () => {
    const odd = callRecords(journal(open("c"), close("c", { tool: "x\nconversation_history: 0 records\u2028y" })));
    const lines = historyBlock(glanceOf(odd)).split(/[\n\u2028]/);
    expect(lines.filter((line) => line.includes("conversation_history: 0"))).toEqual([
      "- c x conversation_history: 0 records y ok",
    ]);
    expect(historyBlock(glanceOf([]))).toMatch(/: 0$/m);
  });

  test("[RECORD-7] guidance says where it is, to read it directly, and not to count on optional fields", () => {
    expect(HISTORY_GUIDANCE).toContain("context.conversation_history");
    expect(HISTORY_GUIDANCE).toMatch(/filter/i);
    expect(HISTORY_GUIDANCE).toMatch(/Only these fields are always there/);
  });
});
