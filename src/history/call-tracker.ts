import type { DroppedRecord } from "../records/codec.ts";
import type { JournalRecord } from "../records/kinds.ts";
import type { CallBeginning } from "./call-record.ts";

type Kind<K extends JournalRecord["kind"]> = Extract<JournalRecord, { readonly kind: K }>;

/** A record that conversation_history tells of, with what is known of how it began. */
export type Told =
  | { readonly kind: "said"; readonly said: Kind<"user-said"> }
  | { readonly kind: "ended"; readonly closed: Kind<"call-closed">; readonly begun: CallBeginning };

/**
 * Follows a journal and says which of its records are told of: everything the user said, and every call once, when it has
 * ended. It holds what is open and the names of what is closed, and nothing of what was said.
 */
export class CallTracker {
  readonly #open = new Map<string, CallBeginning>();
  readonly #closed = new Set<string>();
  #turn: number | undefined;

  take(record: JournalRecord | DroppedRecord): Told | undefined {
    switch (record.kind) {
      case "user-said":
        this.#turn = record.seq;
        return { kind: "said", said: record };
      case "call-opened": {
        const depth = record.parent === undefined ? 0 : (this.#open.get(record.parent)?.depth ?? 0) + 1;
        this.#open.set(record.callId, { opened: record, depth, ...this.#during() });
        return undefined;
      }
      case "call-closed":
        return this.#close(record);
      default:
        return undefined;
    }
  }

  #close(closed: Kind<"call-closed">): Told | undefined {
    const { callId } = closed;
    if (this.#closed.has(callId)) return undefined;
    const begun = this.#open.get(callId) ?? { depth: 0, ...this.#during() };
    this.#open.delete(callId);
    this.#closed.add(callId);
    return { kind: "ended", closed, begun };
  }

  #during(): { readonly turn?: number } {
    return this.#turn === undefined ? {} : { turn: this.#turn };
  }
}
