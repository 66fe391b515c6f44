import type { SealedRecord } from "../records/chain.ts";
import { decodeOwn } from "../records/codec.ts";
import type { JournalEntry } from "./prove.ts";

/** A turn's step is a few records; whoever is further behind reads the store. What is remembered is copied by every sweep of memory. */
const MOST = 64;
/** Of their bodies. */
const MOST_CHARACTERS = 1024 * 1024;

/** The newest records that this writer knows to be durable, without a gap. */
export class NewestRecords {
  #records: SealedRecord[] = [];
  #characters = 0;

  add(records: readonly SealedRecord[]): void {
    const [first] = records;
    if (first === undefined) return;
    // Answers may come in another order than the commits: what does not follow is begun anew.
    if (first.seq !== (this.#records.at(-1)?.seq ?? 0) + 1) this.#forget();
    for (const record of records) {
      this.#records.push(record);
      this.#characters += record.body?.length ?? 0;
    }
    while (this.#records.length > MOST || this.#characters > MOST_CHARACTERS)
      this.#characters -= this.#records.shift()?.body?.length ?? 0;
  }

  /** Undefined when not all of them are remembered. */
  since(from: number, to: number): readonly JournalEntry[] | undefined {
    const [first] = this.#records;
    if (first === undefined || first.seq > from || this.#records.at(-1)?.seq !== to) return undefined;
    return this.#records.slice(from - first.seq).map(decodeOwn);
  }

  #forget(): void {
    this.#records = [];
    this.#characters = 0;
  }
}
