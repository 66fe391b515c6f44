import { expect, test } from "vitest";
import { user } from "../../test/histories/items.ts";
import type { Item } from "../wire/item.ts";
import { readMessages } from "../wire/project.ts";
import { answerFrom } from "./answer.ts";
import { countOf } from "./fields.ts";

const stop = { reason: "stop", text: "STOP" } as const;

/** An answer of Gemini's with one call, asked after these items. */
function answered(items: readonly Item[], call: object) {
  const message = { role: "model", parts: [{ functionCall: { name: "grep", args: {}, ...call } }] };
  return answerFrom({ items: readMessages([message], "gemini").items, id: `r${items.length}`, unread: [] }, stop, {
    items,
  });
}

test("[ADAPT-8] calls that come without an id get one each, and nothing is told of ids that nobody sent", () => {
  const first = answered([user()], {});
  const second = answered([user(), ...first.items], {});
  const ids = [first, second].flatMap(({ calls }) => calls.map(({ callId }) => callId));
  expect(new Set(ids).size).toBe(2);
  expect([first.renamed, second.renamed]).toEqual([[], []]);
});

test("[ADAPT-8] an id that was sent twice is told under the id that was sent", () => {
  const first = answered([user()], { id: "same" });
  const second = answered([user(), ...first.items], { id: "same" });
  expect(second.renamed).toEqual([{ index: 0, from: "same", to: second.calls[0]?.callId }]);
});

/** An answer that the limit cut, read from a message of a provider's own. */
function cut(message: object, format: "anthropic" | "openai-chat") {
  const { items } = readMessages([message], format);
  return answerFrom({ items, id: "r", unread: [] }, { reason: "length", text: "cut" }, { items: [user()] });
}

test("[ADAPT-28] a call that the limit cut before its first argument is partial, and one behind which more was said is not", () => {
  const use = { type: "tool_use", id: "a", name: "deploy", input: {} };
  const asked = { id: "a", type: "function", function: { name: "deploy", arguments: "" } };
  const answers = [
    cut({ role: "assistant", content: [use] }, "anthropic"),
    cut({ role: "assistant", content: null, tool_calls: [asked] }, "openai-chat"),
  ];
  for (const { calls, items } of answers) {
    expect(calls).toEqual([]);
    expect(items).toMatchObject([{ kind: "call", name: "deploy", partial: true }]);
  }
  const said = cut({ role: "assistant", content: [use, { type: "text", text: "And th" }] }, "anthropic");
  const whole = { ...asked, function: { name: "deploy", arguments: "{}" } };
  const told = cut({ role: "assistant", content: null, tool_calls: [whole] }, "openai-chat");
  for (const { calls } of [said, told])
    expect(calls).toMatchObject([{ name: "deploy", input: { ok: true, value: {} } }]);
});

test("[ADAPT-27] an amount of tokens that is none counts as unknown", () => {
  expect([0, 7, -1, Number.NaN, Number.POSITIVE_INFINITY, "7", null].map(countOf)).toEqual([
    0,
    7,
    ...Array.from({ length: 5 }, () => undefined),
  ]);
});
