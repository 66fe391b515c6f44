import { type BlobName, isBlobName } from "../../records/ids.ts";
import type { RecordDraft } from "../../records/kinds.ts";
import type { JournalEntry } from "../prove.ts";

/** A record that names content which did not come along with its bundle: without it, something would seem to have been removed. */
const LEFT = "content-not-imported";
/** In one record. */
const MOST_NAMES = 1_000;

export function leftRecords(names: readonly BlobName[]): readonly RecordDraft[] {
  const records: RecordDraft[] = [];
  for (let at = 0; at < names.length; at += MOST_NAMES)
    records.push({ kind: "fault-raised", fault: LEFT, detail: { names: names.slice(at, at + MOST_NAMES) } });
  return records;
}

/** The content that such a record names. */
export function leftIn(entry: JournalEntry): readonly BlobName[] {
  if (entry.kind !== "fault-raised" || entry.fault !== LEFT) return [];
  const { names } = Object(entry.detail) as { readonly names?: unknown };
  return Array.isArray(names) ? names.filter((name) => typeof name === "string" && isBlobName(name)) : [];
}
