import fc from "fast-check";
import type { WireFormat } from "../../src/wire/item.ts";
import type { WireProfile } from "../../src/wire/profiles.ts";
import { writeMessages } from "../../src/wire/project.ts";
import { wholeHistory } from "./generate.ts";

type Raw = Record<string, unknown>;

const WOUNDS = [
  "drop",
  "copy",
  "swap",
  "move",
  "drop-part",
  "swap-parts",
  "reuse-id",
  "blank",
  "odd-text",
  "split",
  "strange-role",
  "empty-id",
  "cut-arguments",
] as const;

const anyWound = fc.record({ kind: fc.constantFrom(...WOUNDS), at: fc.nat(1000), to: fc.nat(1000) });

/** Messages as a careless host leaves them: cut, doubled, reordered, with half their parts. Deep copies, nothing shared. */
export function wounded(profile: WireProfile): fc.Arbitrary<readonly object[]> {
  return fc.tuple(wholeHistory({ steps: true }), fc.array(anyWound, { maxLength: 5 })).map(([items, wounds]) => {
    const { messages } = writeMessages(items, profile);
    const thoughtful = (JSON.parse(JSON.stringify(messages)) as Raw[]).flatMap((message, at) =>
      THOUGHTS[profile.format](message, at),
    );
    return wounds.reduce<readonly object[]>(wound, thoughtful);
  });
}

/** Reasoning in each format's own form, before some of the answers: cross-provider reasoning is never written. */
const THOUGHTS: Readonly<Record<WireFormat, (message: Raw, at: number) => readonly Raw[]>> = {
  "openai-chat": (message) => [message],
  "ai-sdk": (message) => [message],
  "openai-responses": (message, at) => {
    const byModel = message["role"] === "assistant" || String(message["type"]).endsWith("_call");
    return byModel && at % 2 === 0 ? [{ type: "reasoning", id: `rs_${at}`, summary: [] }, message] : [message];
  },
  anthropic: (message, at) => {
    if (message["role"] !== "assistant" || at % 2 === 0 || !Array.isArray(message["content"])) return [message];
    const thinking = { type: "thinking", thinking: "hm", signature: "sealed" };
    return [{ ...message, content: [thinking, ...(message["content"] as unknown[])] }];
  },
  gemini: (message) => {
    if (message["role"] !== "model") return [message];
    const parts = message["parts"] as Raw[];
    const first = parts.findIndex((part) => "functionCall" in part);
    const sealed = parts.map((part, nth) => (nth === first ? { ...part, thoughtSignature: "sealed" } : part));
    return [{ ...message, parts: [{ text: "hm", thought: true }, ...sealed] }];
  },
};

function wound(
  messages: readonly object[],
  { kind, at, to }: { kind: (typeof WOUNDS)[number]; at: number; to: number },
): readonly object[] {
  if (messages.length === 0) return messages;
  const from = at % messages.length;
  const other = to % messages.length;
  const message = messages[from] as Raw;
  const key = ["content", "parts", "tool_calls"].find((name) => Array.isArray(message[name]));
  const parts = key === undefined ? [] : (message[key] as unknown[]);
  const withParts = (changed: unknown[]) =>
    key === undefined ? messages : messages.with(from, { ...message, [key]: changed });
  switch (kind) {
    case "drop":
      return messages.toSpliced(from, 1);
    case "copy":
      return messages.toSpliced(other, 0, structuredClone(message));
    case "swap":
      return messages.with(from, messages[other] as object).with(other, message);
    case "move":
      return messages.toSpliced(from, 1).toSpliced(other, 0, message);
    case "drop-part":
      return parts.length < 2 ? messages : withParts(parts.toSpliced(to % parts.length, 1));
    case "swap-parts":
      return parts.length < 2 ? messages : withParts(parts.toReversed());
    case "split":
      if (parts.length < 2 || key === "tool_calls") return messages;
      return messages.toSpliced(
        from,
        1,
        { ...message, [key as string]: parts.slice(0, 1) },
        { ...message, [key as string]: parts.slice(1) },
      );
    case "blank":
      return typeof message["content"] === "string" ? messages.with(from, { ...message, content: " " }) : messages;
    case "strange-role":
      return "role" in message ? messages.with(from, { ...message, role: "narrator" }) : messages;
    case "reuse-id":
      return messages.with(
        from,
        JSON.parse(JSON.stringify(message).replaceAll(/"id\d+"/g, `"id${1 + (to % 4)}"`)) as object,
      );
    case "empty-id":
      return messages.with(from, JSON.parse(JSON.stringify(message).replaceAll(/"id\d+"/g, '""')) as object);
    case "odd-text":
      return messages.with(
        from,
        JSON.parse(JSON.stringify(message).replaceAll("result", "res\\u0000u\\ud800lt")) as object,
      );
    case "cut-arguments":
      return messages.with(from, JSON.parse(JSON.stringify(message).replaceAll('\\"a.txt\\"}', '\\"a.t')) as object);
  }
}
