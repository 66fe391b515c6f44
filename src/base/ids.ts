import type { Random } from "./random.ts";

/** Where new ids come from. An id must never come twice; the store's unique keys refuse one that does. */
export interface IdSource {
  next(): string;
}

export interface IdSourceDep {
  readonly ids: IdSource;
}

/** Ids of 128 random bits. The default. */
export function randomIds(random: Random): IdSource {
  return { next: () => random.hex(16) };
}

/** Ids that count: 00000001, 00000002, … for tests and byte-identical runs. */
export function countingIds(start = 1): IdSource {
  let count = start;
  return { next: () => String(count++).padStart(8, "0") };
}
