import type { Json, JsonObject } from "../base/json.ts";
import type { CallEffects, KeptResultPart, OutputStatus, UndoStage } from "../records/kinds.ts";
import type { Content, RootChange } from "../state/part.ts";
import type { EffectEntry } from "./effect.ts";
import type { ResultPart } from "./result-parts.ts";
import type { AttemptFailure } from "./validators.ts";

/** What a ledger writes when a call is opened. */
export interface OpenedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  /** Where in the arguments a value was changed to make it JSON, as in `$.a[2]`. */
  readonly coerced?: readonly string[];
  readonly alias?: string;
  readonly epoch?: number;
  readonly parent?: string;
}

/** What a ledger writes when a call ends. */
export interface ClosedCall {
  readonly callId: string;
  readonly tool: string;
  readonly status: OutputStatus;
  readonly reason?: string;
  readonly output?: Json;
  /** Instead of `output`: a result of several parts. `contents` holds the content that they name. */
  readonly parts?: readonly KeptResultPart[];
  readonly contents?: readonly Content[];
  readonly effects: CallEffects;
  readonly attemptFailures?: readonly AttemptFailure[];
  /** The fields that the tool added with `call.note`. */
  readonly notes?: JsonObject;
}

/** What was said of a call by those who are not us. */
export interface SaidOfCall {
  readonly output: Json;
  readonly parts?: readonly ResultPart[];
  readonly payload?: Json;
  readonly notes?: JsonObject;
  readonly attemptFailures?: readonly AttemptFailure[];
}

/** Where effects are written down. */
export interface EffectLedger {
  /** Called before the effect runs. */
  effectOpened(effect: EffectEntry): Promise<void>;
  /** Called when the effect has run. */
  effectDone(effect: EffectEntry, result: Json): Promise<void>;
  /** Called when another call relies on the effect, too. */
  effectJoined(effect: EffectEntry, callId: string): Promise<void>;
  /** Called when a call that goes on, or is about to end, does not rely on the effect any more. */
  effectLeft(effect: EffectEntry, callId: string): Promise<void>;
  /** Called before an undo is tried, and again when it is known how it went. */
  effectUndone(effect: EffectEntry, how: UndoStage, detail?: string): Promise<void>;
}

/** Where a transaction writes down what it does. If it rejects, nothing was written, unless it is `unsure`. */
export interface Ledger extends EffectLedger {
  /** True once something was rejected that may have been written anyway. */
  readonly unsure?: boolean;
  /**
   * Whether a call with this id has ended and you can go back to it. Without it, only this process's memory is asked.
   */
  knows?(callId: string): boolean;
  /** Whether a call with this id is open and waits for somebody, so that nobody else may begin it. */
  waits?(callId: string): boolean;
  /**
   * Called before the handler runs. `traceless`: whatever the call does is nowhere before its end is written, so a loss of
   * power that takes its opening takes all of it, and the opening need not be safe from that.
   */
  opened(call: OpenedCall, how: { readonly traceless: boolean }): Promise<void>;
  /** Writes the end of a call and of the calls inside it, with everything they changed: all of it or nothing. */
  closed(calls: readonly ClosedCall[], change: RootChange): Promise<void>;
  /** The outcome as it was written down, for whoever asked for the call. Without it, as the tool returned it. */
  shown?<O extends SaidOfCall>(outcome: O): O;
  /** Called when a result or a write comes after the call has ended. It is recorded, never applied. */
  late(call: { readonly callId: string; readonly tool: string; readonly output: Json }): Promise<void>;
}

/** For state that need not outlive the process. */
export const NO_LEDGER: Ledger = {
  opened: async () => {},
  closed: async () => {},
  late: async () => {},
  effectOpened: async () => {},
  effectDone: async () => {},
  effectJoined: async () => {},
  effectLeft: async () => {},
  effectUndone: async () => {},
};
