import type { Adjustment } from "./adjustment.ts";
import type { Item, Part } from "./item.ts";
import type { WireProfile } from "./profiles.ts";

/**
 * Texts of a type that OpenAI does not take from their speaker. Hosts write them when they show an answer as a question, or a
 * result as an answer, and the whole request is refused for one.
 */
export function responsesForm(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (profile.format !== "openai-responses") return items;
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if (!("parts" in item) || item.origin?.format !== profile.format) continue;
    const { origin, parts } = item;
    const field = item.kind === "output" ? "output" : "content";
    const said = (origin.message as Readonly<Record<string, unknown>>)[field];
    if (!Array.isArray(said)) continue;
    const typed = said.map((piece: unknown) => inTypeOf(item, piece));
    if (typed.every((piece, nth) => piece === said[nth])) continue;
    told.push({ kind: "part-replaced", at });
    const message = { ...origin.message, [field]: typed };
    const read = parts.map((part, nth) => readFrom(part, typed[nth]));
    (copy ??= items.slice())[at] = { ...item, parts: read, origin: { ...origin, message, pieces: [message] } };
  }
  return copy ?? items;
}

const TEXTS: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

function inTypeOf({ kind }: Item, piece: unknown): unknown {
  if (typeof piece !== "object" || piece === null) return piece;
  const { type, text, refusal } = piece as Readonly<Record<string, unknown>>;
  const own = kind === "assistant" ? "output_text" : "input_text";
  if (type === "refusal") return kind === "assistant" ? piece : { type: own, text: refusal };
  return type === own || !TEXTS.has(type) ? piece : { type: own, text };
}

function readFrom(part: Part, piece: unknown): Part {
  return part.origin === undefined ? part : { ...part, origin: { ...part.origin, piece } };
}
