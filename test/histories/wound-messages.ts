import fc from "fast-check";
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
    return wounds.reduce<readonly object[]>(wound, JSON.parse(JSON.stringify(messages)) as object[]);
  });
}

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
