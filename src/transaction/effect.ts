import type { Json } from "../base/json.ts";

/**
 * Something outside that can be done and, where declared, undone. Arguments and result are data: any process can undo. Say
 * what they are where you declare it: `run: (order: Order) => pay(order), undo: (order: Order, receipt: Receipt) => …`.
 */
export interface EffectSpec {
  /** What it answers is kept as JSON. */
  run(args: never, context: { readonly key: string; readonly signal: AbortSignal }): unknown;
  /**
   * May be asked for again after a failure or a crash, and late, by a process that slept: it must bear being done twice, and
   * undo what the result names, not whatever has the key now.
   */
  undo?(args: never, result: never, context: { readonly key: string }): unknown;
}

/** Thrown by an effect's `run` to say that, for certain, nothing happened: the key may be used again. */
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
  /** How often the key had been undone before: an undone effect may run again. */
  readonly generation: number;
}

/**
 * Relies on what is done and nobody's here: another session's, or one whose beginning is lost. No call is called so. Whoever
 * joins one comes second: let go with that call, it would be undone under those whose it is.
 */
export const SOMEBODY_ELSE = "";

export type Standing =
  | { readonly is: "open" }
  | { readonly is: "done"; readonly result: Json }
  /** To be undone; `begun`, and perhaps cut off there. An undo bears being done twice, so it is tried again. */
  | { readonly is: "undoing"; readonly result: Json; readonly begun: boolean }
  | { readonly is: "undone" }
  | { readonly is: "not-undone"; readonly result: Json; readonly detail: string }
  /** Begun and never ended for us: it may have happened. Never assumed either way. */
  | { readonly is: "unknown" };

/** What became of an effect, for a model and a person. */
export interface EffectReport {
  readonly tool: string;
  readonly name: string;
  readonly key: string;
  readonly is: "happened" | "undone" | "not-undone" | "unknown";
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

/** `payment (order-7) happened and was not undone: no way to undo it is declared` */
export function effectWords({ name, key, is, detail }: EffectReport): string {
  return `${name} (${key}) ${WORDS[is]}${detail === undefined ? "" : `: ${detail}`}`;
}
