import type { Part } from "./item.ts";
import type { WireProfile } from "./profiles.ts";

export type Media = Extract<Part, { readonly media: unknown }>;

export function isMedia(part: Part): part is Media {
  return part.type !== "text" && part.type !== "other";
}

const UNTYPED = { image: "image/png", audio: "audio/wav", file: "application/pdf" } as const;

/** How files of each type begin, in base64. A picture under the name of another type is refused. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["iVBORw0KGg", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi", "application/pdf"],
];

/** What a content is by how it begins, as far as that tells. */
export function typeIn(base64 = ""): string | undefined {
  return BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1];
}

/**
 * The media type in the spelling that providers take. What came without one is taken for this, here as in the codecs;
 * of a picture its content says it best, because tools and servers name what they asked for and not what they got.
 */
export function typeOf({ type, media: { mediaType = "", base64 } }: Media): string {
  const held = type === "image" ? typeIn(base64) : undefined;
  if (held?.startsWith("image/") === true) return held;
  const plain = (mediaType.split(";")[0] as string).trim().toLowerCase();
  if (plain === "image/jpg") return "image/jpeg";
  return plain === "" ? UNTYPED[type] : plain;
}

/** What a picture or document is not, mostly because it is the words of a server that had none to give. */
export function notHeld(part: Media): "picture" | "PDF" | undefined {
  const { base64 = "" } = part.media;
  const called = typeOf(part);
  const kind = isPicture(called) ? "picture" : called === "application/pdf" ? "PDF" : undefined;
  if (kind === undefined || base64 === "") return undefined;
  const held = typeIn(base64);
  if (held !== undefined) return isPicture(held) === isPicture(called) ? undefined : kind;
  const words = beginningOf(base64);
  return /^[\t\n\r\x20-\x7e]{3,}$/.test(words) && !words.includes("%PDF-") ? kind : undefined;
}

function isPicture(mediaType: string): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType);
}

const LOOKED_AT = 64;

function beginningOf(base64: string): string {
  try {
    return atob(base64.slice(0, LOOKED_AT));
  } catch {
    return ""; // not even base64: whoever reads it says so
  }
}

export function labelOf(part: Media): string {
  const { name } = part.media;
  return name === undefined ? typeOf(part) : `${name}, ${typeOf(part)}`;
}

/** Three bytes in four letters. */
export function isTooLarge({ media: { base64 = "" } }: Media, { mediaBytes }: WireProfile): boolean {
  return base64.length * 0.75 > mediaBytes;
}

/** Whether its content stands in the piece it was read from: texts and addresses of Anthropic's have no type to refuse. */
export function isSentAlong({ origin, media: { fileId } }: Media): boolean {
  if (fileId !== undefined) return false;
  const { source } = (origin?.piece ?? {}) as { readonly source?: { readonly type?: unknown } | null };
  return typeof source?.type !== "string" || source.type === "base64";
}

const IN_WORDS = /^text\/|[/+](json|xml|(x-)?yaml|toml|csv|sql|(x-)?(java|type)script|x-sh)$/;

/** Whether it consists of words, by its type: a table, a drawing in XML, a program. */
export function isInWords(part: Media): boolean {
  return IN_WORDS.test(typeOf(part));
}

/** A file that consists of words, as a text: it can be read wherever words can. */
export function asWords(part: Media): Part | undefined {
  const { base64 } = part.media;
  if (base64 === undefined || base64 === "" || !isInWords(part)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { type: "text", text: `[${labelOf(part)}]\n${text}` };
  } catch {
    return undefined; // it is called a text and is none: told as what cannot be shown
  }
}

/** Parts where words stand for others, each on lines of their own: some formats run neighbouring texts together. */
export function inLines(parts: readonly (Part | undefined)[], instead: readonly Part[]): readonly Part[] {
  const isNew = (nth: number) => parts[nth]?.type === "text" && instead[nth]?.type !== "text";
  return parts.flatMap((part, nth): readonly Part[] => {
    if (part?.type !== "text" || !isNew(nth)) return part === undefined ? [] : [part];
    const before = parts[nth - 1]?.type === "text" ? "\n" : "";
    const after = parts[nth + 1]?.type === "text" && !isNew(nth + 1) ? "\n" : "";
    return [{ ...part, text: `${before}${part.text}${after}` }];
  });
}

/** Bytes as base64, without Node. */
export function base64Of(bytes: Uint8Array): string {
  const STEP = 0x8000; // a longer list of arguments overflows the stack
  let letters = "";
  for (let at = 0; at < bytes.length; at += STEP) letters += String.fromCharCode(...bytes.subarray(at, at + STEP));
  return btoa(letters);
}
