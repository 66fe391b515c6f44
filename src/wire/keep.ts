import { asList, fieldsOf } from "../base/fields.ts";
import type { Json } from "../base/json.ts";
import type { Item, Origin, Part, WireFormat } from "./item.ts";
import { keptItemsFault } from "./kept-shape.ts";
import { readMessages } from "./project.ts";

/**
 * Items in the form in which a journal keeps them: plain JSON that holds each provider's message once, however many
 * items were read from it.
 */
export interface KeptItems {
  readonly originals: readonly { readonly format: WireFormat; readonly message: object }[];
  readonly items: readonly KeptItem[];
}

/** An item without its original. `from` says from which original it was read, and as which of how many items. */
export type KeptItem = Omit<Item, "origin"> & { readonly from?: readonly [original: number, nth: number, of: number] };

/**
 * Turns items into the form that a journal keeps. Written as plain JSON without it, each item would carry a copy of its
 * message, and items of one message would come back as several: the calls of one answer would be split up, and refused.
 */
export function keepItems(items: readonly Item[]): KeptItems {
  const places = new Map<object, number>();
  const originals: { readonly format: WireFormat; readonly message: object }[] = [];
  const kept = items.map((item): KeptItem => {
    const { origin, ...rest } = item;
    if (origin === undefined) return rest;
    const { format, message, nth, of } = origin;
    const place = places.get(message) ?? originals.push({ format, message }) - 1;
    places.set(message, place);
    return { ...withoutPieces(rest, origin), from: [place, nth, of] };
  });
  return { originals, items: kept };
}

/**
 * Reads kept items back and ties each to its original, so that untouched messages are sent as they came. If the kept
 * value is not valid, the result is one item that says so.
 */
export function unkeepItems(kept: KeptItems): readonly Item[] {
  const fault = keptItemsFault(kept as unknown as Json, "items");
  if (fault !== undefined)
    return [{ kind: "assistant", parts: [{ type: "text", text: `[This cannot be read: ${fault}.]` }] }];
  const { originals, items } = kept;
  const read = originals.map(({ format, message }) => readMessages([message], format).items);
  return items.map(({ from, ...item }) => {
    const source = from === undefined ? undefined : read[from[0]]?.[from[1]];
    // A later version may cut a message into other items: then each stands for itself, without an original.
    if (source?.origin === undefined || source.origin.of !== from?.[2]) return item as Item;
    return { ...withPieces(item as Item, source), origin: source.origin };
  });
}

/** A part is a piece of its item's original, so its own copy of the piece need not be kept. */
function withoutPieces(item: Omit<Item, "origin">, { pieces, message }: Origin): KeptItem {
  if (!("parts" in item)) return item;
  const own = new Set<unknown>([...pieces, ...asList(fieldsOf(message)["content"])]);
  const parts = (item.parts as readonly Part[]).map((part) => {
    if (part.type === "other" || part.origin === undefined || !own.has(part.origin.piece)) return part;
    const { origin: _origin, ...plain } = part;
    return plain;
  });
  return { ...item, parts } as KeptItem;
}

function withPieces(item: Item, source: Item): Item {
  if (!("parts" in item) || !("parts" in source)) return item;
  const parts = item.parts.map((part, at): Part => {
    const origin = source.parts[at]?.origin;
    const same = origin !== undefined && source.parts[at]?.type === part.type && part.origin === undefined;
    return same ? ({ ...part, origin } as Part) : part;
  });
  return { ...item, parts } as Item;
}
