import type { Json } from "../base/json.ts";
import { applyDelta, type Delta, diff } from "./delta.ts";
import type { Part, SlicePolicy } from "./part.ts";

/** A slice that this process does not know: carried as data, so that opening a session here loses nothing of it. */
export function opaquePart(name: string, policy: SlicePolicy): Part<Json> {
  return {
    name,
    policy,
    initial: null,
    encode: (value) => value,
    decode: (data) => data,
    change: (before, after) => {
      const delta = diff(before, after);
      return delta.length === 0 ? undefined : { delta: delta as unknown as Json };
    },
    apply: (value, delta) => applyDelta(value, delta as unknown as Delta),
  };
}
