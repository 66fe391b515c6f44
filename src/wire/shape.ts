import {
  type AssistantItem,
  type Item,
  type Origin,
  type OutputItem,
  type Part,
  textOf,
  type ToolCallId,
  type UserItem,
  isBlankText,
} from "./item.ts";
import type { Adjustment } from "./adjustment.ts";
import { blankBeside, chatForm } from "./chat-form.ts";
import type { WireProfile } from "./profiles.ts";
import { replaceMedia } from "./replace-media.ts";
import { responsesForm } from "./responses-form.ts";
import { resultMedia } from "./result-media.ts";
import { tellSilentFailures } from "./silent-failure.ts";
import { NO_TEXT } from "./text.ts";

type Shape = (items: readonly Item[], profile: WireProfile, told: Adjustment[]) => readonly Item[];

/** The passes, in order. Each returns the list it was given when it has nothing to do. */
const PASSES: readonly Shape[] = [
  dropLostThoughts,
  chatForm,
  blankBeside,
  responsesForm,
  replaceMedia,
  tellSilentFailures,
  dropBlankParts,
  dropBlank,
  trimEnd,
  joinTexts,
  orderOutputs,
  resultMedia,
  openWithUser,
  endWithUser,
];

export function shapeItems(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  return PASSES.reduce((shaped, pass) => pass(shaped, profile, told), items);
}

/** Where a thought is an item of its own, and must be followed by what came of it. */
const LINKED: readonly WireProfile["format"][] = ["openai-responses", "ai-sdk"];

/** A thought whose answer broke off behind it goes: what stands next is another answer's, and the provider misses its own. */
function dropLostThoughts(items: readonly Item[], { format }: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!LINKED.includes(format)) return items;
  const lost = new Set<Item>();
  let next: Item | undefined;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at] as Item;
    if (item.kind === "reasoning" && isOfAnotherAnswer(item, next)) {
      told.push({ kind: "thought-dropped", at });
      lost.add(item);
    } else next = item;
  }
  return lost.size === 0 ? items : items.filter((item) => !lost.has(item));
}

/** Only what a model was heard to say has the name of its answer; what was read from a list may be cut anyhow. */
function isOfAnotherAnswer({ step }: Item, next: Item | undefined): boolean {
  return typeof step === "string" && typeof next?.step === "string" && next.step !== step;
}

/** A blank text beside others, in a message or in a result, goes alone; what it stood beside stays as it was. */
function dropBlankParts(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!profile.refusesBlank) return items;
  return mapChanged(items, (item, at) => {
    if (!("parts" in item) || (item.kind === "output" && item.server === true)) return item;
    // A blank message is judged as a whole; a result in plain text may be empty.
    const blank = item.parts.every(isBlankText);
    const goes = blank ? isBlankBlock : isBlankText;
    if (!item.parts.some(goes) || (item.kind !== "output" && blank)) return item;
    told.push({ kind: "blank-dropped", at });
    return withParts(
      item,
      item.parts.filter((part) => !goes(part)),
    );
  });
}

type Spoken = Extract<Item, { readonly parts: readonly Part[] }>;

/** The item with other parts. The pieces it was read from follow them, so that what else they carry is not lost. */
function withParts(item: Spoken, parts: readonly Part[]): Item {
  const { origin, ...rest } = item;
  if (origin === undefined) return { ...rest, parts };
  const pieces = item.kind === "output" ? origin.pieces.map((piece) => withContent(piece, parts)) : parts.map(pieceOf);
  return { ...rest, parts, origin: { ...origin, pieces, changed: true } };
}

function withContent(piece: unknown, parts: readonly Part[]): unknown {
  return { ...(piece as object), content: parts.map(pieceOf) };
}

function pieceOf(part: Part): unknown {
  if (part.origin !== undefined) return part.origin.piece;
  return part.type === "text" ? part.text : undefined;
}

/** A text that was read as a block of its own, not as the whole content. */
function isBlankBlock(part: Part): boolean {
  return isBlankText(part) && part.origin !== undefined;
}

/** Instructions go beside the messages, and approvals have no place where it matters who speaks last. */
function isSaid({ kind }: Item): boolean {
  return kind !== "system" && kind !== "approval-request" && kind !== "approval-answer";
}

/** A provider that continues the last text refuses one that ends in white space. */
function trimEnd(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  const at = items.findLastIndex(isSaid);
  const last = items[at];
  if (!profile.refusesTrailingSpace || profile.userLast || last?.kind !== "assistant") return items;
  const part = last.parts.at(-1);
  if (part?.type !== "text" || part.text.trimEnd() === part.text) return items;
  told.push({ kind: "end-trimmed", at });
  const text = part.text.trimEnd();
  const { origin } = part;
  const own = origin === undefined ? {} : { origin: { ...origin, piece: { ...(origin.piece as object), text } } };
  return items.with(at, withParts(last, last.parts.with(-1, { ...part, text, ...own })));
}

/**
 * A blank answer says nothing and goes. Beside a call or a thought it stays, unless the provider refuses blank text;
 * then only the text goes, or, where a thought would be left alone, is filled.
 */
function dropBlank(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  const kept: Item[] = [];
  let changed = false;
  for (const [at, item] of items.entries()) {
    const verdict = isBlank(item) ? blankVerdict(items, at, profile) : "keep";
    if (verdict === "keep") kept.push(item);
    else if (verdict === "fill") {
      told.push({ kind: "blank-filled", at });
      kept.push(filled(item as AssistantItem));
      changed = true;
    } else {
      told.push({ kind: "blank-dropped", at });
      changed = true;
    }
  }
  return changed ? kept : items;
}

function isBlank(item: Item): boolean {
  if (item.kind !== "assistant" && item.kind !== "user" && item.kind !== "system") return false;
  return item.parts.every(isBlankText);
}

function blankVerdict(items: readonly Item[], at: number, profile: WireProfile): "keep" | "drop" | "fill" {
  const item = items[at] as Item;
  if (item.kind !== "assistant") return profile.refusesBlank ? "drop" : "keep";
  const beside = [items[at - 1], items[at + 1]].filter((other) => other !== undefined && other.step === item.step);
  const withCall = beside.some((other) => other?.kind === "call" || other?.kind === "other");
  let before = at - 1; // what the provider ran between the thought and the words led nowhere
  while (isServerOutput(items[before])) before -= 1;
  const withThought = items[before]?.kind === "reasoning";
  if (!withCall && !withThought) return "drop";
  // In a message that is the list of its parts, no part at all leaves a thought alone.
  const isNothing = item.parts.length === 0 && profile.format === "ai-sdk";
  if (!profile.refusesBlank && !isNothing) return "keep";
  return withThought && items[at + 1]?.kind !== "call" ? "fill" : "drop";
}

function isServerOutput(item: Item | undefined): boolean {
  return item?.kind === "output" && item.server === true;
}

/** A message of chat is one with the thought that it carries beside its text; elsewhere a thought is an item of its own. */
function filled({ origin, ...item }: AssistantItem): AssistantItem {
  const carrier = isOfChat(origin) ? { origin: { ...origin, changed: true } } : {};
  return { ...item, parts: [{ type: "text", text: NO_TEXT }], ...carrier };
}

function isOfChat(origin: Origin | undefined): origin is Origin {
  return origin?.format === "openai-chat";
}

/**
 * Neighbouring plain texts of the assistant become one where roles alternate, unless they belong to different phases.
 * Messages of chat are joined when they are written: beside its text each may carry a thought, which would be lost here.
 */
function joinTexts(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!profile.alternates) return items;
  const isChat = ({ origin }: Item) => profile.format === "openai-chat" && isOfChat(origin);
  const joined: Item[] = [];
  let changed = false;
  for (const [at, item] of items.entries()) {
    const before = joined.at(-1);
    const both = isPlainText(before) && isPlainText(item) && !(isChat(before) && isChat(item));
    if (both && before.phase === item.phase && !isOneMessage(before, item)) {
      told.push({ kind: "texts-joined", at });
      joined[joined.length - 1] = textAfter(before, item);
      changed = true;
    } else joined.push(item);
  }
  return changed ? joined : items;
}

function isPlainText(item: Item | undefined): item is AssistantItem {
  return item?.kind === "assistant" && item.parts.length === 1 && item.parts[0]?.type === "text";
}

function isOneMessage(before: Item, item: Item): boolean {
  const { origin } = before;
  return origin !== undefined && origin.message === item.origin?.message && origin.at === item.origin.at;
}

function textAfter({ origin: _origin, ...before }: AssistantItem, item: AssistantItem): AssistantItem {
  return { ...before, parts: [{ type: "text", text: `${textOf(before.parts)}\n${textOf(item.parts)}` }] };
}

/** Outputs in the order of their calls, for providers that count instead of reading ids. */
function orderOutputs(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!profile.outputsInCallOrder) return items;
  let ordered: Item[] | undefined;
  let place = new Map<ToolCallId | undefined, number>();
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as Item;
    if (item.kind === "call") place.set(item.callId, place.size);
    else if (item.kind === "user" || item.kind === "system") place = new Map();
    if (item.kind !== "output") continue;
    const slots: number[] = [];
    let end = at;
    for (; items[end]?.kind === "output" || items[end]?.kind === "approval-answer"; end += 1) {
      if (items[end]?.kind === "output") slots.push(end);
    }
    const run = slots.map((slot) => items[slot] as OutputItem);
    const sorted = run.toSorted((one, other) => (place.get(one.callId) ?? 0) - (place.get(other.callId) ?? 0));
    if (sorted.some((output, nth) => output !== run[nth])) {
      told.push({ kind: "outputs-ordered", at });
      ordered ??= items.slice();
      for (const [nth, slot] of slots.entries()) ordered[slot] = sorted[nth] as Item;
    }
    place = new Map();
    at = end - 1;
  }
  return ordered ?? items;
}

function openWithUser(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  const first = items.findIndex((item) => item.kind !== "system");
  const item = items[first];
  if (!profile.userFirst || item === undefined || item.kind === "user") return items;
  told.push({ kind: "opening-added", at: first });
  return items.toSpliced(first, 0, hostTurn("[What is shown of the conversation begins with the assistant.]"));
}

function endWithUser(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  const last = items.findLast(isSaid);
  const speaks = last?.kind === "assistant" || last?.kind === "reasoning";
  if (!profile.userLast || !speaks) return items;
  told.push({ kind: "continuation-added", at: items.length });
  return [...items, hostTurn("Continue.")];
}

/** A turn nobody took: marked, so that no rollback counts it and no reader takes it for the user's. */
function hostTurn(text: string): UserItem {
  return { kind: "user", notice: "continuation", parts: [{ type: "text", text, notice: "continuation" }] };
}

function mapChanged(items: readonly Item[], map: (item: Item, at: number) => Item): readonly Item[] {
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    const after = map(item, at);
    if (after !== item) (copy ??= items.slice())[at] = after;
  }
  return copy ?? items;
}
