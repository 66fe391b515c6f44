import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countingIds, randomIds } from "./ids.ts";
import { type Random, SeededRandom, SystemRandom } from "./random.ts";

const seeds = fc.oneof(fc.string(), fc.integer());

describe.each([
  ["SystemRandom", () => new SystemRandom()],
  ["SeededRandom", () => new SeededRandom("any")],
] as const)("%s", (_name, make: () => Random) => {
  test("[ID-10] gives as many bytes as asked, as lower-case hex", () => {
    const random = make();
    for (const count of [0, 1, 3, 16, 4_095, 4_096, 4_097, 10_000]) {
      expect(random.hex(count)).toMatch(new RegExp(`^[0-9a-f]{${count * 2}}$`));
    }
  });

  test("[ID-10] fractions lie in [0, 1) and are spread over it", () => {
    const random = make();
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i += 1) {
      const fraction = random.fraction();
      expect(fraction >= 0 && fraction < 1).toBe(true);
      const tenth = Math.floor(fraction * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(700);
  });

  test("[ID-11] never repeats an id, also not when the pool is drawn anew", () => {
    const ids = randomIds(make());
    const seen = new Set(Array.from({ length: 2_000 }, () => ids.next()));
    expect(seen.size).toBe(2_000);
    for (const id of seen) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});

test("[ID-10] the same seed gives the same sequence, another seed another", () => {
  fc.assert(
    fc.property(seeds, seeds, (seed, other) => {
      const draw = (random: SeededRandom) => [random.hex(8), random.fraction(), random.below(1_000), random.hex(3)];
      expect(draw(new SeededRandom(seed))).toEqual(draw(new SeededRandom(seed)));
      if (String(seed) !== String(other))
        expect(draw(new SeededRandom(other))).not.toEqual(draw(new SeededRandom(seed)));
    }),
  );
});

test("[ID-10] the sequence is fixed for good: journals and failing seeds outlive a release", () => {
  const random = new SeededRandom("holdfast");
  expect([random.hex(8), random.below(1_000_000), random.split("call").hex(8)]).toEqual([
    "1040c1f70f53fc4d",
    945345,
    "c18b1c8d2cfaab24",
  ]);
});

test("[ID-10] a split stream depends on seed and labels alone, not on what was drawn, and labels never run together", () => {
  fc.assert(
    fc.property(seeds, fc.string(), fc.string(), fc.nat(20), (seed, label, further, drawn) => {
      const parent = new SeededRandom(seed);
      for (let i = 0; i < drawn; i += 1) parent.fraction();
      expect(parent.split(label).hex(16)).toBe(new SeededRandom(seed).split(label).hex(16));
      const child = new SeededRandom(seed).split(label);
      const streams = [
        new SeededRandom(seed),
        new SeededRandom(`${seed}/${label}`),
        child,
        child.split(further),
        new SeededRandom(seed).split(`${label}/${further}`),
      ];
      expect(new Set(streams.map((stream) => stream.hex(16))).size).toBe(streams.length);
    }),
  );
});

test("[ID-10] drawing from a split stream leaves its parent alone", () => {
  const parent = new SeededRandom(1);
  parent.split("a").hex(100);
  expect(parent.hex(8)).toBe(new SeededRandom(1).hex(8));
});

test("[ID-10] below and pick stay inside and reach everything", () => {
  const random = new SeededRandom("dice");
  const faces = new Set(Array.from({ length: 500 }, () => random.below(6)));
  expect([...faces].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  const picked = new Set(Array.from({ length: 100 }, () => random.pick(["a", undefined])));
  expect(picked).toEqual(new Set(["a", undefined]));
  expect(() => random.pick([])).toThrow(RangeError);
});

test("[ID-11] counting ids count, each source for itself, and sort as they were made", () => {
  const ids = countingIds();
  const made = Array.from({ length: 12 }, () => ids.next());
  expect(made.slice(0, 2)).toEqual(["00000001", "00000002"]);
  expect(made.toSorted()).toEqual(made);
  expect(countingIds(41).next()).toBe("00000041");
});
