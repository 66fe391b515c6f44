import type { ToolBoundary } from "./tool-boundaries.ts";

/** A kept state and the changes that came after it. `base` 0 is the beginning, where every part is at its initial value. */
export interface Epoch {
  readonly base: number;
  readonly changes: readonly number[];
}

/** Epochs that are still needed, and those whose state may be taken out of the records. */
export interface SortedEpochs {
  readonly epochs: readonly Epoch[];
  readonly stale: readonly Epoch[];
}

/** Taking state out of records is a commit of its own, so it waits until it is worth one. */
const STALE_AT_ONCE = 8;

/** The epochs, with a change that came after the newest kept state. */
export function withChange(epochs: readonly Epoch[], seq: number): readonly Epoch[] {
  const { base, changes } = epochs.at(-1) as Epoch;
  return epochs.with(-1, { base, changes: [...changes, seq] });
}

/**
 * Needed is what the oldest boundary needs, and never less than the epoch before the newest: if the newest checkpoint is
 * damaged, the state can still be built.
 */
export function sortedByNeed(epochs: readonly Epoch[], boundaries: readonly ToolBoundary[]): SortedEpochs {
  const oldest = boundaries.find(({ rewound }) => !rewound)?.before ?? Number.POSITIVE_INFINITY;
  const serving = epochs.findLastIndex(({ base }) => base <= oldest);
  const needless = Math.max(0, Math.min(serving, epochs.length - 2));
  const from = needless < STALE_AT_ONCE ? 0 : needless;
  return { epochs: epochs.slice(from), stale: epochs.slice(0, from) };
}

/** Whether nothing has changed since the newest kept state, and another one beside it would let nothing go. */
export function isAtRest(epochs: readonly Epoch[], boundaries: readonly ToolBoundary[]): boolean {
  if (epochs.at(-1)?.changes.length !== 0) return false;
  return sortedByNeed([...epochs, { base: Number.POSITIVE_INFINITY, changes: [] }], boundaries).stale.length === 0;
}
