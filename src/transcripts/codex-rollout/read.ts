import type { Fields, Piece, Reading } from "../format.ts";
import { readItem, TYPES } from "../openai-responses/read.ts";
import { isFields, textOf } from "../skeleton.ts";
import type { Path } from "../text/edit.ts";

/** The Responses item of a record and where it stands; nothing for events, which repeat what items say. */
export function itemOf(record: Fields): { readonly item: Fields; readonly path: Path } | undefined {
  if (record["type"] === "response_item") {
    return isFields(record["payload"]) ? { item: record["payload"], path: ["payload"] } : undefined;
  }
  const bare = TYPES.has(textOf(record["type"]) ?? "") && !("payload" in record);
  return bare ? { item: record, path: [] } : undefined;
}

export function readRecord(record: Fields): Reading | undefined {
  const found = itemOf(record);
  const reading = found === undefined || !TYPES.has(String(found.item["type"])) ? undefined : readItem(found.item);
  if (found === undefined || reading === undefined) return undefined;
  const pieces = reading.pieces.map((piece): Piece => {
    const ids = piece.ids.map((path) => [...found.path, ...path]);
    return { ...piece, ids };
  });
  return { ...reading, pieces };
}
