import type { Json, JsonObject } from "../base/json.ts";
import type { CallEffects, KeptResultPart, OutputStatus, UndoStage } from "../records/kinds.ts";
import type { Content, RootChange } from "../state/part.ts";
import type { EffectEntry } from "./effect.ts";
import type { AttemptFailure } from "./validators.ts";

export interface OpenedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  /** Where in them something else stands than was given, as `$.a[2]`. */
  readonly coerced?: readonly string[];
  readonly alias?: string;
  readonly epoch?: number;
  readonly parent?: string;
}

/** The one record with which a call ends. */
export interface ClosedCall {
  readonly callId: string;
  readonly tool: string;
  readonly status: OutputStatus;
  readonly reason?: string;
  readonly output?: Json;
  /** Instead of `output`: a result of several parts, with the content that they name. */
  readonly parts?: readonly KeptResultPart[];
  readonly contents?: readonly Content[];
  readonly effects: CallEffects;
  readonly attemptFailures?: readonly AttemptFailure[];
  /** What the tool noted of it. */
  readonly notes?: JsonObject;
}

export interface EffectLedger {
  effectOpened(effect: EffectEntry): Promise<void>;
  effectDone(effect: EffectEntry, result: Json): Promise<void>;
  /** Another call relies on it too. */
  effectJoined(effect: EffectEntry, callId: string): Promise<void>;
  /** Before an undo is tried, and when it is known how it went. */
  effectUndone(effect: EffectEntry, how: UndoStage, detail?: string): Promise<void>;
}

/** Where a transaction writes down what it does. Rejecting means that it did not happen, unless it is `unsure`. */
export interface Ledger extends EffectLedger {
  /** True once something was rejected that may have happened all the same. */
  readonly unsure?: boolean;
  /** Whether a call of this id has ended and can be returned to. Without it, only what this process remembers is asked. */
  knows?(callId: string): boolean;
  /** Whether a call of this id was written down as opened, and waits for somebody: nobody else is to begin it. */
  waits?(callId: string): boolean;
  /** Before the handler runs. */
  opened(call: OpenedCall): Promise<void>;
  /** A call and those it had run inside it, with everything they changed: written together or not at all. */
  closed(calls: readonly ClosedCall[], change: RootChange): Promise<void>;
  /** A result, or an attempted write, of a call that had ended. Told, never applied. */
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
  effectUndone: async () => {},
};
