import { asText, type Fields, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { RESPONSE_TYPES as TYPES, responseItems } from "../response-items.ts";
import type { Path } from "../../base/text/edit.ts";

/** The Responses item of a record and where it stands; nothing for events, which repeat what items say. */
export function itemOf(record: Fields): { readonly item: Fields; readonly path: Path } | undefined {
  if (record["type"] === "response_item") {
    return isFields(record["payload"]) ? { item: record["payload"], path: ["payload"] } : undefined;
  }
  const bare = TYPES.has(asText(record["type"]) ?? "") && !("payload" in record);
  return bare ? { item: record, path: [] } : undefined;
}

export function recordReader(): (record: Fields) => Reading | undefined {
  const read = responseItems();
  return (record) => readRecord(record, read);
}

function readRecord(record: Fields, read: ReturnType<typeof responseItems>): Reading | undefined {
  const found = itemOf(record);
  const reading = found === undefined || !TYPES.has(String(found.item["type"])) ? undefined : read(found.item);
  if (found === undefined || reading === undefined) return undefined;
  // Codex decides itself which reasoning it sends again; what an interruption left behind is not at fault.
  const pieces = reading.pieces.filter(({ item }) => item.kind !== "reasoning" && item.kind !== "other");
  return { ...reading, pieces: pieces.map((piece) => placed(piece, found.path)) };
}

function placed(piece: Piece, path: Path): Piece {
  return { ...piece, ids: piece.ids.map((id) => [...path, ...id]) };
}
