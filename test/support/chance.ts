import type { Random } from "../../src/index.ts";

/** A whole number from `from` up to, and without, `to`. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random.fraction() * (to - from));
}
