/** Counts tokens. Called once for every representation, when it is made, and never while a view is chosen. */
export interface TokenCounter {
  /** For journals and people: `o200k_base`, `estimate`. A count is only comparable with counts of the same name. */
  readonly name: string;
  /** False when the count is an estimate: more of the budget is then held back. */
  readonly exact: boolean;
  count(text: string): number;
}
