import type { Json } from "../base/json.ts";
import { inWords } from "../base/words.ts";
import type { Ending } from "./ending.ts";

/** An attempt whose result the validators refused. It was undone, and is kept in the call's closing record. */
export interface AttemptFailure {
  readonly attempt: number;
  readonly reason: string;
  readonly message: string;
}

/** What an output validator is given with the result. */
export interface OutputView<I> {
  /** The call's arguments. */
  readonly input: I;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
}

/**
 * Checks a result. Return undefined to accept it, or say what is wrong with it. `final`: trying again would not help.
 */
export type OutputValidator<I = unknown> = (output: Json, view: OutputView<I>) => Verdict | Promise<Verdict>;
type Verdict = string | { readonly message: string; readonly final?: boolean } | undefined;

/** The first objection to a result. A validator that throws, or answers without words, has not accepted it. */
export async function objectionTo(
  output: Json,
  validators: readonly OutputValidator[],
  view: OutputView<unknown>,
): Promise<Extract<Ending, { readonly kind: "rejected" }> | undefined> {
  for (const validator of validators) {
    try {
      const verdict: unknown = await validator(output, view);
      if (verdict === undefined) continue;
      if (typeof verdict === "string") return { kind: "rejected", message: inWords(verdict), final: false };
      const { message, final } = Object(verdict) as { readonly message?: unknown; readonly final?: unknown };
      if (typeof message !== "string") throw new TypeError(NO_WORDS);
      return { kind: "rejected", message: inWords(message), final: final === true };
    } catch (error) {
      return { kind: "rejected", message: `The result could not be checked: ${inWords(error)}`, final: true };
    }
  }
  return undefined;
}

/** `true` may have been meant as a yes or as a no: nothing is committed on a guess. */
export const NO_WORDS = "the answer was neither words nor nothing.";
