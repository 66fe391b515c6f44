import { describe, expect, test } from "vitest";
import { checkWire, PROFILES, type ProfileId, readMessages, repairMessages, writeMessages } from "../../src/index.ts";

const go = { role: "user", content: "x" };
const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "E" };
const request = { type: "mcp_approval_request", id: "mcpr_1", name: "n", server_label: "s", arguments: "{}" };
const yes = { type: "mcp_approval_response", approve: true, approval_request_id: "mcpr_1" };
const ran = { type: "mcp_call", id: "mcp_1", name: "n", server_label: "s", arguments: "{}", output: "done" };
const said = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Done." }] };

const repair = (messages: readonly object[], continues = false) =>
  repairMessages(messages, { format: "openai-responses", continues });

describe("the request stands where the provider keeps it", () => {
  test("[WIRE-31] a consent in a list that goes on is taken, and stays", () => {
    expect(checkWire({ input: [yes], previous_response_id: "resp_1" }, "openai-responses")).toEqual([]);
    expect(checkWire({ input: [yes], conversation: "conv_1" }, "openai-responses")).toEqual([]);
    const list = [yes];
    expect(repair(list, true).messages).toBe(list);
  });

  test("[WIRE-31] a consent after a reference is taken, and stays", () => {
    const list = [go, { type: "item_reference", id: "mcpr_1" }, yes];
    expect(checkWire(list, "openai-responses")).toEqual([]);
    expect(repair(list).messages).toBe(list);
  });

  test("[WIRE-20] [WIRE-31] without either it is loose, also before a reference, and in a format that keeps nothing", () => {
    for (const list of [[yes], [go, yes, { type: "item_reference", id: "mcpr_1" }]]) {
      expect(checkWire(list, "openai-responses")).toMatchObject([{ rule: "WIRE-20" }]);
      expect(repair(list).messages).not.toContain(yes);
    }
    const consent = { type: "tool-approval-response", approvalId: "x", approved: true };
    const elsewhere = { messages: [go, { role: "tool", content: [consent] }], previous_response_id: "resp_1" };
    expect(checkWire(elsewhere, "ai-sdk")).toMatchObject([{ rule: "WIRE-20" }]);
  });

  test("[WIRE-31] a request in the list itself is answered there, also when the list goes on", () => {
    const list = [request, yes, ran];
    expect(repair(list, true)).toMatchObject({ messages: list, repairs: [] });
    const left = repair([request, go, yes], true);
    expect(left.messages).toEqual([go]);
  });
});

describe("a thought that led to a call which waits for consent", () => {
  test.each([
    ["waits", [go, thought, request]],
    ["was consented to", [go, thought, request, yes]],
    ["was denied", [go, thought, request, { ...yes, approve: false, reason: "no" }]],
    ["ran", [go, thought, request, yes, ran, said, go]],
  ])("[WIRE-21] [PAIR-1] [PAIR-17] stays with it when it %s", (_when, list) => {
    expect(checkWire(list, "openai-responses")).toEqual([]);
    expect(repair(list)).toMatchObject({ repairs: [], adjustments: [] });
    expect(repair(list).messages).toBe(list);
  });

  test("[PAIR-10] goes with it when nobody answered, and stays where something else followed", () => {
    expect(repair([go, thought, request, go]).messages).toEqual([go, go]);
    expect(repair([go, thought, request, said, go]).messages).toEqual([go, thought, said, go]);
    const kept = { ...request, id: "mcpr_2" };
    const consent = { ...yes, approval_request_id: "mcpr_2" };
    const { messages } = repair([go, thought, kept, request, consent, go]);
    expect(messages).toEqual([go, thought, kept, consent, go]);
    expect(checkWire(messages, "openai-responses")).toEqual([]);
  });

  test("[PAIR-17] it does not leave with a call of ours that has no id either", () => {
    const nameless = { type: "function_call", name: "gone", arguments: "{}" };
    const options = { format: "openai-responses", tools: new Set(["other"]) } as const;
    const { messages } = repairMessages<object>([go, thought, nameless, request, yes], options);
    expect(messages).toEqual(expect.arrayContaining([go, thought, request, yes]));
  });
});

describe("a request that nobody can answer any more", () => {
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };

  test.each([
    ["stands beside a call that was interrupted", [go, request, call]],
    ["shares its id with a later one", [request, go, thought, { ...request }, go]],
  ])("[PAIR-3] one that %s leaves in one repair", (_why, list) => {
    const { messages } = repair(list);
    expect(messages).not.toContain(request);
    expect(repair(messages).messages).toBe(messages);
  });
});

test.each(Object.keys(PROFILES) as ProfileId[])("[WIRE-22] handed to %s, a consent leaves no gap behind", (profile) => {
  const trailing = { role: "assistant", content: "Well. " };
  for (const list of [
    [go, request, yes, go],
    [go, trailing, request, yes],
  ]) {
    const { messages, omitted } = writeMessages(readMessages(list, "openai-responses").items, profile);
    expect(checkWire(messages, profile)).toEqual([]);
    expect(omitted).toHaveLength(profile === "ai-sdk" || profile === "openai-responses" ? 0 : 2);
  }
});
