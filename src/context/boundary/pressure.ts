/**
 * How close a request is to the point where it must be compacted: not close, close enough to compact at the next pause,
 * or there.
 */
export type Pressure = "none" | "soft" | "hard";

/** Of the trigger, where the next pause is waited for. */
const SOFT = 0.9;

/**
 * The pressure of a request of `tokens` tokens. `trigger` is the point where it must be compacted, `soft` the share of
 * it where soft pressure begins.
 */
export function pressureOf(tokens: number, trigger: number, soft = SOFT): Pressure {
  if (tokens >= trigger) return "hard";
  return tokens >= trigger * soft ? "soft" : "none";
}
