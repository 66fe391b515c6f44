import type { Json } from "../base/json.ts";
import type { CheckpointNote } from "../journal/append-options.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { Epoch } from "./epochs.ts";
import type { KeptEffects, PlacedEffect } from "./kept-effects.ts";
import type { ToolBoundary } from "./tool-boundaries.ts";
import type { WaitingCall } from "./waiting.ts";

/** What a checkpoint keeps: the place of every part, and the fold up to there. */
export interface KeptState extends KeptEffects {
  readonly parts: Readonly<Record<string, KeptPart>>;
  readonly waiting?: readonly WaitingCall[];
  readonly inside?: readonly (readonly [string, CallId])[];
  readonly returning?: readonly CallId[];
  readonly boundaries: readonly ToolBoundary[];
  readonly epochs: readonly Epoch[];
  readonly rewrittenAt?: number;
  readonly history?: number;
}

/** Where a checkpoint keeps a part: a range of bytes in content of so many. */
export interface KeptPart extends Span {
  readonly policy: string;
  /** Where that can be told to a process that does not know the part. */
  readonly initial?: Json;
  /** Where it lies instead, when it is long: it never changes, and every checkpoint would say it again. */
  readonly initialAt?: Span;
}

/** A piece of content. */
export interface Span {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Of the whole content. */
  readonly size: number;
}

/** How the parts of a state are handed to the record of a checkpoint. */
export interface StateNote extends CheckpointNote {
  readonly parts?: KeptState["parts"];
  readonly blobs?: readonly BlobRef[];
  readonly effects?: ReadonlyMap<string, PlacedEffect>;
  /** How long conversation_history is, where records that were counted are gone. */
  readonly history?: number;
}

/** The kept state in a checkpoint, when it is one of ours. */
export function keptState(record: JournalEntry): KeptState | undefined {
  if (record.kind !== "checkpoint-kept") return undefined;
  const state = record.state as Partial<KeptState> | undefined;
  return state?.parts === undefined || state.epochs === undefined ? undefined : (state as KeptState);
}
