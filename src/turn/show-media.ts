import type { Bytes } from "../contracts/blob-store.ts";
import { HoldfastError } from "../base/errors.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import type { KeptResultPart } from "../records/kinds.ts";
import type { Item, MediaSource, Part } from "../wire/item.ts";

/** Reads content that lies beside the journal. */
export type ReadContent = (name: BlobName) => AsyncIterable<Bytes>;

/** Content that a request was to show and that could not be read. */
export interface UnreadMedia {
  readonly name: string;
  readonly mediaType: string;
  readonly code: string;
}

/** A kept result as the parts of an item. What is no text stays where it lies until a request shows it. */
export function resultItemParts(kept: readonly KeptResultPart[]): readonly Part[] {
  return kept.map((part): Part => {
    const { type, text = "", mediaType = "application/octet-stream", blob, name } = part;
    if (type === "text" || blob === undefined) return { type: "text", text };
    return { type, media: { mediaType, blob, ...(name === undefined ? {} : { name }) } };
  });
}

/**
 * Station: pictures and files of a view, fetched. Only what the view shows whole is read; content that is gone or
 * damaged is told to the model in words, and to the caller.
 */
export class MediaStation {
  readonly #read: ReadContent;
  /** Items without any. Mostly the next view begins with them, and they are not looked at again. */
  #plain: readonly Item[] = [];

  constructor(read: ReadContent) {
    this.#read = read;
  }

  async show(
    items: readonly Item[],
  ): Promise<{ readonly items: readonly Item[]; readonly unread: readonly UnreadMedia[] }> {
    const unread: UnreadMedia[] = [];
    const first = this.#firstWithMedia(items);
    this.#plain = first === items.length ? items : items.slice(0, first);
    if (first === items.length) return { items, unread };
    const shown = items.slice(0, first);
    for (const item of items.slice(first)) {
      if (!holdsMedia(item)) shown.push(item);
      else
        shown.push({ ...item, parts: await Promise.all(item.parts.map((part) => fetched(part, this.#read, unread))) });
    }
    return { items: shown, unread };
  }

  #firstWithMedia(items: readonly Item[]): number {
    let at = 0;
    while (at < items.length && (items[at] === this.#plain[at] || !holdsMedia(items[at] as Item))) at += 1;
    return at;
  }
}

type WithParts = Extract<Item, { readonly parts: readonly Part[] }>;

function holdsMedia(item: Item): item is WithParts {
  return "parts" in item && item.parts.some((part) => "media" in part && part.media.blob !== undefined);
}

async function fetched(part: Part, read: ReadContent, unread: UnreadMedia[]): Promise<Part> {
  if (!("media" in part) || part.media.blob === undefined) return part;
  const { blob, ...media } = part.media;
  try {
    return { ...part, media: { ...media, base64: (await bytesOf(blob, read)).toString("base64") } };
  } catch (error) {
    const code = HoldfastError.is(error) ? error.code : "unreadable";
    const { mediaType = part.type } = media;
    unread.push({ name: blob.name, mediaType, code });
    return { type: "text", text: `[${mediaType}, ${blob.size} bytes: it could not be read (${code}).]` };
  }
}

export async function bytesOf({ name }: NonNullable<MediaSource["blob"]>, read: ReadContent): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(read(toBlobName(name))));
}
