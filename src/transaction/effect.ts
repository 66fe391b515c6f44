import type { Json } from "../base/json.ts";

/**
 * Something done outside the session, and how to undo it, if that is possible. Arguments and result are plain data, so
 * any process can undo it. Give their types here: `run: (order: Order) => pay(order), undo: (order: Order, receipt:
 * Receipt) => …`.
 */
export interface EffectSpec {
  /** Does it. The result is kept as JSON. */
  run(args: never, context: { readonly key: string; readonly signal: AbortSignal }): unknown;
  /**
   * Undoes it. It may be called again after a failure or a crash, and late, by a process that slept. So doing it twice
   * must be harmless, and it must undo what `result` names, not whatever has the key now. Without it the effect is not
   * undone.
   */
  undo?(args: never, result: never, context: { readonly key: string }): unknown;
}

/** Throw this from an effect's `run` when nothing happened for certain: the key may then be used again. */
export class EffectDidNotHappen extends Error {
  override readonly name = "EffectDidNotHappen";
}

/** One effect of a session: which tool and call did what, under which key. */
export interface EffectEntry {
  readonly tool: string;
  readonly name: string;
  readonly key: string;
  readonly callId: string;
  readonly args: Json;
  /** How often the effect with this key was undone before: an undone effect may run again. */
  readonly generation: number;
}

/**
 * Relies on what is done and nobody's here: another session's, or one whose beginning is lost. No call is called so. Whoever
 * joins one comes second: let go with that call, it would be undone under those whose it is.
 */
export const SOMEBODY_ELSE = "";

/** How far an effect has come. */
export type Standing =
  | { readonly is: "open" }
  | { readonly is: "done"; readonly result: Json }
  /** To be undone. `begun`: an undo was tried and perhaps cut off; it is tried again. */
  | { readonly is: "undoing"; readonly result: Json; readonly begun: boolean }
  | { readonly is: "undone" }
  | { readonly is: "not-undone"; readonly result: Json; readonly detail: string }
  /** It was begun and we never saw it end. It may have happened; nothing is assumed. */
  | { readonly is: "unknown" };

/** What became of an effect, for the model and for people. */
export interface EffectReport {
  readonly tool: string;
  readonly name: string;
  readonly key: string;
  readonly is: "happened" | "undone" | "not-undone" | "unknown";
  /** Why it was not undone, why it cannot be, or why nobody knows. */
  readonly detail?: string;
}

/** Effects of two tools, or of two names, may use the same key without being the same effect. */
export function effectId({ tool, name, key }: Pick<EffectEntry, "tool" | "name" | "key">): string {
  return JSON.stringify([tool, name, key]);
}

/** One report of each effect: the newest. A model that reads of a mail twice takes it for two. */
export function lastOfEach(reports: readonly EffectReport[]): readonly EffectReport[] {
  return reports.length < 2 ? reports : [...new Map(reports.map((report) => [effectId(report), report])).values()];
}

const WORDS: Readonly<Record<EffectReport["is"], string>> = {
  happened: "happened",
  undone: "was undone",
  "not-undone": "happened and was not undone",
  unknown: "may have happened",
};

/** An effect report as a sentence: `payment (order-7) happened and was not undone: no way to undo it is declared`. */
export function effectWords({ name, key, is, detail }: EffectReport): string {
  return `${name} (${key}) ${WORDS[is]}${detail === undefined ? "" : `: ${detail}`}`;
}
