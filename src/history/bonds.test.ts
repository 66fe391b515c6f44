import { describe, expect, test } from "vitest";
import { answer, ask, call, output, say, sketch, think, user } from "../../test/histories/items.ts";
import { type Item, type OutputItem, type UserItem, textOf, toolCallId } from "../wire/item.ts";
import { frozenOutputs } from "./pending.ts";
import { repairHistory, validateHistory } from "./repair.ts";

const repaired = (items: readonly Item[]) => sketch(repairHistory(items).history);

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

  test.each([
    ["has no id", call("", { partial: true })],
    ["has no id and torn arguments", call("", { inputText: '{"path": "a.t' })],
  ])("[PAIR-3] [PAIR-4] a call cut mid-stream that %s is removed, too, and the next request is made", (_, cut) => {
    const { history, repairs } = repairHistory([user(), say(), cut, user()]);
    expect(sketch(history)).toEqual(["user", "assistant", "user"]);
    expect(repairs).toMatchObject([
      { action: "renamed", fault: { kind: "invalid-id" } },
      { action: "left-out", fault: { kind: "partial-call" } },
    ]);
    expect(validateHistory(history).faults).toEqual([]);
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

  test("[PAIR-15] where its answer had words the note stands before the next answer, and stays there", () => {
    const log = [user(), say(), call("c2", { name: "old_tool" }), output("c2")];
    const tools = new Set(["read_file"]);
    const before = sketch(repairHistory(log, { tools }).history);
    expect(before).toEqual(["user", "assistant", "note tool-gone"]);
    const after = sketch(repairHistory([...log, say(), user()], { tools }).history);
    expect(after).toEqual([...before, "assistant", "user"]);
    const thought = sketch(repairHistory([...log, think(), call("c1"), output("c1")], { tools }).history);
    expect(thought).toEqual([...before, "reasoning", "call c1", "output c1"]);
  });

  test("[WIRE-37] [PAIR-15] a note of a result that holds nothing says so, and has no blank part", () => {
    const blank = output("c2", { parts: [{ type: "text", text: "" }] });
    const { history } = repairHistory([user(), call("c2", { name: "old_tool" }), blank], { tools: new Set() });
    expect((history[1] as UserItem).parts).toMatchObject([{ text: expect.stringMatching(/returned: nothing\.$/) }]);
  });
});
