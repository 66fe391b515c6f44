import type { Adjustment } from "./adjustment.ts";
import { isThinking, isThought } from "./codecs/chat-thoughts.ts";
import { asList, asText, type Fields, isFields } from "../base/fields.ts";
import type { Item, Origin } from "./item.ts";
import type { WireProfile } from "./profiles.ts";
import { NO_TEXT } from "./text.ts";

/**
 * What a chat message may be read with and not be sent with: a list of calls without a call, as many servers answer, a role
 * that only OpenAI knows, and the address of a picture in place of the picture. Whatever else the message carries stays.
 */
export function chatForm(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (profile.format !== "openai-chat") return items;
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    let now: Item = item;
    if (profile.refusesDeveloper && now.kind === "system" && now.role === "developer") {
      told.push({ kind: "role-rewritten", at });
      const origin = originOf(now);
      const read = origin === undefined ? {} : { origin: withMessage(origin, { ...origin.message, role: "system" }) };
      now = { ...now, role: "system", ...read };
    }
    const origin = originOf(now);
    if (origin !== undefined && hasEmptyCalls(origin.message)) {
      told.push({ kind: "blank-dropped", at });
      const { tool_calls: _calls, ...message } = origin.message;
      now = { ...now, origin: withMessage(origin, message) };
    }
    const read = originOf(now);
    if (read !== undefined && "parts" in now && now.kind !== "output" && hasBareAddress(read.message)) {
      told.push({ kind: "part-replaced", at }); // its part was read as the provider takes it
      now = { ...now, origin: { ...read, changed: true } };
    }
    if (now !== item) (copy ??= items.slice())[at] = now;
  }
  return copy ?? items;
}

function originOf({ origin }: Item): Origin | undefined {
  return origin?.format === "openai-chat" ? origin : undefined;
}

/**
 * Blank words of an answer that stands beside them, in a thought or a refusal, are no item's: they go here, or every later
 * request would be refused. Where a thought would be left alone, they are filled, as elsewhere.
 */
export function blankBeside(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (profile.format !== "openai-chat" || !profile.refusesBlank) return items;
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    const { origin } = item;
    if (item.kind !== "other" || item.by !== "model" || origin?.format !== profile.format) continue;
    const message = origin.message as Fields;
    const { content } = message;
    if (!hasBlank(content)) continue;
    const kept = asList(content).filter((part) => !isBlankText(part));
    const alone = kept.every(isThinking) && isThought(message);
    told.push({ kind: alone ? "blank-filled" : "blank-dropped", at });
    const shown = alone ? filled(kept) : kept.length === 0 ? null : kept;
    (copy ??= items.slice())[at] = { ...item, origin: withMessage(origin, { ...message, content: shown }) };
  }
  return copy ?? items;
}

/** Nothing at all is taken as no content, beside what else there is; white space and an empty list are not. */
function hasBlank(content: unknown): boolean {
  if (Array.isArray(content)) return content.length === 0 || content.some(isBlankText);
  return typeof content === "string" && content !== "" && content.trim() === "";
}

function isBlankText(part: unknown): boolean {
  return isFields(part) && part["type"] === "text" && (asText(part["text"]) ?? "").trim() === "";
}

function filled(thoughts: readonly unknown[]): unknown {
  return thoughts.length === 0 ? NO_TEXT : [...thoughts, { type: "text", text: NO_TEXT }];
}

function hasEmptyCalls(message: object): message is { readonly tool_calls: readonly never[] } {
  const { tool_calls: calls } = message as { readonly tool_calls?: unknown };
  return Array.isArray(calls) && calls.length === 0;
}

function hasBareAddress(message: object): boolean {
  const { content } = message as { readonly content?: unknown };
  const isBare = (part: unknown) => typeof (part as { image_url?: unknown } | null)?.image_url === "string";
  return Array.isArray(content) && content.some(isBare);
}

/** A message that is one item as a whole, in another form. */
function withMessage(origin: Origin, message: object): Origin {
  return { ...origin, message, pieces: [message] };
}
