import { describe, expect, test } from "vitest";
import { ask, answer, call, output, say, sketch, system, think, user } from "../../test/histories/items.ts";
import { HoldfastError } from "../base/errors.ts";
import { type CallItem, type Item, type OutputItem, type UserItem, textOf, toolCallId } from "../wire/item.ts";
import { parseOutputStatus, OUTPUT_STATUSES, asStr } from "../wire/status.ts";
import { ensureCallOutputsPresent, normalize, removeOrphanOutputs, validateHistoryInvariants } from "./normalize.ts";
import { frozenOutputs } from "./pending.ts";
import { repairHistory, validateHistory } from "./repair.ts";
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

describe("calls in flight", () => {
  const log = [user(), call("c1")];
  const inFlight = new Map([[toolCallId("c1"), { deadline: 1000 }]]);

  test("[N26] a running call is not missing; after its deadline it is, as a timeout", () => {
    expect(validateHistory(log, { inFlight, now: 999 }).isValid()).toBe(true);
    expect(validateHistory(log, { inFlight, now: 999 }).inFlight).toMatchObject([{ callId: "c1", waitsFor: "tool" }]);
    expect(repairHistory(log, { inFlight, now: 999 }).history).toBe(log);
    const late = repairHistory(log, { inFlight, now: 1000 });
    expect(late.report.missingOutputs).toHaveLength(1);
    expect(late.history[2]).toMatchObject({ status: "timeout", reason: "deadline" });
  });

  test("[PAIR-9] a synthetic output that was sent stays; the late result is told once, where it arrived", () => {
    const sent = repairHistory([...log, user("go on")]);
    const grown = [...log, user("go on"), ...frozenOutputs(sent), say("ok"), output("c1"), user()];
    const { history } = repairHistory(grown);
    expect(JSON.stringify(sketch(history.slice(0, 4)))).toBe(JSON.stringify(sketch(sent.history)));
    expect(textOf((history[2] as OutputItem).parts)).toBe(textOf((sent.history[2] as OutputItem).parts));
    expect(sketch(history)).toEqual(["user", "call c1", "syn c1", "user", "assistant", "note late-result", "user"]);
    expect(textOf((history[5] as UserItem).parts)).toContain("result of c1");
    expect(frozenOutputs(repairHistory(grown))).toEqual([]);
  });

  test("[PAIR-9] a late result among another answer's outputs waits until they are over", () => {
    const stopgap = frozenOutputs(repairHistory(log));
    const grown = [...log, ...stopgap, user(), call("c2"), call("c3"), output("c2"), output("c1"), output("c3"), say()];
    expect(sketch(repairHistory(grown).history).slice(4)).toEqual([
      "call c2",
      "call c3",
      "output c2",
      "output c3",
      "note late-result",
      "assistant",
    ]);
  });
});

describe("partial calls and bonds", () => {
  test("[PAIR-4] a call cut mid-stream is removed, never answered", () => {
    const cut = call("c1", { inputText: '{"path": "a.t' });
    const { history, repairs } = repairHistory([user(), say(), cut, user()]);
    expect(sketch(history)).toEqual(["user", "assistant", "user"]);
    expect(repairs).toMatchObject([{ action: "left-out", fault: { kind: "partial-call" } }]);
    expect(repaired([user(), call("c2", { partial: true }), output("c2", { synthetic: true })])).toEqual(["user"]);
  });

  test("[PAIR-4] a call with broken arguments that was really answered stays", () => {
    const log = [call("c1", { inputText: '{"path": "a.t' }), output("c1", { status: "failed" })];
    expect(repairHistory(log).history).toBe(log);
    const flagged = [call("c1", { partial: true }), output("c1", { synthetic: true }), output("c1")];
    expect(repaired(flagged)).toEqual(["call c1", "output c1"]);
  });

  test("[PAIR-10] reasoning that nothing follows is removed, also when its call was", () => {
    expect(repaired([user(), think()])).toEqual(["user"]);
    expect(repaired([user(), think(), user(), say()])).toEqual(["user", "user", "assistant"]);
    expect(repaired([user(), think(), call("c1", { partial: true })])).toEqual(["user"]);
    expect(repaired([user(), think(), say(), call("c1", { partial: true })])).toEqual([
      "user",
      "reasoning",
      "assistant",
    ]);
    expect(repaired([think(), call("A"), think(), call("B", { partial: true }), output("A")])).toEqual([
      "reasoning",
      "call A",
      "output A",
    ]);
  });

  test("[PAIR-10] reasoning that lost its seal is removed", () => {
    expect(repaired([think("x", { signature: "" }), say()])).toEqual(["assistant"]);
  });

  test("[PAIR-10] an item whose reasoning is gone is sent without the id it was known by", () => {
    const { history, repairs } = repairHistory([call("c1", { id: "fc_1", reasoningId: "rs_1" }), output("c1")]);
    expect(history[0]).not.toHaveProperty("id");
    expect(repairs).toMatchObject([{ action: "detached", fault: { bond: "reasoning" } }]);
    const bonded = [think("x", { id: "rs_1" }), call("c1", { id: "fc_1", reasoningId: "rs_1" }), output("c1")];
    expect(repairHistory(bonded).history).toBe(bonded);
  });

  test("[PAIR-11] an approval that was given at the end is open; one that nobody gave is closed with its call", () => {
    const given = [user(), call("c1"), ask("a1", "c1"), answer("a1")];
    expect(repairHistory(given).history).toBe(given);
    expect(validateHistory(given).inFlight).toMatchObject([{ callId: "c1", waitsFor: "approval" }]);
    const left = repairHistory([user(), call("c1"), ask("a1", "c1"), user()]);
    expect(sketch(left.history)).toEqual(["user", "call c1", "syn c1", "user"]);
    expect(left.history[2]).toMatchObject({ reason: "approval-unanswered" });
    expect(repaired([user(), answer("a9")])).toEqual(["user"]);
  });

  test("[PAIR-15] a pair whose tool is gone becomes a note that keeps its result", () => {
    const log = [user(), think(), call("c1"), call("c2", { name: "old_tool" }), output("c2"), output("c1"), say()];
    const tools = new Set(["read_file"]);
    const { history, repairs } = repairHistory(log, { tools });
    expect(sketch(history)).toEqual(["user", "reasoning", "call c1", "output c1", "note tool-gone", "assistant"]);
    expect(textOf((history[4] as UserItem).parts)).toContain("result of c2");
    expect(repairs).toMatchObject([{ action: "noted", fault: { kind: "unknown-tool", toolName: "old_tool" } }]);
    expect(sketch(repairHistory([call("c2", { name: "old_tool" })], { tools }).history)).toEqual(["note tool-gone"]);
    const early = [output("c2"), call("c2", { name: "old_tool" })];
    const kept = repairHistory(early, { tools }).history;
    expect(sketch(kept)).toEqual(["note tool-gone"]);
    expect(textOf((kept[0] as UserItem).parts)).toContain("result of c2");
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

  test("[PAIR-2] severity is the profile's, decisions are not", () => {
    const log = [call("c1"), user(), output("c1")];
    expect(validateHistory(log, { profile: "openai-responses" }).faults).toMatchObject([{ severity: "warning" }]);
    expect(validateHistory(log, { profile: "anthropic" }).faults).toMatchObject([{ severity: "error" }]);
    expect(repairHistory(log, { profile: "openai-responses" }).history).toEqual(
      repairHistory(log, { profile: "anthropic" }).history,
    );
  });
});
