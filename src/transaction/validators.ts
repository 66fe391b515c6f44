import type { Json } from "../base/json.ts";
import type { Ending } from "./ending.ts";

/** An attempt whose result was refused: undone, and kept beside the call's one closing record. */
export interface AttemptFailure {
  readonly attempt: number;
  readonly reason: string;
  readonly message: string;
}

/** What an output validator looks at beside the result. */
export interface OutputView<I> {
  readonly input: I;
  /** 1 for the first. */
  readonly attempt: number;
}

/** Says what is wrong with a result, or nothing. `final`: trying again would not help. */
export type OutputValidator<I = unknown> = (output: Json, view: OutputView<I>) => Verdict | Promise<Verdict>;
type Verdict = string | { readonly message: string; readonly final?: boolean } | undefined;

/** The first objection to a result. A validator that throws has not accepted it. */
export async function objectionTo(
  output: Json,
  validators: readonly OutputValidator[],
  view: OutputView<unknown>,
): Promise<Extract<Ending, { readonly kind: "rejected" }> | undefined> {
  for (const validator of validators) {
    try {
      const verdict = await validator(output, view);
      if (verdict === undefined) continue;
      return typeof verdict === "string"
        ? { kind: "rejected", message: verdict, final: false }
        : { kind: "rejected", message: verdict.message, final: verdict.final === true };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { kind: "rejected", message: `The result could not be checked: ${why}`, final: true };
    }
  }
  return undefined;
}
