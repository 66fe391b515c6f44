import { isFields } from "../base/fields.ts";
import type { DroppedRecord } from "../records/codec.ts";
import type { JournalRecord } from "../records/kinds.ts";
import { type CallRecord, callRecord, REQUIRED_FIELDS, userRecord } from "./call-record.ts";
import { CallTracker, type Told } from "./call-tracker.ts";

/** What remains of a record that was dropped, or of the records that retention cut off. */
export interface Tombstone {
  /** The dropped record; for a cut, the record that reports it. */
  readonly seq: number;
  readonly at: string;
  /** The kind of the dropped record; `records` for a cut. */
  readonly was: string;
  readonly reason: string;
  /** For a cut: how many records were cut off, and the number of the last of them (`through`). */
  readonly records?: number;
  readonly through?: number;
}

/** Records that a call, or what the user said, is told from. */
const TELLS: ReadonlySet<string> = new Set(["user-said", "call-opened", "call-closed"]);

/**
 * Reads the call records of a session off its journal, record by record. A call has exactly one closing record, so it
 * has exactly one call record, however it ended. Nothing is stored twice.
 */
export class CallRecords {
  readonly #records: CallRecord[] = [];
  readonly #tracker = new CallTracker();
  readonly #tombstones: Tombstone[] = [];

  /** Reads the next record of the journal. */
  take(record: JournalRecord | DroppedRecord): void {
    if (record.kind === "dropped") return this.#dropped(record);
    if (record.kind === "history-cut") {
      const { seq, at, reason, records: count, through } = record;
      this.#tombstones.push({ seq, at, was: "records", reason, records: count, through });
    }
    const told = this.#tracker.take(record);
    if (told !== undefined) this.#records.push(recordOf(told));
  }

  /** What was dropped or cut off, and why. */
  get tombstones(): readonly Tombstone[] {
    return this.#tombstones;
  }

  #dropped({ seq, at, was, reason }: DroppedRecord): void {
    if (TELLS.has(was)) this.#tombstones.push({ seq, at, was, reason });
  }

  /** The records that programs see as `context.conversation_history`, oldest first. */
  get all(): readonly CallRecord[] {
    return this.#records;
  }
}

function recordOf(told: Told): CallRecord {
  return told.kind === "said" ? userRecord(told.said) : callRecord(told.closed, told.begun);
}

/** The call records of a whole journal, oldest first. */
export function callRecords(journal: Iterable<JournalRecord>): readonly CallRecord[] {
  const records = new CallRecords();
  for (const record of journal) records.take(record);
  return records.all;
}

/**
 * The call records found in an import, and the entries that are not call records (`quarantined`), kept as they were.
 */
export interface ImportedRecords {
  readonly records: readonly CallRecord[];
  readonly quarantined: readonly { readonly at: number; readonly value: unknown; readonly why: string }[];
}

/**
 * Reads call records from kept data. Nothing is thrown away: what is not a record is set aside, and unknown fields are
 * kept.
 */
export function importCallRecords(kept: unknown): ImportedRecords {
  if (kept === undefined || kept === null) return { records: [], quarantined: [] };
  if (!Array.isArray(kept)) return { records: [], quarantined: [{ at: 0, value: kept, why: "not a list of records" }] };
  const records: CallRecord[] = [];
  const quarantined: { at: number; value: unknown; why: string }[] = [];
  for (const [at, value] of kept.entries()) {
    const why = faultIn(value);
    if (why === undefined) records.push(value as CallRecord);
    else quarantined.push({ at, value, why });
  }
  return { records, quarantined };
}

const FORMS: Readonly<Record<(typeof REQUIRED_FIELDS)[number], (value: unknown) => boolean>> = {
  call_id: isText,
  timestamp: (value) => isText(value) && !Number.isNaN(Date.parse(value as string)),
  speaker: (value) => value === "user" || value === "agent" || value === "tool",
  method_name: isText,
  args: Array.isArray,
  kwargs: isFields,
  outcome_summary: (value) => isFields(value) && typeof value["ok"] === "boolean",
};

function faultIn(value: unknown): string | undefined {
  if (!isFields(value)) return "not a record";
  const wrong = REQUIRED_FIELDS.find((field) => !Object.hasOwn(value, field) || !FORMS[field](value[field]));
  return wrong === undefined ? undefined : `${wrong} is ${Object.hasOwn(value, wrong) ? "malformed" : "missing"}`;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
