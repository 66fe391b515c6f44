import { expect, test } from "vitest";
import { checkWire, readMessages, repairMessages, writeMessages } from "../../src/index.ts";
import type { Item } from "../../src/wire/item.ts";
import { call, output, user } from "../histories/items.ts";

/** "Function call is missing a thought_signature in functionCall parts": no other model could have given one. */
const WAIVER = "skip_thought_signature_validator";

interface Content {
  readonly parts: readonly { readonly functionCall?: object; readonly thoughtSignature?: string }[];
}

/** The seals of each answer's calls, `-` for none. */
function seals(messages: readonly object[]): readonly string[] {
  return (messages as readonly Content[])
    .map(({ parts }) => parts.filter((part) => part.functionCall !== undefined))
    .filter((calls) => calls.length > 0)
    .map((calls) => calls.map(({ thoughtSignature = "-" }) => thoughtSignature).join(" "));
}

const chatCall = (...ids: readonly string[]) => [
  {
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
  },
  ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "r" })),
];
const go = { role: "user", content: "x" };
const done = { role: "assistant", content: "done" };

/** An answer that Gemini gave itself, with or without a seal, and its result. */
const own = (seal?: string) => [
  {
    role: "model",
    parts: [{ functionCall: { id: "g", name: "f", args: {} }, ...(seal && { thoughtSignature: seal }) }],
  },
  { role: "user", parts: [{ functionResponse: { id: "g", name: "f", response: { output: "r" } } }] },
];

test("[WIRE-13] [ADAPT-3] the first call of each answer of the turn that goes on carries the waiver, and older ones none", () => {
  const { items } = readMessages(
    [go, ...chatCall("a"), done, go, ...chatCall("b", "c"), ...chatCall("d")],
    "openai-chat",
  );
  const { messages, adjustments } = writeMessages(items, "gemini");
  expect(seals(messages)).toEqual(["-", `${WAIVER} -`, WAIVER]);
  expect(adjustments.filter(({ kind }) => kind === "signature-waived")).toHaveLength(2);
  expect(checkWire(messages, "gemini")).toEqual([]);
});

test("[WIRE-13] so does a call that was never read from anywhere", () => {
  const { messages } = writeMessages([user("go"), call("a"), output("a")], "gemini");
  expect(seals(messages)).toEqual([WAIVER]);
});

test("[WIRE-13] beside another's call Gemini's own keeps its seal, or is waived, too", () => {
  const history = (seal?: string): readonly Item[] => [
    ...readMessages([{ role: "user", parts: [{ text: "x" }] }, ...own(seal)], "gemini").items,
    ...readMessages(chatCall("a"), "openai-chat").items,
  ];
  for (const [given, first] of [
    ["s", "s"],
    [undefined, WAIVER],
  ] as const) {
    const { messages } = writeMessages(history(given), "gemini");
    expect(seals(messages)).toEqual([first, WAIVER]);
    expect(checkWire(messages, "gemini")).toEqual([]);
  }
});

test("[WIRE-13] [WIRE-21] a history of Gemini's alone, or with another's call in an older turn, is left as it is", () => {
  const list = [{ role: "user", parts: [{ text: "x" }] }, ...own()];
  expect(repairMessages(list, { format: "gemini" }).messages).toBe(list);
  const older = readMessages([go, ...chatCall("a"), done], "openai-chat").items;
  expect(seals(writeMessages([...older, ...readMessages(list, "gemini").items], "gemini").messages)).toEqual([
    "-",
    "-",
  ]);
});
