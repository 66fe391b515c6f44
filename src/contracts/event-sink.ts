import type { Instant } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { SessionId } from "../records/ids.ts";
import type { RecordKind } from "../records/kinds.ts";

/** Receives events about what happens in sessions: for a tracer, a log, a counter. */
export interface EventSink {
  /**
   * Called once for every event, in the order of the session. It is not waited for; if it throws, rejects or never
   * resolves, nothing else changes. The event is frozen, and may be kept.
   */
  emit(event: KernelEvent): unknown;
  /** Whether the sink wants this kind; asked each time. Events that no sink wants are only counted. Default: all. */
  hears?(kind: KernelEvent["kind"]): boolean;
}

/** Events that no record describes: when something began, how long it took, what was repaired on the way. */
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

/** Who or what caused an event. `unknown`: it is of a kind that this version does not know. */
export type EventSource = "session" | "user" | "model" | "tool" | "context" | "catalog" | "state" | "unknown";

/**
 * One thing that happened: a record that is now durable, under its kind, or a moment that no record describes. A call
 * that ended, however it ended, is `call-closed`: the seed's `ToolInvoked`. Of a call that can leave nothing outside the
 * opening is told when it is written: a loss of power before its end may take it, and its `seq` is then another record's.
 */
export interface KernelEvent {
  readonly kind: RecordKind | MomentKind;
  readonly source: EventSource;
  /** Its number among the events of its source in this session and process: from 1, without gaps, heard or not. */
  readonly nth: number;
  readonly session: SessionId;
  readonly at: Instant;
  /** The sequence number of the record, if there is one. */
  readonly seq?: number;
  /** Ids, names, sizes, counts and times; never what somebody said. */
  readonly facts: { readonly [name: string]: Json | undefined };
  /** What was said, without secrets. Present only with `telemetry.content`. */
  readonly content?: Json;
}
