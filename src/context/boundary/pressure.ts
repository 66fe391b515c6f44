/** How near a request is to the point where it must be compacted: far, near enough for the next pause, or there. */
export type Pressure = "none" | "soft" | "hard";

/** Of the trigger, where the next pause is waited for. */
const SOFT = 0.9;

export function pressureOf(tokens: number, trigger: number, soft = SOFT): Pressure {
  if (tokens >= trigger) return "hard";
  return tokens >= trigger * soft ? "soft" : "none";
}
