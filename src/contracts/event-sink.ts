import type { Instant } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { SessionId } from "../records/ids.ts";
import type { RecordKind } from "../records/kinds.ts";

/** Whoever wants to know what happens in sessions: a tracer, a log, a counter. */
export interface EventSink {
  /**
   * Hears of every event once, in the order of the session. What it throws, rejects or never answers changes nothing: it
   * is not waited for. It gets data that it may keep, and that nobody can change.
   */
  emit(event: KernelEvent): unknown;
  /** Which kinds it wants to hear of, asked each time. An event that nobody hears of is only counted. Without it: all. */
  hears?(kind: KernelEvent["kind"]): boolean;
}

/** What happens beside the journal: when something was begun, how long it took, what was mended on the way. */
export type MomentKind =
  | "session-opened"
  | "session-closed"
  | "turn-begun"
  | "turn-over"
  | "request-begun"
  | "request-over"
  | "prompt-healed"
  | "context-reclaimed"
  /** A model was asked beside the conversation: for a shorter text, for a summary. */
  | "aside-over"
  | "call-rerun"
  | "checkpoint-failed"
  | "upkeep-failed";

/** Whose doing an event is. `unknown`: of a kind that this version has no name for. */
export type EventSource = "session" | "user" | "model" | "tool" | "context" | "catalog" | "state" | "unknown";

/**
 * One thing that happened, by the name of the record that tells of it, when it is durable; or a moment that no record
 * tells of. A call that ended, however it ended, is `call-closed`: the seed's `ToolInvoked`.
 */
export interface KernelEvent {
  readonly kind: RecordKind | MomentKind;
  readonly source: EventSource;
  /** Counts the events of its source in this session and process, from 1 and without gaps, whether a sink hears them or not. */
  readonly nth: number;
  readonly session: SessionId;
  readonly at: Instant;
  /** The record, when there is one. */
  readonly seq?: number;
  /** Ids, names, sizes, counts and times; never what somebody said. */
  readonly facts: { readonly [name: string]: Json | undefined };
  /** What was said, without secrets, when somebody asked for it. */
  readonly content?: Json;
}
