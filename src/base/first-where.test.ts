import fc from "fast-check";
import { expect, test } from "vitest";
import { firstWhere } from "./first-where.ts";

test("finds what a walk from the front would find, and asks about a few places only", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 })), fc.integer({ min: -1, max: 51 }), (numbers, wanted) => {
      const rising = numbers.toSorted((a, b) => a - b);
      const walked = rising.findIndex((one) => one > wanted);
      let asked = 0;
      const found = firstWhere(rising.length, (at) => {
        asked += 1;
        return (rising[at] as number) > wanted;
      });
      expect(found).toBe(walked === -1 ? rising.length : walked);
      expect(asked).toBeLessThanOrEqual(Math.ceil(Math.log2(rising.length + 1)));
    }),
  );
});
