import type { Item, Origin, WireFormat } from "../item.ts";
import type { Decoded, Malformed } from "./codec.ts";
import { withParts } from "./loose-parts.ts";
import { type Fields, isFields } from "../../base/fields.ts";
import { type Read } from "./read.ts";

/** Reads messages one by one; a message that yields no item is malformed, never skipped in silence. */
export function decodeWith(
  format: WireFormat,
  messages: readonly unknown[],
  read: (message: Fields, at: number) => readonly Read[] | string,
): Decoded {
  const items: Item[] = [];
  const malformed: Malformed[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const given = messages[at];
    const message = isFields(given) ? withParts(given, format) : given;
    const found = isFields(message) ? read(message, at) : "not an object";
    if (typeof found === "string") {
      malformed.push({ at, why: found });
      continue;
    }
    for (let nth = 0; nth < found.length; nth += 1) {
      const { item, pieces } = found[nth] as Read;
      // The item was made a moment ago and nobody else has seen it: a copy of each would cost more than reading it.
      const origin = { format, message: message as object, at, pieces, nth, of: found.length };
      (item as { origin?: Origin }).origin = message === given ? origin : { ...origin, mended: true };
      items.push(item);
    }
  }
  return { items, malformed };
}
