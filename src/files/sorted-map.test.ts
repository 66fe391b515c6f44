import fc from "fast-check";
import { expect, test } from "vitest";
import { differences, entriesBelow, entriesOf, lookUp, type SortedMap, withKey, withoutKey } from "./sorted-map.ts";

type Step = { readonly key: string; readonly value: number | undefined };
const key = fc.string({ minLength: 0, maxLength: 3 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ key, value: fc.option(fc.nat(9), { nil: undefined }) }),
  { maxLength: 40 },
);

function grow(start: SortedMap<number>, changes: readonly Step[]): SortedMap<number> {
  return changes.reduce(
    (map, { key, value }) => (value === undefined ? withoutKey(map, key) : withKey(map, key, value)),
    start,
  );
}

function model(start: ReadonlyMap<string, number>, changes: readonly Step[]): Map<string, number> {
  const map = new Map(start);
  for (const { key, value } of changes) {
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
  return map;
}

const sorted = (map: ReadonlyMap<string, number>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

test("[FILE-1] a sorted map behaves like a map, in order, and its shape depends on its keys alone", () => {
  fc.assert(
    fc.property(steps, (changes) => {
      const map = grow(undefined, changes);
      const expected = model(new Map(), changes);
      expect([...entriesOf(map)]).toEqual(sorted(expected));
      for (const { key } of changes) expect(lookUp(map, key)).toBe(expected.get(key));
      expect(map).toEqual(
        grow(
          undefined,
          sorted(expected).map(([key, value]) => ({ key, value })),
        ),
      );
    }),
  );
});

test("[FILE-1] an older version stays as it was, and the differences are exactly what changed", () => {
  fc.assert(
    fc.property(steps, steps, (first, second) => {
      const before = grow(undefined, first);
      const then = [...entriesOf(before)];
      const after = grow(before, second);
      expect([...entriesOf(before)]).toEqual(then);
      const [a, b] = [model(new Map(), first), model(model(new Map(), first), second)];
      const keys = [...new Set([...a.keys(), ...b.keys()])].toSorted((x, y) => (x < y ? -1 : 1));
      expect([...differences(before, after)]).toEqual(
        keys.filter((key) => a.get(key) !== b.get(key)).map((key) => ({ key, before: a.get(key), after: b.get(key) })),
      );
    }),
  );
});

test("[FILE-1] the keys that begin with a text are found, all of them and in order", () => {
  fc.assert(
    fc.property(steps, key, (changes, beginning) => {
      const map = grow(undefined, changes);
      const expected = [...entriesOf(map)].filter(([key]) => key.startsWith(beginning));
      expect([...entriesBelow(map, beginning)]).toEqual(expected);
    }),
  );
});

test("[FILE-1] a change touches few nodes, whatever the size", () => {
  let map: SortedMap<number>;
  for (let n = 0; n < 20_000; n += 1) map = withKey(map, `file-${n}.txt`, n);
  const old = new Set<unknown>();
  const walk = (node: SortedMap<number>, seen: (node: object) => void): void => {
    if (node === undefined) return;
    seen(node);
    walk(node.left, seen);
    walk(node.right, seen);
  };
  walk(map, (node) => old.add(node));
  let fresh = 0;
  walk(withKey(map, "file-777.txt", -1), (node) => {
    if (!old.has(node)) fresh += 1;
  });
  expect(fresh).toBeLessThan(60);
  expect(withKey(map, "file-777.txt", 777)).toBe(map);
  expect(withoutKey(map, "none")).toBe(map);
});
