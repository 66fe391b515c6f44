import type { Appended, AppendOptions, Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { ReadOptions } from "../journal/read.ts";
import type { CallId, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { openCallsIn, type Recovered, recover } from "./recover.ts";

/** A checkpoint after this many records keeps reopening as quick at the millionth record as at the first. */
const RECORDS_PER_CHECKPOINT = 256;

/** One conversation, open for writing. */
export class Session implements AsyncDisposable {
  readonly id: SessionId;
  readonly journal: Journal;
  /** What opening had to repair. */
  readonly recovered: Recovered;
  readonly #openCalls: Map<CallId, string>;
  #sinceCheckpoint: number;

  private constructor(journal: Journal, recovered: Recovered) {
    this.id = journal.session;
    this.journal = journal;
    this.recovered = recovered;
    this.#openCalls = new Map(openCallsIn(journal.opened.tail));
    for (const callId of recovered.closedCalls) this.#openCalls.delete(callId);
    this.#sinceCheckpoint = journal.opened.tail.length;
  }

  static async resume(journal: Journal): Promise<Session> {
    const recovered = await recover(journal);
    const session = new Session(journal, recovered);
    if (journal.head.seq === 0) await session.append({ kind: "session-created", session: journal.session });
    return session;
  }

  get openCalls(): readonly CallId[] {
    return [...this.#openCalls.keys()];
  }

  append(drafts: RecordDraft | readonly RecordDraft[], options?: AppendOptions): Promise<Appended> {
    const batch: RecordDraft[] = Array.isArray(drafts) ? [...drafts] : [drafts as RecordDraft];
    const open = new Map(this.#openCalls);
    for (const draft of batch) follow(open, draft);
    const checkpoint = this.#sinceCheckpoint + batch.length >= RECORDS_PER_CHECKPOINT;
    if (checkpoint)
      batch.push({ kind: "checkpoint-kept", openCalls: [...open].map(([callId, tool]) => ({ callId, tool })) });
    const appended = this.journal.append(batch, options);
    // Taken back if it fails: the next attempt may be another one.
    const before = { open: new Map(this.#openCalls), since: this.#sinceCheckpoint };
    for (const draft of batch) follow(this.#openCalls, draft);
    this.#sinceCheckpoint = checkpoint ? 1 : this.#sinceCheckpoint + batch.length;
    appended.catch(() => {
      this.#openCalls.clear();
      for (const [callId, tool] of before.open) this.#openCalls.set(callId, tool);
      this.#sinceCheckpoint = before.since;
    });
    return appended;
  }

  read(options?: ReadOptions): AsyncIterable<JournalEntry> {
    return this.journal.read(options);
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function follow(open: Map<CallId, string>, draft: RecordDraft): void {
  if (draft.kind === "call-opened") open.set(draft.callId, draft.tool);
  else if (draft.kind === "call-closed") open.delete(draft.callId);
}
