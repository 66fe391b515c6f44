import { describe, expect, test } from "vitest";
import { call, output, say, sketch, system, think, user } from "../../test/histories/items.ts";
import { HoldfastError } from "../base/errors.ts";
import { type CallItem, type Item, type OutputItem, textOf } from "../wire/item.ts";
import { parseOutputStatus, OUTPUT_STATUSES, asStr } from "../wire/status.ts";
import { ensureCallOutputsPresent, normalize, removeOrphanOutputs, validateHistoryInvariants } from "./normalize.ts";
import { repairHistory, validateHistory } from "./repair.ts";
import { HistoryIndex } from "./history-index.ts";
import { HistoryValidationReport } from "./report.ts";

const repaired = (items: readonly Item[]) => sketch(repairHistory(items).history);
const kinds = (items: readonly Item[]) => validateHistory(items).faults.map((fault) => fault.kind);
const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};
const anonymous = (item: CallItem): CallItem => {
  const { callId: _callId, ...rest } = item;
  return rest;
};

test.each([
  [
    [user(), { role: "user", content: "hi" }],
    { at: 1, why: "no item of Holdfast's; a provider's messages are for repairMessages" },
  ],
  [[null], { at: 0, why: "no item of Holdfast's; a provider's messages are for repairMessages" }],
  [[{ kind: "message" }], { at: 0, why: "no item of Holdfast's; a provider's messages are for repairMessages" }],
  ["a text", { why: "not an array" }],
  [undefined, { why: "not an array" }],
])("[PAIR-34] %j is refused by its place, whoever is asked", (given, told) => {
  const refused = expect.objectContaining({
    code: "MESSAGES_UNREADABLE",
    details: { format: "Holdfast's items", ...told },
  });
  for (const asked of [normalize, validateHistory, repairHistory, ensureCallOutputsPresent])
    expect(() => asked(given as never)).toThrow(refused);
});

describe("calls without an id", () => {
  test("[N19] are never given the id that another call has, also when that one was given it by an earlier repair", () => {
    const bare = anonymous(call("x"));
    const once = repairHistory([user(), bare, user()]).history;
    const given = (once[1] as CallItem).callId;
    for (const log of [
      [...once, bare, user()],
      [user(), bare, ...once.slice(1)],
    ]) {
      const { history } = repairHistory(log);
      const ids = history.flatMap((item) => (item.kind === "call" ? [item.callId] : []));
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(2);
      expect(ids).toContain(given);
      expect(validateHistory(history).isValid()).toBe(true);
    }
  });
});

describe("calls without an output", () => {
  test("[N01] a function call gets one synthetic output right after it, canceled, and the log stays as it was", () => {
    const log = [user(), call("c1")];
    const before = JSON.stringify(log);
    const { history, repairs } = repairHistory(log);
    expect(sketch(history)).toEqual(["user", "call c1", "syn c1"]);
    const made = history[2] as OutputItem;
    expect(made).toMatchObject({ status: "canceled", reason: "interrupted", synthetic: true });
    expect(textOf(made.parts)).toBe(
      "Tool execution was interrupted. Output was not received. Its effects may have happened.",
    );
    expect(Object.isFrozen(made)).toBe(true);
    expect(JSON.stringify(log)).toBe(before);
    expect(repairs).toMatchObject([{ action: "answered", fault: { kind: "missing-output", callId: "c1" } }]);
  });

  test("[PAIR-12] a call that only reads leaves no doubt about its effects", () => {
    const made = repairHistory([call("c1", { effects: "none" })]).history[1] as OutputItem;
    expect(textOf(made.parts)).toBe("Tool execution was interrupted. Output was not received.");
  });

  test("[N02] a custom call gets an output of the custom kind under the same id", () => {
    const made = repairHistory([call("t1", { callKind: "custom" })]).history[1];
    expect(made).toMatchObject({ kind: "output", callKind: "custom", callId: "t1", synthetic: true });
  });

  test("[N03] a local shell call with an id gets an output of the function kind", () => {
    const made = repairHistory([call("s1", { callKind: "shell" })]).history[1];
    expect(made).toMatchObject({ kind: "output", callKind: "function", callId: "s1", synthetic: true });
  });

  test("[N04] a local shell call without an id is untouched and listed as unpairable", () => {
    const log = [user(), anonymous(call("x", { callKind: "shell" })), user()];
    const { history, report } = repairHistory(log);
    expect(history).toBe(log);
    expect(report.isValid()).toBe(true);
    expect(report.unpairable).toEqual([1]);
  });

  test("[N05] a client tool search gets an empty output without words", () => {
    const made = repairHistory([call("q1", { callKind: "search" })]).history[1];
    expect(made).toMatchObject({ kind: "output", callKind: "search", parts: [] });
  });

  test("[N15] the synthetic output stands between the call and the user's next message", () => {
    const log = [user("1"), call("c1"), user("2"), say("3")];
    const { history } = repairHistory(log);
    expect(sketch(history)).toEqual(["user", "call c1", "syn c1", "user", "assistant"]);
    expect(history.filter((item) => log.includes(item as never))).toEqual(log);
  });

  test("[N16] of a parallel batch only the missing half is added, in call order, every time", () => {
    const log = [user(), call("A"), call("B"), output("B")];
    const first = JSON.stringify(repairHistory(log).history);
    for (let run = 0; run < 1000; run += 1) expect(JSON.stringify(repairHistory(log).history)).toBe(first);
    expect(repaired(log)).toEqual(["user", "call A", "call B", "syn A", "output B"]);
  });

  test("[N17] three unanswered parallel calls get three outputs in call order", () => {
    expect(repaired([call("A"), call("B"), call("C")])).toEqual([
      "call A",
      "call B",
      "call C",
      "syn A",
      "syn B",
      "syn C",
    ]);
  });

  test("[N28] the report names the tool, the place and the kind", () => {
    const [fault] = validateHistory([user(), call("c1", { callKind: "custom", name: "read_file" })]).missingOutputs;
    expect(fault).toEqual({ callId: "c1", toolName: "read_file", at: 1, callKind: "custom" });
  });

  test("[PAIR-13] a late batch member is placed among outputs that finished out of order without moving them", () => {
    const log = [call("A"), call("B"), call("C"), output("C"), output("A")];
    expect(repaired(log)).toEqual(["call A", "call B", "call C", "syn B", "output C", "output A"]);
  });
});

describe("outputs without a call", () => {
  test("[N06] a function output whose id has no call is left out and reported", () => {
    const { history, report } = repairHistory([user(), output("c9"), user()]);
    expect(sketch(history)).toEqual(["user", "user"]);
    expect(report.orphanOutputs).toEqual(["c9"]);
  });

  test("[N07] so is a custom output", () => {
    expect(repaired([output("t9", { callKind: "custom" })])).toEqual([]);
  });

  test("[N08] a search output without a call goes when the client ran it and stays when the server did", () => {
    const client = output("q1", { callKind: "search" });
    const server = output("q2", { callKind: "search", server: true });
    expect(repairHistory([client, server]).history).toEqual([server]);
  });

  test("[N09] a named external output without a call id stands alone", () => {
    const { callId: _callId, ...event } = output("x", { name: "deploy_finished" });
    const log = [user(), event];
    expect(repairHistory(log).history).toBe(log);
  });

  test("[N10] one missing of each kind and one orphan", () => {
    const log = [call("c1"), output("c2"), call("t1", { callKind: "custom" }), call("s1", { callKind: "shell" })];
    expect(repaired(log)).toEqual(["call c1", "syn c1", "call t1", "syn t1", "call s1", "syn s1"]);
  });

  test("[N11] an id of one kind answers no other kind", () => {
    const report = validateHistory([call("x"), output("x", { callKind: "custom" })]);
    expect(report.faults).toMatchObject([
      { kind: "missing-output", callKind: "function", callId: "x" },
      { kind: "orphan-output", callKind: "custom", callId: "x" },
    ]);
  });

  test("[PAIR-14] a provider's own result without its call is an orphan; one that came an answer later is not", () => {
    const server = { server: true } as const;
    expect(repaired([say(), output("s1", server)])).toEqual(["assistant"]);
    const late = [
      call("s1", { ...server, step: 1 }),
      user(),
      say("x", { step: 2 }),
      output("s1", { ...server, step: 2 }),
    ];
    expect(repairHistory(late).history).toBe(late);
  });
});

describe("whole histories", () => {
  const whole = [
    system(),
    user(),
    think(),
    say(),
    call("A"),
    call("B"),
    output("A"),
    output("B"),
    say("done"),
    user(),
    call("C"),
    output("C"),
  ];

  test("[N12] a fully paired history comes back as the same reference with an empty report", () => {
    const { history, report, repairs } = repairHistory(whole);
    expect(history).toBe(whole);
    expect(report.faults).toEqual([]);
    expect(repairs).toEqual([]);
  });

  test("[N13] a second pass changes nothing", () => {
    const once = repairHistory([user(), call("c1"), output("c2"), call("c1"), output("c1"), think()]).history;
    expect(repairHistory(once).history).toBe(once);
  });

  test("[N14] the synthetic id is derived from the call's item id, and absent when the call has none", () => {
    const made = (more: Partial<CallItem>) => repairHistory([call("c1", more)]).history[1] as OutputItem;
    expect(made({ id: "fc_1", at: "2026-01-01T00:00:00.000Z" })).toEqual(
      made({ id: "fc_1", at: "2026-01-01T00:00:00.000Z" }),
    );
    expect(made({ id: "fc_1" }).id).toMatch(/^syn_[0-9a-f]{32}$/);
    expect(made({ id: "fc_1" }).id).not.toBe(made({ id: "fc_2" }).id);
    expect(made({}).id).toBeUndefined();
    expect(made({ at: "2026-01-01T00:00:00.000Z" }).at).toBe("2026-01-01T00:00:00.000Z");
  });
});

describe("ids", () => {
  test("[N18] an id called again is a duplicate, and its second call is unanswered although the sets are equal", () => {
    const log = [call("k"), output("k"), user(), call("k"), user()];
    expect(validateHistory(log).faults).toMatchObject([
      { kind: "duplicate-call-id", at: 3 },
      { kind: "missing-output", at: 3, callId: "k" },
    ]);
  });

  test("[N19] with both answered the second pair is renamed together, and the mapping is kept", () => {
    const log = [call("k"), output("k"), user(), call("k"), output("k")];
    const { history, renamed } = repairHistory(log);
    const fresh = renamed.get(3);
    expect(fresh).toMatch(/^call_[0-9a-f]{24}$/);
    expect(sketch(history)).toEqual(["call k", "output k", "user", `call ${fresh}`, `output ${fresh}`]);
    expect(history.slice(0, 3)).toEqual(log.slice(0, 3));
    expect(repairHistory(history).history).toBe(history);
  });

  test("[N20] of two outputs for one call the first stays", () => {
    const log = [call("c1"), output("c1"), output("c1", { parts: [{ type: "text", text: "again" }] }), user()];
    const { history, report } = repairHistory(log);
    expect(history).toEqual([log[0], log[1], log[3]]);
    expect(report.faults).toMatchObject([{ kind: "duplicate-output", at: 2, related: 0 }]);
  });

  test("[PAIR-5] a real output beats a synthetic or interrupted one, wherever it stands", () => {
    const stopgap = output("c1", { synthetic: true, status: "canceled" });
    const cut = output("c1", { reason: "interrupted", status: "canceled" });
    const real = output("c1");
    expect(repairHistory([call("c1"), stopgap, real]).history).toEqual([call("c1"), real]);
    expect(repairHistory([call("c1"), cut, user(), real]).history).toEqual([call("c1"), real, user()]);
    expect(repairHistory([real, call("c1"), stopgap]).history).toEqual([call("c1"), real]);
    expect(repairHistory([call("c1"), real, stopgap]).history).toEqual([call("c1"), real]);
  });

  test("[N21] an output before its call is reported, and stands after it once repaired", () => {
    const log = [user(), output("c1"), call("c1"), user()];
    expect(kinds(log)).toEqual(["output-before-call"]);
    expect(repairHistory(log).history).toEqual([log[0], log[2], log[1], log[3]]);
  });

  test("[PAIR-6] an output of an earlier turn never answers a later call of the same id", () => {
    expect(repaired([output("k"), user(), call("k")])).toEqual(["user", "call k", "syn k"]);
  });

  test("[N22] of one valid and one orphan result only the orphan goes", () => {
    expect(repaired([call("c1"), output("c9"), output("c1")])).toEqual(["call c1", "output c1"]);
  });

  test("[N23] a call and an output with empty ids are both invalid and never a pair", () => {
    const log = [call(""), output("")];
    expect(validateHistory(log).faults).toMatchObject([
      { kind: "invalid-id", at: 0 },
      { kind: "missing-output", at: 0 },
      { kind: "invalid-id", at: 1 },
    ]);
    const { history } = repairHistory(log);
    expect(history).toHaveLength(2);
    expect(history[0]).toMatchObject({ kind: "call", callId: expect.stringMatching(/^call_/) });
    expect(history[1]).toMatchObject({ synthetic: true, callId: (history[0] as CallItem).callId });
  });

  test("[N24] a result behind a user message is moved next to its call, not replaced", () => {
    const log = [call("c1"), user(), output("c1")];
    const { history, repairs } = repairHistory(log);
    expect(history).toEqual([log[0], log[2], log[1]]);
    expect(repairs).toMatchObject([{ action: "moved", fault: { kind: "displaced-output", at: 2, related: 0 } }]);
  });

  test("[PAIR-7] parallel results split by assistant text come together again", () => {
    const log = [call("A"), call("B"), output("A"), say(), output("B")];
    expect(repaired(log)).toEqual(["call A", "call B", "output A", "output B", "assistant"]);
  });

  test("[PAIR-8] a result that names another tool is given its call's name", () => {
    const { history, repairs } = repairHistory([call("c1"), output("c1", { name: "write_file" })]);
    expect(history[1]).toMatchObject({ name: "read_file", status: "success" });
    expect(repairs).toMatchObject([{ action: "corrected" }]);
  });
});

describe("the index", () => {
  test("[PAIR-20] a log that shrank, or changed at its known end, is read again", () => {
    const index = new HistoryIndex();
    const log: Item[] = [user(), call("c1"), output("c1"), call("c2")];
    expect(repairHistory(log, { index }).report.summary()).toContain("1 missing");
    log.length = 3;
    expect(repairHistory(log, { index }).history).toBe(log);
    expect(index.size).toBe(3);
    log[2] = say("another end");
    expect(repairHistory(log, { index }).report.summary()).toContain("1 missing");
  });

  test("[PAIR-33] what repair makes is made once, however often the log is repaired as it grows", () => {
    const index = new HistoryIndex();
    const turn = [user(), call("c1"), output("c1", { name: "write_file" })];
    // Renamed and corrected, left unanswered, and one whose tool is gone.
    const log: Item[] = [
      ...turn,
      ...turn,
      call("c2"),
      user(),
      call("c3", { name: "gone" }),
      output("c3", { name: "gone" }),
    ];
    const repaired = () => repairHistory(log, { index, tools: new Set(["read_file"]) }).history;
    const before = repaired();
    expect(before.filter((item) => !log.includes(item)).length).toBeGreaterThan(4);
    log.push(user(), say("more"));
    expect(
      repaired()
        .slice(0, before.length)
        .every((item, at) => item === before[at]),
    ).toBe(true);
  });

  test("[PAIR-33] another id, and another name, is another item", () => {
    const index = new HistoryIndex();
    const log: Item[] = [call("c1"), output("c1"), user(), call("c1"), output("c1", { name: "write_file" })];
    const [renamed] = repairHistory(log, { index }).renamed.values();
    const taken: Item[] = [...log, user(), call(String(renamed)), output(String(renamed))];
    const { history } = repairHistory(taken, { index });
    expect(history).toEqual(repairHistory(taken).history);
    expect(history[3]).not.toEqual(repairHistory(log).history[3]);
  });

  test("[PAIR-33] a call that a host lists twice, once with an output, leaves the same notes each time", () => {
    const index = new HistoryIndex();
    const twice = call("c1", { name: "gone" });
    const log: Item[] = [user(), twice, user(), twice, output("c1", { name: "gone" })];
    const repaired = () => repairHistory(log, { index, tools: new Set(["read_file"]) }).history;
    const before = repaired();
    expect(before.filter((item) => !log.includes(item))).toHaveLength(2);
    expect(repaired().every((item, at) => item === before[at])).toBe(true);
  });

  test("[PAIR-20] other tools on offer are a new question", () => {
    const index = new HistoryIndex();
    const log = [user(), call("c1"), output("c1")];
    expect(repairHistory(log, { index }).report.isValid()).toBe(true);
    expect(repairHistory(log, { index, tools: new Set(["grep"]) }).report.count("unknown-tool")).toBe(1);
  });
});

describe("modes, words and status", () => {
  const broken = [call("t1", { callKind: "custom" }), user(), output("c9")];

  test("[N29] strict mode throws the full report; lenient mode repairs and warns", () => {
    const lines: string[] = [];
    const thrown = thrownBy(() => normalize(broken, { mode: "strict" }));
    expect(HoldfastError.is(thrown, "HISTORY_INVALID")).toBe(true);
    expect((thrown as HoldfastError).cause).toBeInstanceOf(HistoryValidationReport);
    expect(((thrown as HoldfastError).cause as HistoryValidationReport).faults).toHaveLength(2);
    const { items } = normalize(broken, { warn: (line) => lines.push(line) });
    expect(validateHistoryInvariants(items).isValid()).toBe(true);
    expect(lines).toEqual(["1 missing outputs, 1 orphan outputs"]);
  });

  test("[N34] [N35] the status word decides, not the text; an unknown word reads as failed and is kept", () => {
    for (const status of OUTPUT_STATUSES) expect(parseOutputStatus(asStr(status))).toEqual({ status });
    expect(parseOutputStatus("aborted")).toEqual({ status: "failed", original: "aborted" });
    const said = output("c1", { parts: [{ type: "text", text: "Tool execution was interrupted." }] });
    const log = [call("c1"), said, output("c1")];
    expect(repairHistory(log).history).toEqual([log[0], said]);
    const odd = [call("c1"), output("c1", { status: "failed", statusText: "aborted" })];
    expect(repairHistory(odd).history).toBe(odd);
    expect(validateHistory(odd).unknownStatuses).toEqual([1]);
  });

  test("[N36] the summary speaks in the seed's form", () => {
    expect(validateHistory([call("a"), call("b"), output("c")]).summary()).toBe("2 missing outputs, 1 orphan outputs");
    expect(validateHistory([]).summary()).toBe("History invariants are valid");
    expect(validateHistory([call("a"), output("a"), output("a")]).summary()).toBe(
      "0 missing outputs, 0 orphan outputs, 1 duplicate outputs",
    );
  });

  test("[PAIR-16] the seed's two half repairs do their half only", () => {
    expect(sketch(ensureCallOutputsPresent([call("a"), user(), output("z")]).history)).toEqual([
      "call a",
      "syn a",
      "user",
      "output z",
    ]);
    expect(sketch(removeOrphanOutputs([call("a"), user(), output("z")]).history)).toEqual(["call a", "user"]);
  });

  test("[PAIR-16] a call without an id is answered without one: ids are the other half's", () => {
    const { history } = ensureCallOutputsPresent([anonymous(call("a")), user()]);
    expect(sketch(history)).toEqual(["call ?", "syn ?", "user"]);
    expect(history[1]).not.toHaveProperty("callId");
    expect(history[1]).toMatchObject({ name: "read_file", status: "canceled", synthetic: true });
  });

  test("[PAIR-5] [PAIR-7] an answer of many calls pairs its outputs in whatever order, twins and nameless ones among them", () => {
    const many = Array.from({ length: 20 }, (_, nth) => call(`c${nth}`));
    const log = [
      user(),
      ...many,
      call("c3"),
      anonymous(call("x")),
      ...many.toReversed().map((one) => output(one.callId ?? "")),
    ];
    const twice = [...log, output("c3", { parts: [{ type: "text", text: "the twin's" }] }), output("c3")];
    const { history, repairs } = repairHistory(twice);
    expect(validateHistory(history).faults).toEqual([]);
    const results = history.filter((item): item is OutputItem => item.kind === "output");
    expect(results).toHaveLength(22);
    expect(results.filter(({ synthetic }) => synthetic)).toHaveLength(1);
    expect(repairs.map(({ fault: { kind }, action }) => `${kind} ${action}`).toSorted()).toEqual([
      "duplicate-call-id renamed",
      "duplicate-output left-out",
      "invalid-id renamed",
      "missing-output answered",
    ]);
  });

  test("[PAIR-2] severity is the profile's, decisions are not", () => {
    const log = [call("c1"), user(), output("c1")];
    expect(validateHistory(log, { profile: "openai-responses" }).faults).toMatchObject([{ severity: "warning" }]);
    expect(validateHistory(log, { profile: "anthropic" }).faults).toMatchObject([{ severity: "error" }]);
    expect(repairHistory(log, { profile: "openai-responses" }).history).toEqual(
      repairHistory(log, { profile: "anthropic" }).history,
    );
  });
});
