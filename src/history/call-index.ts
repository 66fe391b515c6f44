import type { DroppedRecord } from "../records/codec.ts";
import type { JournalRecord } from "../records/kinds.ts";
import { type CallRecord, callRecord, goneRecord, userRecord } from "./call-record.ts";
import { CallTracker, type Told } from "./call-tracker.ts";
import { type HistoryGlance, type HistoryLine, SUMMARIES } from "./history-block.ts";

/** Where a record of conversation_history is told from. */
interface Place {
  /** The record that ended the call, or what the user said. */
  readonly seq: number;
  /** The one that opened it; 0 when that is not there. */
  readonly opened: number;
  readonly depth: number;
  readonly turn: number;
}

type Entry = JournalRecord | DroppedRecord;

/**
 * The order of a session's history, and where in the journal each of its records is told from: a few numbers for each, so
 * that a history of any length can be read piece by piece.
 */
export class CallIndex {
  readonly #tracker = new CallTracker();
  #places: Place[] = [];
  #newest: HistoryLine[] = [];
  #cut: { readonly through: number; readonly reason: string } | undefined;

  take(entry: Entry): void {
    if (entry.kind === "history-cut") this.#forget(entry);
    const told = this.#tracker.take(entry);
    if (told === undefined) return;
    this.#places.push(placeOf(told));
    this.#newest = [...this.#newest, lineOf(told)].slice(-SUMMARIES);
  }

  /** Why a record that was there is not any more, when retention has cut it off. */
  whyGone(seq: number): string | undefined {
    return this.#cut !== undefined && seq <= this.#cut.through ? this.#cut.reason : undefined;
  }

  /** Retention may have cut while the session was open. */
  #forget({ through, reason }: { readonly through: number; readonly reason: string }): void {
    this.#cut = { through, reason };
    this.#places = this.#places.filter(({ seq }) => seq > through);
  }

  get glance(): HistoryGlance {
    return { size: this.#places.length, newest: this.#newest };
  }

  /** Which records of the journal are needed to tell these: from the first up to, and without, the second. */
  needs(from: number, to: number): readonly number[] {
    const seqs = this.#places.slice(from, to).flatMap(({ seq, opened }) => (opened === 0 ? [seq] : [opened, seq]));
    return seqs.toSorted((a, b) => a - b);
  }

  /** The same, told from those records. One that went in the meantime is told as that: the others keep their places. */
  tell(from: number, to: number, entries: ReadonlyMap<number, Entry>): readonly CallRecord[] {
    return this.#places.slice(from, to).map(({ seq, opened, depth, turn }) => {
      const entry = entries.get(seq);
      if (entry?.kind === "user-said") return userRecord(entry);
      if (entry?.kind !== "call-closed") return goneRecord(seq, entry?.kind === "dropped" ? entry : undefined);
      const opening = entries.get(opened);
      return callRecord(entry, {
        depth,
        ...(turn === 0 ? {} : { turn }),
        ...(opening?.kind === "call-opened" ? { opened: opening } : {}),
      });
    });
  }
}

function placeOf(told: Told): Place {
  if (told.kind === "said") return { seq: told.said.seq, opened: 0, depth: 0, turn: told.said.seq };
  const { opened, depth, turn = 0 } = told.begun;
  return { seq: told.closed.seq, opened: opened?.seq ?? 0, depth, turn };
}

function lineOf(told: Told): HistoryLine {
  if (told.kind === "said") return { call_id: `user-${told.said.seq}`, method_name: "run", status: "ok" };
  const { callId, tool, status } = told.closed;
  return { call_id: callId, method_name: tool, status: status === "success" ? "ok" : "error" };
}
