import fc from "fast-check";
import { expect, test } from "vitest";
import { SharedMap } from "./shared-map.ts";

const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(40), fc.nat(3)), { maxLength: 120 });

test("[TX-50] a map that shares what it has in common with others says what one of its own would", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const plain = new Map<number, number>();
      let shared: SharedMap<number, number> = SharedMap.of(new Map());
      for (const [isSet, key, value] of all) {
        const before = [shared, [...shared]] as const;
        if (isSet) plain.set(key, value);
        else plain.delete(key);
        shared = isSet ? shared.with([[key, value]]) : shared.without(key);
        expect([shared.size, shared.get(key), shared.has(key)]).toEqual([plain.size, plain.get(key), plain.has(key)]);
        expect([...before[0]]).toEqual(before[1]); // whoever holds it sees what it held
      }
      expect(new Map(shared)).toEqual(plain);
      expect(new Set(shared.keys())).toEqual(new Set(plain.keys()));
      const told: number[] = [];
      shared.forEach((value, key) => told.push(key, value));
      expect(told).toEqual([...shared].flat());
      expect([...shared.values()]).toEqual([...shared].map(([, value]) => value));
    }),
  );
});
