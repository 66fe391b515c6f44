/** Counts tokens. It is called once for each representation, when that is made, and never while a view is chosen. */
export interface TokenCounter {
  /** A name for journals and people: `o200k_base`, `estimate`. Only counts of the same name can be compared. */
  readonly name: string;
  /** False when counts are estimates: then more of the budget is held back. */
  readonly exact: boolean;
  /** How many tokens a text has. */
  count(text: string): number;
}
