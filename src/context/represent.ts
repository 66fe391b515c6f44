import type { Sha256 } from "../base/hash.ts";
import type { Compressed } from "../contracts/compressor.ts";
import type { Item, OutputItem, Part } from "../wire/item.ts";
import { grouped, head, sizeWords } from "./compress/cut.ts";
import { looksLikeCall } from "./compress/weigh.ts";
import { oneLine } from "./facts.ts";
import type { Handle } from "./handle.ts";
import type { PageKind, ResidencyLevel } from "./kind.ts";
import { directiveLines } from "./directives.ts";
import { shortenedCall } from "./shorten-call.ts";

/** Everything a representation may tell about its page. */
export interface Shown {
  readonly item: Item;
  readonly kind: PageKind;
  readonly text: string;
  readonly digest: Sha256;
  readonly handle: Handle;
  /** Of an output: what is known of it without reading it, in a line. */
  readonly facts: string;
  readonly compressed: (room: number) => Compressed;
  /** Said by a producer instead of what the form would tell: a plan's goal and step, a preference's scope and source. */
  readonly pointer?: string;
  readonly structured?: string;
}

/** The items a page is shown as at each level below full. The same reference as above means: not shorter. */
export function shorterItems(shown: Shown): Readonly<Record<Exclude<ResidencyLevel, "full">, Item>> {
  const { item } = shown;
  switch (item.kind) {
    case "call":
      return {
        compressed: shortenedCall(item, shown.handle, 160),
        structured: shortenedCall(item, shown.handle, 48),
        pointer: shortenedCall(item, shown.handle, 0),
      };
    case "system":
    case "user":
    case "assistant":
    case "output":
      return {
        compressed: withText(item, compressedText(shown)),
        structured: withText(item, structuredText(shown)),
        pointer: withText(item, pointerText(shown)),
      };
    default: // sealed by the provider, or known only to it: whole, or folded with its answer
      return { compressed: item, structured: item, pointer: item };
  }
}

function compressedText({ item, text, handle, compressed }: Shown): string {
  const media = mediaWords(item);
  if (text.length < SHORT) return media === "" ? text : `${text}\n[${media.slice(3)} left out: ${handle}]`;
  const { text: shorter, leftOut } = compressed(text.length);
  if (media !== "") return `${shorter}\n[shortened${media} left out; all of it: ${handle}]`;
  return leftOut === "" ? shorter : `${shorter}\n[shortened, ${leftOut} left out; all of it: ${handle}]`;
}

/** Characters below which a text is its own compressed form. */
const SHORT = 512;

function structuredText(shown: Shown): string {
  const { item, kind, text, handle, facts, structured } = shown;
  if (structured !== undefined) return structured;
  if (kind === "bootstrap" || kind === "constraint") return directiveLines(text);
  if (item.kind === "output") return `[${facts}${mediaWords(item)} · all of it: ${handle}]`;
  const first = oneLine(text.split("\n").find((line) => line.trim() !== "" && !looksLikeCall(line)) ?? "");
  return `[begins: ${first} … ${lengthWords(text)}${mediaWords(item)}, all of it: ${handle}]`;
}

function pointerText({ item, text, handle, pointer }: Shown): string {
  if (pointer !== undefined) return pointer;
  const when = item.at === undefined ? "" : `${item.at}, `;
  if (item.kind === "output") return `[${item.status}, ${sizeWords(Buffer.byteLength(text))}, left out: ${handle}]`;
  return `[${when}${lengthWords(text)}, left out: ${handle}]`;
}

function lengthWords(text: string): string {
  return `${grouped(text.length)} characters`;
}

function mediaWords(item: Item): string {
  if (!("parts" in item)) return "";
  const media = item.parts.filter(({ type }) => type !== "text").length;
  return media === 0 ? "" : ` · ${media} ${media === 1 ? "image or file" : "images or files"}`;
}

/** The same item saying less. Without its original, which would be sent back untouched. */
function withText(item: Extract<Item, { readonly parts: readonly Part[] }>, text: string): Item {
  if (item.parts.length === 1 && item.parts[0]?.type === "text" && item.parts[0].text === text) return item;
  const { origin: _origin, ...rest } = item;
  const { value: _value, ...plain } = rest as OutputItem;
  return { ...plain, parts: [{ type: "text", text: head(text, LONGEST) }] } as Item;
}

/** No representation below full is longer, whatever a compressor answers. */
const LONGEST = 64_000;
