import fc from "fast-check";
import { expect, test } from "vitest";
import { effectId } from "../transaction/effect.ts";
import { FoldedEffects } from "./folded-effects.ts";
import type { FoldedEffect } from "./kept-effects.ts";

const CALLS = ["a", "b", "c", "d"];
const effect: fc.Arbitrary<FoldedEffect> = fc
  .record({ key: fc.constantFrom("1", "2", "3", "4", "5"), owners: fc.subarray(CALLS), generation: fc.nat(3) })
  .map(({ key, owners, generation }) => ({
    entry: { tool: "pay", name: "charge", key, callId: "a", args: null, generation },
    standing: { is: "open" },
    owners,
  }));
const idOf = ({ entry }: FoldedEffect) => effectId(entry);

function model(...batches: readonly (readonly FoldedEffect[])[]): ReadonlyMap<string, FoldedEffect> {
  return new Map(batches.flat().map((one) => [idOf(one), one]));
}

test("[TX-44] effects that were told of before a checkpoint and after it are one map, in the order they were begun", () => {
  fc.assert(
    fc.property(fc.array(effect), fc.array(fc.array(effect)), fc.subarray(CALLS), (kept, since, calls) => {
      const effects = since.reduce((now, batch) => now.with(batch), FoldedEffects.of([...model(kept).values()]));
      const expected = model(kept, ...since);
      expect(effects.values()).toEqual([...expected.values()]);
      for (const [id, one] of expected) expect(effects.get(id)).toBe(one);
      const owned = [...expected.values()].filter(({ owners }) => owners.some((owner) => calls.includes(owner)));
      expect(new Set(effects.ownedBy(new Set(calls)))).toEqual(new Set(owned));
    }),
  );
});

test("[TX-44] effects as they were are not touched by what comes after", () => {
  fc.assert(
    fc.property(fc.array(effect), fc.array(effect), fc.array(effect), (kept, first, second) => {
      const before = FoldedEffects.of([...model(kept).values()]).with(first);
      const then = before.values();
      before.with(second);
      expect(before.values()).toEqual(then);
    }),
  );
});
