import type { Json, JsonObject } from "../base/json.ts";

/** The schema version that this code writes. */
export const RECORD_VERSION = 1;

/** One step from an older body to the next version. Applied on read, in order; what is stored is never rewritten. */
interface Lift {
  readonly to: number;
  readonly why: string;
  readonly up: (kind: string, body: JsonObject) => { readonly kind: string; readonly body: JsonObject };
}

/** Empty while version 1 is the only one. The next shape adds a step here, a fixture, and nothing anywhere else. */
const LIFTS: readonly Lift[] = [];

export interface Ladder {
  readonly version: number;
  readonly lifts: readonly Lift[];
}

export const LADDER: Ladder = { version: RECORD_VERSION, lifts: LIFTS };

export function lift(
  kind: string,
  body: JsonObject,
  from: number,
  ladder: Ladder,
): { readonly kind: string; readonly body: Json } {
  let lifted = { kind, body };
  for (const step of ladder.lifts) if (step.to > from) lifted = step.up(lifted.kind, lifted.body);
  return lifted;
}
