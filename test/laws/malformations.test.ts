import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import { repairMessages } from "../../src/history/messages.ts";
import { checkWire } from "../../src/wire/check.ts";
import type { Item, WireFormat } from "../../src/wire/item.ts";
import { PROFILES, type WireProfile } from "../../src/wire/profiles.ts";
import { writeMessages } from "../../src/wire/project.ts";
import { call, output, say, user } from "../histories/items.ts";

/** The eleven malformations that peers' guards were measured with, each written down as a careless host would. */

const A = call("call_A", { step: 1 });
const B = call("call_B", { step: 1, name: "grep" });
const rest = [user("thanks"), say("welcome", { step: 9 }), user("bye")];

const MALFORMED: Readonly<Record<string, readonly Item[]>> = {
  "missing result": [user(), A, ...rest],
  "orphan result": [user(), output("call_Z"), ...rest],
  "result before its call": [user(), output("call_A"), A, ...rest],
  "duplicate result": [user(), A, output("call_A"), output("call_A"), ...rest],
  "same id in two turns": [user(), A, output("call_A"), user(), { ...A, step: 2 }, output("call_A"), ...rest],
  "parallel results split by text": [
    user(),
    A,
    B,
    output("call_A"),
    say("so far", { step: 2 }),
    output("call_B"),
    ...rest,
  ],
  "result behind a user message": [user(), A, user("still there?"), output("call_A"), ...rest],
  "wrong tool name": [user(), A, output("call_A", { name: "grep" }), ...rest],
  "tool no longer offered": [user(), { ...A, name: "old_tool" }, output("call_A"), ...rest],
  "NUL and lone surrogate": [user(), A, output("call_A", { parts: [{ type: "text", text: "a\0b\ud800c" }] }), ...rest],
  "trailing reasoning": [user("think"), say("well", { step: 1 }), user("more")],
};

const TOOLS = ["read_file", "grep"];

/** Thoughts in each format's own form; chat has none. */
const THOUGHT: Readonly<Record<WireFormat, object | undefined>> = {
  "openai-chat": undefined,
  "openai-responses": { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
  anthropic: { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "sealed" }] },
  gemini: { role: "model", parts: [{ text: "hm", thought: true }] },
  "ai-sdk": { role: "assistant", content: [{ type: "reasoning", text: "hm" }] },
};

/** Messages without any of a profile's care. */
function careless(name: string, profile: WireProfile): readonly object[] {
  const careful = {
    alternates: false,
    userFirst: false,
    userLast: false,
    refusesBlank: false,
    outputsInCallOrder: false,
  };
  const turnedOff = Object.fromEntries(Object.keys(careful).map((trait) => [trait, false]));
  const { messages } = writeMessages(MALFORMED[name] as readonly Item[], { ...profile, ...turnedOff });
  if (name === "NUL and lone surrogate") return spoilt(messages);
  if (name === "trailing reasoning")
    return [...messages, THOUGHT[profile.format] ?? { role: "assistant", content: "" }];
  if (name === "wrong tool name" && profile.format === "openai-chat") return messages.map(named);
  return messages;
}

const spoilt = (messages: readonly object[]): readonly object[] =>
  JSON.parse(JSON.stringify(messages).replaceAll("\uFFFD", "\\u0000\\ud800")) as object[];

const named = (message: object): object => ("tool_call_id" in message ? { ...message, name: "grep" } : message);

/** What a provider does not say, or does not mind. Everything else is refused there, and must be seen to be. */
const TOLERANT: Readonly<Record<string, readonly string[]>> = {
  "same id in two turns": ["openai-chat", "gemini", "ai-sdk"],
  "result behind a user message": ["openai-responses"],
  "parallel results split by text": ["openai-responses"],
  "wrong tool name": ["openai-chat", "openai-responses", "anthropic", "openai-compatible"],
  "trailing reasoning": ["openai-chat"],
};

describe.each(Object.values(PROFILES))("$id", (profile) => {
  const { format } = profile;

  test.each(Object.keys(MALFORMED))("[PAIR-22] %s is repaired, or stopped in strict mode", (name) => {
    const messages = careless(name, profile);
    const request = (sent: readonly object[]) => ({ messages: sent, tools: TOOLS });
    const refused = checkWire(request(messages), profile);
    if (!TOLERANT[name]?.includes(profile.id)) expect(refused).not.toEqual([]);

    const options = { format, profile, tools: new Set(TOOLS) };
    const { messages: mended, repairs, adjustments } = repairMessages(messages, options);
    expect(checkWire(request(mended), profile)).toEqual([]);
    const unsaid = refused.length === 0 && JSON.stringify(mended) === JSON.stringify(messages);
    if (!unsaid) expect(repairs.length + adjustments.length).toBeGreaterThan(0);

    const again = repairMessages(mended, options);
    expect(again.messages).toBe(mended);
    if (repairs.length === 0) return;
    expect(() => repairMessages(messages, { ...options, mode: "strict" })).toThrow(HoldfastError);
  });

  test("[PAIR-22] [N39] every one of them, one after the other, is decided alike", () => {
    for (const items of Object.values(MALFORMED)) {
      const { messages } = writeMessages(items, profile);
      expect(() => repairMessages(messages, { format, profile })).not.toThrow();
    }
  });
});
