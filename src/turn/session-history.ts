import { sha256 } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { OneByOne } from "../base/one-by-one.ts";
import { CallIndex } from "../history/call-index.ts";
import type { CallRecord } from "../history/call-record.ts";
import type { HistoryGlance } from "../history/history-block.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";

/** Records of the journal between two that are needed: reading them costs less than asking a second time. */
const GAP = 64;

type Reading = Pick<Journal, "read" | "head">;

/** The history of a session's calls for its programs: an index that is kept up to date, and records that are read when asked for. */
export class SessionHistory {
  readonly #journal: Reading;
  readonly #index = new CallIndex();
  /** Where programs were given, by their digest. */
  readonly #programs = new Map<string, number>();
  #next = 1;
  readonly #reading = new OneByOne();

  constructor(journal: Reading) {
    this.#journal = journal;
  }

  /** As of now: calls that are still open are not in it. */
  async upToNow(): Promise<HistoryGlance> {
    await this.#reading.run(() => this.#readOn());
    return this.#index.glance;
  }

  /** From the first up to, and without, the second: as many as that are there. */
  async records(from: number, to: number): Promise<readonly CallRecord[]> {
    const entries = new Map<number, Exclude<JournalEntry, { readonly kind: "damaged" }>>();
    for (const span of spansOf(this.#index.needs(from, to)))
      for await (const entry of this.#journal.read(span)) if (entry.kind !== "damaged") entries.set(entry.seq, entry);
    return this.#index.tell(from, to, entries);
  }

  /** What a call returned, or why that cannot be told: never an empty answer. */
  async content(seq: number): Promise<Json> {
    const entry = await this.#at(seq);
    if (entry?.kind === "call-closed")
      return { ok: true, value: entry.output ?? (entry.parts as Json | undefined) ?? null };
    if (entry?.kind === "dropped") return { ok: false, code: "dropped", message: entry.reason };
    if (entry?.kind === "damaged") return { ok: false, code: "corrupt", message: entry.detail };
    const gone = this.#index.whyGone(seq);
    if (gone !== undefined && seq > 0) return { ok: false, code: "dropped", message: gone };
    return { ok: false, code: "no-match", message: `Record ${seq} does not belong to a call that has ended.` };
  }

  /** The program with this digest, when a call of this session gave it, and it is still as it was. */
  async program(digest: string): Promise<string | undefined> {
    const entry = await this.#at(this.#programs.get(digest) ?? 0);
    const code = entry?.kind === "call-opened" ? codeIn(entry.args) : undefined;
    return code !== undefined && sha256(code) === digest ? code : undefined;
  }

  async #at(seq: number): Promise<JournalEntry | undefined> {
    if (!(Number.isSafeInteger(seq) && seq > 0 && seq <= this.#journal.head.seq)) return undefined;
    for await (const entry of this.#journal.read({ from: seq, to: seq })) return entry;
    return undefined;
  }

  async #readOn(): Promise<void> {
    const to = this.#journal.head.seq;
    if (this.#next > to) return;
    for await (const entry of this.#journal.read({ from: this.#next, to })) {
      this.#next = Math.max(this.#next, (entry.kind === "damaged" ? entry.through : entry.seq) + 1);
      if (entry.kind === "damaged") continue;
      this.#index.take(entry);
      const code = entry.kind === "call-opened" && entry.tool === RUN_CODE ? codeIn(entry.args) : undefined;
      if (code !== undefined) this.#programs.set(sha256(code), entry.seq);
    }
  }
}

/** The name of the tool, and what it may not call: itself. */
export const RUN_CODE = "run_code";

function codeIn(args: Json): string | undefined {
  const { code } = (args ?? {}) as { readonly code?: Json };
  return typeof code === "string" ? code : undefined;
}

/** Neighbours are read at once. */
function spansOf(seqs: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (const seq of seqs) {
    const last = spans.at(-1);
    if (last !== undefined && seq - last.to <= GAP) last.to = seq;
    else spans.push({ from: seq, to: seq });
  }
  return spans;
}
