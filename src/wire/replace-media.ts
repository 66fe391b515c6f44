import type { Adjustment } from "./adjustment.ts";
import type { Item, Part, PartOrigin } from "./item.ts";
import {
  asWords,
  inLines,
  isMedia,
  isSentAlong,
  isTooLarge,
  labelOf,
  type Media,
  notHeld,
  typeIn,
  typeOf,
} from "./media.ts";
import type { WireProfile } from "./profiles.ts";

type Spoken = Extract<Item, { readonly parts: readonly Part[] }>;

/**
 * What the provider cannot read where it stands is told in words: content that is not here, that it does not fetch, whose
 * type it refuses, or that only another provider knows. Sent all the same it would be empty, or refused for ever.
 */
export function replaceMedia(items: readonly Item[], profile: WireProfile, told: Adjustment[]): readonly Item[] {
  let copy: Item[] | undefined;
  for (const [at, item] of items.entries()) {
    if (!("parts" in item) || item.parts.every(({ type }) => type === "text")) continue;
    if (item.kind === "output" && item.server === true) continue; // the provider's own: left alone there, sent nowhere else
    const parts = item.parts.map((part) => instead(part, item, profile));
    if (parts.every((part, nth) => part === item.parts[nth])) continue;
    const replaced = item.parts.filter((part, nth) => isReplaced(part, parts[nth], profile));
    if (replaced.some(isMedia)) told.push({ kind: "media-replaced", at });
    if (replaced.some(({ type }) => type === "other")) told.push({ kind: "part-replaced", at });
    const { origin: _origin, ...rest } = item;
    (copy ??= items.slice())[at] = {
      ...rest,
      parts: item.kind === "output" ? parts.filter((part) => part !== undefined) : inLines(parts, item.parts),
    };
  }
  return copy ?? items;
}

/** A type that is spelled as the provider wants it is no news, unless the provider's own piece had to be written anew. */
function isReplaced(part: Part, now: Part | undefined, { format }: WireProfile): boolean {
  return part.type !== now?.type || (part !== now && part.origin?.format === format);
}

/** The part itself, what is said instead of it, or nothing where it says nothing. */
function instead(part: Part, item: Spoken, profile: WireProfile): Part | undefined {
  if (part.type === "text") return part;
  if (part.type === "other") return part.origin.format === profile.format ? part : retold(part.origin);
  if (part.type === "image" && !profile.images) return words(UNREAD.image);
  if (part.type === "audio" && !profile.audio) return words(UNREAD.audio);
  if (isAway(part))
    return words(`[${part.media.mediaType ?? part.type}, ${part.media.blob?.size} bytes, is not here.]`);
  if (isAtHome(part, item, profile)) return part;
  const { url, base64 = "" } = part.media;
  if (isOnlyPiece(part)) return retold(part.origin);
  if (base64 === "" && url === undefined) return words(absent(part));
  const missing = notHeld(part);
  if (missing !== undefined) return words(`[${labelOf(part)}: it is no ${missing}]`);
  if (base64 === "" && !profile.byAddress.includes(part.type)) return words(notShown(part));
  // What may yet be shown in a message after the results, or after the answer, is left for that.
  const waits = item.kind === "output" || (item.kind === "assistant" && profile.assistantMedia !== "taken");
  if (waits ? isPlaceable(part, profile) : isTaken(part, item, profile)) return spelled(part);
  return asWords(part) ?? (waits ? part : words(notShown(part)));
}

const UNREAD = {
  image: "[An image stood here. This model does not read images.]",
  audio: "[A recording stood here. This model does not hear audio.]",
} as const;

function words(text: string): Part {
  return { type: "text", text };
}

/** Content that lies beside a journal and that nobody fetched: without it a provider would be sent an empty picture. */
function isAway({ media: { url, base64, blob } }: Media): boolean {
  return blob !== undefined && url === undefined && base64 === undefined;
}

/** Read here before, and therefore taken here; but a type that is always refused was never taken. */
function isAtHome(part: Media, item: Spoken, profile: WireProfile): boolean {
  if (part.origin?.format !== profile.format) return false;
  if (profile.format.startsWith("openai-") && item.kind !== "output" && isOnlyPiece(part)) return false; // it shows nothing
  const isNoUsers = item.kind === "system" || (item.kind === "assistant" && profile.assistantMedia !== "refused");
  return isNoUsers || !profile.refusesUserMedia || !isSentAlong(part);
}

function isPlaceable(part: Media, { resultMedia, messageMedia }: WireProfile): boolean {
  return resultMedia.test(typeOf(part)) || messageMedia.test(typeOf(part));
}

function isTaken(part: Media, item: Spoken, profile: WireProfile): boolean {
  if (item.kind === "system") return false;
  const { base64, mediaType } = part.media;
  const isOwn = part.origin?.format === profile.format;
  if (base64 === undefined && mediaType === undefined) return true; // an address, and nobody knows of what
  if (!profile.userMedia.test(typeOf(part))) return false;
  return !profile.refusesUserMedia || part.type !== "image" || isOwn || !isTooLarge(part, profile);
}

/** Providers refuse `image/jpg` and `IMAGE/PNG`, which hosts write all the same. */
function spelled(part: Media): Media {
  const { origin: _origin, ...rest } = part;
  const { mediaType, base64 } = part.media;
  const type = typeOf(part);
  const isUntold = mediaType === undefined && typeIn(base64) === undefined; // what writes it says what it takes it for
  return isUntold || mediaType === type ? part : { ...rest, media: { ...part.media, mediaType: type } };
}

/** Its content stands in its piece, in a form of its provider's own. */
function isOnlyPiece(part: Media): part is Media & { readonly origin: PartOrigin } {
  const { url, base64, fileId } = part.media;
  return part.origin !== undefined && (url ?? base64 ?? fileId) === undefined;
}

const CALLED = { image: "An image", audio: "A recording", file: "A file" } as const;

function notShown(part: Media): string {
  const { url } = part.media;
  return url === undefined ? `[${labelOf(part)}: not shown]` : `[${CALLED[part.type]} stood here: ${url}]`;
}

function absent({ type, media: { name, fileId }, origin }: Media): string {
  const called = name === undefined ? CALLED[type] : `${CALLED[type]} (${name})`;
  if (fileId === undefined) return `[${called} stood here, and was empty.]`;
  return `[${called} stood here: ${fileId}. Only ${origin?.format ?? "its provider"} can read it.]`;
}

/** A part in the form of another provider, as data: what it says is not lost with its form. */
function retold({ format, piece }: PartOrigin): Part | undefined {
  if (isBareSeal(piece)) return undefined;
  return words(`[In the form of ${format}: ${dataOf(piece)}]`);
}

/** The seal of a thought: it says nothing to anybody else. */
function isBareSeal(piece: unknown): boolean {
  return (piece as { readonly text?: unknown } | null)?.text === "";
}

const LONGEST_LETTERS = 1_000;

/** Words stay whole; letters without words (a picture inside, a seal) are only counted. */
function dataOf(piece: unknown): string {
  const short = (_key: string, value: unknown): unknown => {
    if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
    const isLetters = typeof value === "string" && value.length > LONGEST_LETTERS && !/\s/.test(value);
    return isLetters ? `(${value.length} characters)` : value;
  };
  try {
    return JSON.stringify(piece, short) ?? typeof piece;
  } catch {
    return "it cannot be written"; // a circle, or a number that JSON does not know
  }
}
