import type { Json } from "../base/json.ts";
import type { CallEffects, OutputStatus } from "../records/kinds.ts";
import type { RootDelta } from "../state/part.ts";

export interface OpenedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly parent?: string;
}

/** The one record with which a call ends, with everything it changed: written together or not at all. */
export interface ClosedCall {
  readonly callId: string;
  readonly tool: string;
  readonly status: OutputStatus;
  readonly reason?: string;
  readonly output: Json;
  readonly effects: CallEffects;
  readonly delta: RootDelta;
}

export interface EffectEntry {
  readonly key: string;
  readonly name: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: Json;
  /** How often the key had been undone before: an undone effect may run again. */
  readonly generation: number;
}

/** Where a transaction writes down what it does. Rejecting means that it did not happen. */
export interface Ledger {
  /** Before the handler runs. */
  opened(call: OpenedCall): Promise<void>;
  closed(call: ClosedCall): Promise<void>;
  /** A result, or an attempted write, of a call that had ended. Told, never applied. */
  late(call: { readonly callId: string; readonly tool: string; readonly output?: Json }): Promise<void>;
  effectOpened(effect: EffectEntry): Promise<void>;
  effectDone(effect: EffectEntry, result: Json): Promise<void>;
  effectUndone(effect: EffectEntry, how: "undone" | "not-undone", detail?: string): Promise<void>;
}

/** For state that need not outlive the process. */
export const NO_LEDGER: Ledger = {
  opened: async () => {},
  closed: async () => {},
  late: async () => {},
  effectOpened: async () => {},
  effectDone: async () => {},
  effectUndone: async () => {},
};
