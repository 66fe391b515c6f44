import type { Appended, AppendOptions, CheckpointNote, Fold, Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { ReadOptions } from "../journal/read.ts";
import type { CallId, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { followCalls, openCallsIn, type Recovered, recover } from "./recover.ts";

/** A checkpoint after this many records keeps reopening as quick at the millionth record as at the first. */
const RECORDS_PER_CHECKPOINT = 256;

export type OpenCalls = ReadonlyMap<CallId, string>;

const checkpoint = (open: OpenCalls, note: CheckpointNote): RecordDraft => ({
  kind: "checkpoint-kept",
  openCalls: [...open].map(([callId, tool]) => ({ callId, tool })),
  ...note,
});

/** The open calls travel with the chain, so that a checkpoint can name them and recovery need not read further back. */
export const callsFold: Fold<OpenCalls> = {
  start: openCallsIn,
  step: followCalls,
  due: (open, sinceCheckpoint) => (sinceCheckpoint < RECORDS_PER_CHECKPOINT ? undefined : checkpoint(open, {})),
  checkpoint,
};

/** One conversation, open for writing. */
export class Session implements AsyncDisposable {
  readonly id: SessionId;
  readonly journal: Journal<OpenCalls>;
  /** What opening had to repair. */
  readonly recovered: Recovered;

  private constructor(journal: Journal<OpenCalls>, recovered: Recovered) {
    this.id = journal.session;
    this.journal = journal;
    this.recovered = recovered;
  }

  static async resume(journal: Journal<OpenCalls>): Promise<Session> {
    const session = new Session(journal, await recover(journal));
    if (journal.head.seq === 0) await session.append({ kind: "session-created", session: journal.session });
    return session;
  }

  get openCalls(): readonly CallId[] {
    return [...this.journal.folded.keys()];
  }

  append(drafts: RecordDraft | readonly RecordDraft[], options?: AppendOptions): Promise<Appended> {
    return this.journal.append(drafts, options);
  }

  /** Keeps a point that retention may cut at and that opening need not read beyond. */
  checkpoint(note: CheckpointNote = {}): Promise<Appended> {
    return this.journal.append([], { checkpoint: note });
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
