import { describe, expect, test } from "vitest";
import {
  checkWire,
  type Item,
  PROFILES,
  type ProfileId,
  readMessages,
  repairHistory,
  repairMessages,
  validateHistory,
  writeMessages,
} from "../../src/index.ts";
import { answer, ask, call, output, sketch, user } from "../histories/items.ts";

const DENIED = "Tool execution was denied. The tool did not run.";

const asking = [
  { role: "user", content: "clean up" },
  {
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "t", toolName: "drop_table", input: {} },
      { type: "tool-approval-request", approvalId: "a", toolCallId: "t" },
    ],
  },
];
const refusal = { type: "tool-approval-response", approvalId: "a", approved: false, reason: "not the customers!" };
const refused = [...asking, { role: "tool", content: [refusal] }];

describe("a user denies a call and goes on", () => {
  const wentOn = [...refused, { role: "user", content: "do something else" }];

  test("[PAIR-11] [PAIR-12] the model reads that it did not run and why, not that it may have happened", () => {
    expect(checkWire(wentOn, "ai-sdk")).toMatchObject([{ rule: "WIRE-1" }]);
    const { messages, repairs } = repairMessages<object>(wentOn, { format: "ai-sdk" });
    expect(repairs).toMatchObject([{ action: "answered", item: { status: "canceled", reason: "denied" } }]);
    const said = JSON.stringify(messages);
    expect(said).toContain(`"execution-denied","reason":"${DENIED} The reason given: not the customers!"`);
    expect(said).not.toContain("may have happened");
    expect(messages).toEqual(expect.arrayContaining(wentOn));
    expect(checkWire(messages, "ai-sdk")).toEqual([]);
    expect(repairMessages(messages, { format: "ai-sdk" }).messages).toBe(messages);
  });

  test("[PAIR-11] a denial at the end is the host's to answer: nothing is added, and nobody takes it for a consent", () => {
    expect(repairMessages(refused, { format: "ai-sdk" }).messages).toBe(refused);
    expect(checkWire(refused, "ai-sdk")).toEqual([]);
    const log = [user(), call("c1"), call("c2"), ask("a1", "c1"), ask("a2", "c2"), answer("a1"), answer("a2", false)];
    expect(validateHistory(log).inFlight).toMatchObject([
      { callId: "c1", waitsFor: "approval" },
      { callId: "c2", waitsFor: "denial" },
    ]);
  });

  test("[PAIR-12] a call that was asked for twice and consented to once may have run", () => {
    const log = [user(), call("c1"), ask("a1", "c1"), ask("a2", "c1"), answer("a1"), answer("a2", false), user()];
    expect(JSON.stringify(repairHistory(log).history)).toContain("may have happened");
  });

  test("[PAIR-15] a denied call of a tool that is gone is noted as denied", () => {
    const log = [user(), call("c1"), ask("a1", "c1"), answer("a1", false), user()];
    const { history } = repairHistory(log, { tools: new Set(["other"]) });
    expect(sketch(history)).toEqual(["user", "note tool-gone", "user"]);
    expect(JSON.stringify(history[1])).toContain(DENIED);
  });
});

describe.each(Object.keys(PROFILES) as ProfileId[])("a denial told to %s", (profile) => {
  const denied = (reason: object) => [
    { role: "user", content: "x" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "t", toolName: "f", input: {} }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "t", toolName: "f", output: { type: "execution-denied", ...reason } },
      ],
    },
  ];
  const told = (items: readonly Item[]) => JSON.stringify(writeMessages(items, profile).messages.at(-1));

  test("[WIRE-25] it is a denial with its reason, never an empty result", () => {
    const given = told(readMessages(denied({ reason: "Never delete prod" }), "ai-sdk").items);
    expect(given).toContain("Never delete prod");
    if (profile === "ai-sdk") return;
    expect(given).toContain(DENIED);
    expect(told(readMessages(denied({}), "ai-sdk").items)).toContain(DENIED);
  });

  test("[WIRE-25] what repair says of a denial is not said twice where it is handed on", () => {
    const log = [user(), call("c1"), ask("a1", "c1"), { ...answer("a1", false), reason: "no" }, user()];
    const { messages } = writeMessages(repairHistory(log).history, "ai-sdk");
    const { items } = readMessages(messages, "ai-sdk");
    const again = JSON.stringify(writeMessages(items, profile).messages);
    expect(again.split(DENIED)).toHaveLength(2);
    expect(again).toContain("The reason given: no");
  });

  test("[WIRE-24] a tool that failed with a denial in its own words is left in them", () => {
    const own = output("c1", {
      status: "failed",
      reason: "denied",
      parts: [{ type: "text", text: "Not on a Friday." }],
    });
    expect(told([user(), call("c1"), own])).toContain("Not on a Friday.");
  });
});
