import type { Random } from "./random.ts";

/** Where new ids come from. 128 random bits: a clash is not expected, and the store's unique keys would refuse it. */
export interface IdSource {
  next(): string;
}

export interface IdSourceDep {
  readonly ids: IdSource;
}

export function randomIds(random: Random): IdSource {
  return { next: () => random.hex(16) };
}

/** 1, 2, 3, … for tests and byte-identical runs. */
export function countingIds(start = 1): IdSource {
  let count = start;
  return { next: () => String(count++).padStart(8, "0") };
}
