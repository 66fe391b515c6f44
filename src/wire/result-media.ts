import type { Adjustment } from "./adjustment.ts";
import { roleOf } from "./codecs/codec.ts";
import type { AssistantItem, Item, OutputItem, Part, UserItem } from "./item.ts";
import { inLines, isMedia, isSentAlong, isTooLarge, labelOf, type Media, typeOf } from "./media.ts";
import type { WireProfile } from "./profiles.ts";

/**
 * Pictures and files in results and in answers, for providers that take none there: words say that one follows, and a
 * message after the answer and all its results shows it. What the provider takes nowhere, by its type or its size, is
 * only told.
 */
export function resultMedia(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!items.some((item) => misplaced(item, profile).length > 0)) return items;
  const paused = pausedFrom(items);
  const placed: Item[] = [];
  let waiting: Part[] = [];
  const show = () => {
    if (waiting.length > 0) placed.push({ kind: "user", notice: "result-media", parts: waiting } satisfies UserItem);
    waiting = [];
  };
  for (const [at, item] of items.entries()) {
    if (!isOfOneAnswer(items[at - 1], item)) show();
    const moved = misplaced(item, profile);
    if (moved.length === 0) {
      placed.push(item);
      continue;
    }
    told.push({ kind: "media-moved", at });
    const fits = at < paused ? moved : [];
    const shown = fits.filter((part) => !isTooLarge(part, profile) && profile.messageMedia.test(typeOf(part)));
    const { origin: _origin, ...rest } = item as AssistantItem | OutputItem;
    const inWords = (part: Media) => words(part, shown.includes(part) ? PLACE[rest.kind] : "not shown");
    const parts = rest.parts.map((part) => (isMedia(part) && moved.includes(part) ? inWords(part) : part));
    placed.push({ ...rest, parts: rest.kind === "output" ? parts : inLines(parts, rest.parts) });
    waiting.push(...shown.flatMap((part) => [labelled(part, rest.kind), part]));
  }
  show();
  return placed;
}

const PLACE = { output: "shown after the results", assistant: "shown in the next message of the user" } as const;

/** Where the last answer begins, if its provider is to go on with it: something shown behind it would be the end of that. */
function pausedFrom(items: readonly Item[]): number {
  const open = new Set<string>();
  let from = items.length;
  for (const role of ["tool", "assistant"] as const)
    while (from > 0 && roleOf(items[from - 1] as Item) === role) from -= 1;
  for (const item of items.slice(from)) {
    if (item.kind === "call" && item.server === true) open.add(item.callId ?? "");
    if (item.kind === "output" && item.server === true) open.delete(item.callId ?? "");
    if (item.kind === "approval-request" && item.callId === undefined) open.add(item.approvalId);
  }
  return open.size === 0 ? items.length : from;
}

/** Whether nothing may stand between the two: the parts of an answer, and then all its results. */
function isOfOneAnswer(before: Item | undefined, item: Item): boolean {
  const role = roleOf(item);
  return role === "tool" || (role === "assistant" && before !== undefined && roleOf(before) === "assistant");
}

function misplaced(item: Item, profile: WireProfile): readonly Media[] {
  if (item.kind === "assistant") {
    const { assistantMedia, format } = profile;
    if (assistantMedia === "taken") return [];
    return item.parts.filter(isMedia).filter(({ origin }) => assistantMedia === "refused" || origin?.format !== format);
  }
  if (item.kind !== "output" || item.server === true) return [];
  if (item.callKind === "computer" && profile.format === "openai-responses") return []; // there a screen is a picture by its form
  return item.parts.filter(isMedia).filter((part) => {
    const isTaken = profile.resultMedia.test(typeOf(part));
    // It was taken there before, unless its type never is.
    if (part.origin?.format === profile.format && !profile.refusesResultMedia)
      return !isTaken && profile.refusesUserMedia && isSentAlong(part);
    return isTooLarge(part, profile) || !isTaken;
  });
}

function words(part: Media, place: string): Part {
  return { type: "text", text: `[${labelOf(part)}: ${place}]` };
}

/** No turn of the user's: it belongs to the answer or the results before it. */
function labelled(part: Media, kind: "assistant" | "output"): Part {
  const whose = kind === "assistant" ? ", which the assistant made" : "";
  return { type: "text", text: `[${labelOf(part)}${whose}]`, notice: "result-media" };
}
