import { HoldfastError } from "../base/errors.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Entries } from "../journal/journal.ts";
import type { CallId, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { SliceEvent } from "../state/slice.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { Conversation } from "./conversation.ts";
import type { Decide } from "./decide.ts";
import type { Leaving } from "./leaving.ts";
import type { RunBudget } from "./limits.ts";
import type { SessionContext } from "./session-context.ts";
import type { ReadContent } from "./show-media.ts";
import type { Story } from "./story.ts";
import type { AskSomebody } from "./waiting.ts";
import type { Teller } from "./teller.ts";
import type { SessionWriteback } from "./writeback.ts";

/** What a turn walks on: a durable session, or a state with a log in memory. */
export interface Ground {
  readonly id: SessionId;
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly conversation: Conversation;
  /** The station that chooses what of the conversation a request shows. */
  readonly context: SessionContext;
  /** The station that checks prompt, tools and mode before every request. */
  readonly story: Story;
  /** Aborts when nothing can be written any more. */
  readonly signal: AbortSignal | undefined;
  /** Tells when it is about to be closed, and walks its turns to their end then. */
  readonly leaving?: Pick<Leaving, "closing" | "following">;
  /** Records and what they change in the state: durable together, or not at all. */
  write(drafts: readonly RecordDraft[], events?: readonly SliceEvent[], contents?: readonly NewBlob[]): Promise<void>;
  /** Prepares content for the records that will name it, without secrets where it is text. */
  stage(bytes: Uint8Array, mediaType: string | undefined): Promise<NewBlob>;
  readonly decide: Decide;
  /** What the session knows and must not lose. A state without a journal has none. */
  readonly writeback?: SessionWriteback;
  /** The newest record that is there. */
  readonly head: number;
  /** The record that last made the conversation another one: a rewind, or a boundary with a cut. */
  readonly rewrittenAt: number;
  /** What was written from there on. */
  readOn(from: number): Entries;
  /** Content that results and users brought, by name. */
  readonly content: ReadContent;
  /** Whether a call still waits for somebody. */
  waits(callId: CallId): boolean;
  /** Calls whose waiting is being ended, by a reply or without one. */
  readonly replies: Map<CallId, Promise<unknown>>;
  /** A turn is on its way. */
  running: boolean;
  /** What those that work for the turn share with it. */
  within?: { readonly budget: RunBudget; readonly ask: AskSomebody | undefined };
  /** Tells those who watch, when somebody does. */
  readonly teller?: Teller;
  /** Hears of a call that has ended, for grounds whose transactions do not write it down themselves. */
  closed?(outcome: CallOutcome): void;
}

/** One ground per state: a second turn must know what the first one said, and a session's state is its session's. */
export const grounds: WeakMap<ExecutionState, Ground> = new WeakMap();

/** A session runs one turn at a time, and is not taken back under one. */
export function refuseRunning({ running, id }: Pick<Ground, "running" | "id">): void {
  if (running) throw new HoldfastError("TURN_RUNNING", { session: id });
}

/** Reads what the journal has and the conversation has not. Asks the store only then: this writer knows the head. */
export async function catchUp(ground: Ground): Promise<void> {
  const { conversation, context, head } = ground;
  if (conversation.next <= head)
    await conversation.readOn(
      (from) => ground.readOn(from),
      (entry) => context.hear(entry),
    );
}
