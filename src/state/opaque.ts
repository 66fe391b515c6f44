import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { byDifference } from "./delta.ts";
import type { Part, SlicePolicy } from "./part.ts";

/** What a journal tells of a part, so that whoever does not know it can carry it. */
export interface PartIntroduction {
  readonly policy: SlicePolicy;
  readonly initial: Json;
}

/** A slice that this process does not know: carried as data, so that opening a session here loses nothing of it. */
export function opaquePart(name: string, { policy, initial }: PartIntroduction): Part<Json> {
  return {
    name,
    policy,
    initial,
    plain: true,
    encode: (value) => value,
    decode: (data) => data,
    ...byDifference<Json>(),
  };
}

/**
 * A part that nobody has introduced: what its changes mean is known only to the program that wrote them. What was kept of
 * it whole is carried; a change on top of that is refused, because guessing would make a state that never was.
 */
export function closedPart(name: string, policy: SlicePolicy): Part<Json> {
  const { plain: _plain, ...carried } = opaquePart(name, { policy, initial: null });
  return {
    ...carried,
    apply: () => {
      throw new HoldfastError("SLICE_UNKNOWN", { name });
    },
  };
}
