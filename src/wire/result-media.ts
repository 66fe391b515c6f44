import type { Adjustment } from "./adjustment.ts";
import type { Item, OutputItem, Part, UserItem } from "./item.ts";
import { isMedia, isTooLarge, labelOf, type Media, typeOf } from "./media.ts";
import type { WireProfile } from "./profiles.ts";

/**
 * Pictures and files in results, for providers that take none there: a result says in words that one follows, and a
 * message after all results of the answer shows it. What the provider takes nowhere, by its type or its size, is only told.
 */
export function resultMedia(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  if (!items.some((item) => item.kind === "output" && misplaced(item, profile).length > 0)) return items;
  const placed: Item[] = [];
  let waiting: Media[] = [];
  const show = () => {
    if (waiting.length > 0) placed.push(messageOf(waiting));
    waiting = [];
  };
  for (const [at, item] of items.entries()) {
    if (item.kind !== "output" && item.kind !== "approval-answer") show();
    const moved = item.kind === "output" ? misplaced(item, profile) : [];
    if (item.kind !== "output" || moved.length === 0) {
      placed.push(item);
      continue;
    }
    told.push({ kind: "media-moved", at });
    const shown = moved.filter((part) => !isTooLarge(part, profile) && profile.messageMedia.test(typeOf(part)));
    const { origin: _origin, ...rest } = item;
    const parts = item.parts.map((part) => (isMedia(part) && moved.includes(part) ? words(part, shown) : part));
    placed.push({ ...rest, parts });
    waiting.push(...shown);
  }
  show();
  return placed;
}

function misplaced({ parts, server, callKind }: OutputItem, profile: WireProfile): readonly Media[] {
  if (server === true) return [];
  if (callKind === "computer" && profile.format === "openai-responses") return []; // there a screen is a picture by its form
  return parts.filter(isMedia).filter((part) => {
    if (part.origin?.format === profile.format && !profile.refusesResultMedia) return false; // it was taken there before
    return isTooLarge(part, profile) || !profile.resultMedia.test(typeOf(part));
  });
}

function words(part: Media, shown: readonly Media[]): Part {
  const what = labelOf(part);
  return { type: "text", text: shown.includes(part) ? `[${what}: shown after the results]` : `[${what}: not shown]` };
}

/** No turn of the user's: it belongs to the results before it. */
function messageOf(shown: readonly Media[]): UserItem {
  const label = (part: Media): Part => ({ type: "text", text: `[${labelOf(part)}]`, notice: "result-media" });
  return { kind: "user", notice: "result-media", parts: shown.flatMap((part) => [label(part), part]) };
}
