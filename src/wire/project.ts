import { fingerprint } from "../base/fingerprint.ts";
import type { Adjustment } from "./adjustment.ts";
import { aiSdk } from "./codecs/ai-sdk.ts";
import { anthropic } from "./codecs/anthropic.ts";
import { type Codec, type Decoded, type Decoding, type Encoded, isMisplaced } from "./codecs/codec.ts";
import { gemini } from "./codecs/gemini.ts";
import { openaiChat } from "./codecs/openai-chat.ts";
import { openaiResponses } from "./codecs/openai-responses.ts";
import { holdsHugeNumber } from "./codecs/read.ts";
import { isResultFormed } from "./codecs/result-form.ts";
import { type Item, type OutputItem, spaceOf, type ToolCallId, toolCallId, type WireFormat } from "./item.ts";
import { type ProfileChoice, profileOf, type WireProfile } from "./profiles.ts";
import { shapeItems } from "./shape.ts";
import { sendableText } from "./text.ts";

const CODECS: Readonly<Record<WireFormat, Codec>> = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  gemini,
  "ai-sdk": aiSdk,
};

/** Reads messages of a format into items. */
export function readMessages(messages: readonly unknown[], format: WireFormat, how: Decoding = {}): Decoded {
  return CODECS[format].decode(messages, how);
}

/** A history as the messages of one provider, and what was changed to meet its demands. */
export interface Written extends Encoded {
  readonly adjustments: readonly Adjustment[];
  /** Call ids that had to be written differently, by the id they stand for. */
  readonly aliases: ReadonlyMap<ToolCallId, string>;
}

/** Writes a repaired history as the messages of a profile. Profiles differ only in form, never in what happened. */
export function writeMessages(items: readonly Item[], choice: ProfileChoice): Written {
  const profile = profileOf(choice);
  const adjustments: Adjustment[] = [];
  const aliases = new Map<ToolCallId, string>();
  const named = withNames(oneIdSpace(items, profile.format, aliases), profile.format, adjustments);
  const told = withSendableNames(named, profile, adjustments);
  const shaped = shapeItems(told, profile, adjustments);
  for (const [at, item] of shaped.entries()) {
    if (isMisformed(item, profile.format) || isRequoted(item, profile.format))
      adjustments.push({ kind: "arguments-rewritten", at });
    if (isLoose(item, profile.format)) adjustments.push({ kind: "result-rewritten", at });
    const besides = item.kind === "system" && profile.format === "anthropic" && item.origin?.format === "anthropic";
    if (besides) adjustments.push({ kind: "instructions-lifted", at });
  }
  tellMended(items, profile.format, adjustments);
  const joined = (at: number) => void adjustments.push({ kind: "messages-joined", at });
  const split = (at: number) => void adjustments.push({ kind: "message-split", at });
  const unnamed = (at: number) => void adjustments.push({ kind: "item-id-dropped", at });
  const waived = (at: number) => void adjustments.push({ kind: "signature-waived", at });
  const idOf = (id: ToolCallId) => wireId(id, profile, aliases);
  const encoded = CODECS[profile.format].encode(shaped, { profile, idOf, joined, split, unnamed, waived });
  const messages = encoded.messages.map((message, at) => {
    const sendable = sendableText(message);
    if (sendable !== message) adjustments.push({ kind: "text-mended", at });
    return sendable;
  });
  if (aliases.size > 0) adjustments.push({ kind: "id-aliased", at: 0 });
  return { ...encoded, messages, adjustments, aliases };
}

/** What was read otherwise than it was given, once for each message, and what will stand under another role. */
function tellMended(items: readonly Item[], format: WireFormat, told: Adjustment[]): void {
  const mended = new Set<object>();
  for (const [at, item] of items.entries()) {
    const { origin } = item;
    if (origin?.mended === true && origin.format === format && !mended.has(origin.message)) {
      told.push({ kind: "part-replaced", at });
      mended.add(origin.message);
    }
    if (isMisplaced(item, format)) told.push({ kind: "role-rewritten", at });
  }
}

/** An id in a provider's own alphabet, derived, so that call and output meet under it in every process. */
function wireId(id: ToolCallId, { callIds }: WireProfile, aliases: Map<ToolCallId, string>): string {
  if (id.length <= callIds.maxLength && callIds.pattern.test(id)) return id;
  // Some gateways take nothing but a few letters and digits, and a prefix would not fit.
  const made = [`call_${fingerprint(id).slice(0, 24)}`, fingerprint(id).slice(0, callIds.maxLength)];
  const alias = made.find((one) => one.length <= callIds.maxLength && callIds.pattern.test(one)) ?? (made[0] as string);
  aliases.set(id, alias);
  return alias;
}

/** Models call tools by names that their own provider refuses in the next request, and the session is stuck. */
function withSendableNames(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if ((item.kind !== "call" && item.kind !== "output") || item.name === undefined || item.server === true) continue;
    const name = sendableName(item.name, profile);
    if (name === item.name) continue;
    if (item.kind === "call") told.push({ kind: "name-rewritten", at });
    (copy ??= items.slice())[at] = { ...item, name };
  }
  return copy ?? items;
}

function sendableName(name: string, { toolNames: { pattern, maxLength } }: WireProfile): string {
  if (name.length <= maxLength && pattern.test(name)) return name;
  const letters = Array.from(name, (letter) => (pattern.test(letter) ? letter : "_"));
  return letters.join("").slice(0, maxLength) || "unnamed_tool";
}

/** Formats that name the tool on its result learn the name from the call, where the result came without. */
function withNames(items: readonly Item[], format: WireFormat, told: Adjustment[]): readonly Item[] {
  if (format !== "gemini" && format !== "ai-sdk") return items;
  const names = new Map<ToolCallId | undefined, string>();
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if (item.kind === "call") names.set(item.callId, item.name);
    if (item.kind !== "output" || item.name !== undefined) continue;
    const name = names.get(item.callId);
    if (name === undefined) continue;
    (copy ??= items.slice())[at] = { ...item, name } satisfies OutputItem;
    if (item.origin?.format === format) told.push({ kind: "name-rewritten", at });
  }
  return copy ?? items;
}

/**
 * Only one format keeps an id space for each kind of call. In the others a custom call must not share its id with a
 * function's: its result would be taken for the other's.
 */
function oneIdSpace(items: readonly Item[], format: WireFormat, aliases: Map<ToolCallId, string>): readonly Item[] {
  if (format === "openai-responses" || !items.some((item) => item.kind === "call" && spaceOf(item.callKind) !== 0)) {
    return items;
  }
  const taken = new Map<ToolCallId, number>();
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if ((item.kind !== "call" && item.kind !== "output") || item.callId === undefined || item.callId === "") continue;
    const space = spaceOf(item.callKind);
    if (item.kind === "call" && !taken.has(item.callId)) taken.set(item.callId, space);
    if (taken.get(item.callId) === space || !taken.has(item.callId)) continue;
    const alias = toolCallId(`call_${fingerprint(`${space} ${item.callId}`).slice(0, 24)}`);
    aliases.set(item.callId, alias);
    (copy ??= items.slice())[at] = { ...item, callId: alias };
  }
  return copy ?? items;
}

/** A result in no form that the format knows: the codec writes it anew. */
function isLoose(item: Item, format: WireFormat): boolean {
  if (item.kind !== "output" || item.origin?.format !== format || item.server === true) return false;
  return !isResultFormed[format](item.origin.pieces[0] as Readonly<Record<string, unknown>>);
}

/** Arguments as an object where the format takes text, or the other way round: the codec writes them anew. */
function isMisformed(item: Item, format: WireFormat): boolean {
  if (item.kind !== "call" || item.origin?.format !== format || item.server === true) return false;
  if (format === "anthropic") return item.inputText !== undefined;
  if (format === "gemini") return typeof item.input !== "object" || Array.isArray(item.input);
  if (format === "ai-sdk") return !("input" in (item.origin.pieces[0] as object));
  const inText = item.callKind === "function" || item.callKind === "custom";
  return (format === "openai-chat" || format === "openai-responses") && inText && item.inputText === undefined;
}

/** Arguments that came as text, with a number which an object would hold as another: there it is written as text. */
function isRequoted(item: Item, format: WireFormat): boolean {
  if (item.kind !== "call" || item.inputText === undefined || item.origin?.format === format) return false;
  return format !== "openai-chat" && format !== "openai-responses" && holdsHugeNumber(item.inputText);
}
