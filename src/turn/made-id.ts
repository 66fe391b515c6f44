import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import type { Item } from "../wire/item.ts";

const MADE = "made-";
/** Behind what it was made for, where that is known. */
const MADE_FOR = "-for-";

/** An item that repair made has no place in the journal, and is made the same way each time. */
export function madeId(item: Item, place?: string): string {
  const { origin: _origin, ...rest } = item;
  const made = `${MADE}${canonicalHash(rest as unknown as Json).slice(0, 16)}`;
  return place === undefined ? made : `${made}${MADE_FOR}${place}`;
}

export function isMade(id: string): boolean {
  return id.startsWith(MADE);
}

/** The place in the journal that a page stands for, its own or that of what it was made for. */
export function placeIn(id: string): string | undefined {
  if (!isMade(id)) return id;
  const at = id.indexOf(MADE_FOR);
  return at === -1 ? undefined : id.slice(at + MADE_FOR.length);
}

/** Whether a place is this one or before it. Numbers behind the point have no leading zeros. */
export function isThrough(place: string, through: string): boolean {
  const [record = "", nth = 0] = place.split(".");
  const [lastRecord = "", lastNth = 0] = through.split(".");
  return record < lastRecord || (record === lastRecord && Number(nth) <= Number(lastNth));
}
