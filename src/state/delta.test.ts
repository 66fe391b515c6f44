import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edited } from "../../test/support/edited.ts";
import type { Json } from "../base/json.ts";
import { applyDelta, type Delta, diff } from "./delta.ts";

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const plain = (value: Json) => JSON.parse(JSON.stringify(value)) as Json;

/** A value and one that was made from it by a few changes that share everything else, as reducers do. */
const related = fc
  .tuple(anyJson, fc.array(fc.tuple(fc.array(fc.nat(5), { maxLength: 4 }), anyJson), { maxLength: 4 }))
  .map(([before, edits]) => {
    const start = plain(before);
    return [start, edits.reduce((now, [path, to]) => edited(now, path, plain(to)), start)] as const;
  });

describe("a delta", () => {
  test("[SLICE-2] turns the value before into the value after, also when it was stored in between", () => {
    fc.assert(
      fc.property(related, ([before, after]) => {
        const stored = plain(diff(before, after) as unknown as Json) as unknown as Delta;
        expect(applyDelta(before, stored)).toEqual(after);
      }),
    );
  });

  test("[SLICE-2] works between any two values", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (before, after) => {
        expect(applyDelta(plain(before), diff(plain(before), plain(after)))).toEqual(plain(after));
      }),
    );
  });

  const orderly = fc
    .tuple(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "2", "10", "-1", "4294967295")), fc.array(fc.nat(2)))
    .map(([names, values]) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? 0])));
  test("[SLICE-2] leaves the fields in the order in which they are, wherever they went or came", () => {
    fc.assert(
      fc.property(orderly, orderly, (before, after) => {
        expect(JSON.stringify(applyDelta({ before }, diff({ before }, { before: after })))).toBe(
          JSON.stringify({ before: after }),
        );
      }),
    );
  });

  test.each([
    ["the newest of its key, behind the others", { a: 1, b: 2, c: 3 }, { a: 1, c: 3, b: 2 }, 2],
    ["one that came in front of two", { b: 2, c: 3 }, { a: 1, b: 2, c: 3 }, 5],
    ["a number, which stands in front by itself", { 1: 1, 3: 3, a: 1 }, { 1: 1, 2: 2, 3: 3, a: 1 }, 1],
  ] as const)("[SLICE-2] tells again of no field but those that moved: %s", (_name, before, after, length) => {
    const found = diff(before as unknown as Json, after as unknown as Json);
    expect(found).toHaveLength(length);
    expect(JSON.stringify(applyDelta(before as unknown as Json, found))).toBe(JSON.stringify(after));
  });

  test("[SLICE-15] that changes all fields of a large value, or removes them, is taken in as quickly as it is made", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => [`field ${n}`, { n }] as const);
    const before = Object.fromEntries(many);
    const after = Object.fromEntries(many.map(([name, { n }]) => [name, { n: n + 1 }]));
    for (const next of [after, Object.fromEntries(Object.entries(after).slice(-1))])
      expect(applyDelta({ of: before }, diff({ of: before }, { of: next }))).toEqual({ of: next });
    expect(before["field 7"]).toEqual({ n: 7 });
  }, 10_000);

  test("[SLICE-2] a field with the name of something inherited is a field like any other", () => {
    const pairs = [
      [{ toString: "" }, {}],
      [{}, { constructor: { name: 1 } }],
      [{ valueOf: 1 }, { valueOf: 2 }],
    ] as unknown as readonly (readonly [Json, Json])[];
    for (const [before, after] of pairs) expect(applyDelta(before, diff(before, after))).toEqual(after);
  });

  test("[SLICE-2] leaves what it does not change as the same reference", () => {
    const kept = { deep: [1, 2, 3] };
    const before = { kept, list: [kept, { a: 1 }] };
    const after = { kept, list: [kept, { a: 2 }] };
    const applied = applyDelta(before, diff(before, after)) as typeof before;
    expect(applied.kept).toBe(kept);
    expect(applied.list[0]).toBe(kept);
  });

  test.each([
    ["nothing", [1], [1], [{ set: [0], to: 1 }], 0],
    ["an append", [1, 2], [1, 2, 3], [{ splice: [], at: 2, remove: 0, insert: [3] }], 1],
    ["a removal", ["a", "b", "c"], ["a", "c"], [{ splice: [], at: 1, remove: 1, insert: [] }], 1],
    ["a field that came", {}, { a: 1 }, [{ set: ["a"], to: 1 }], 1],
    ["a field that went", { a: 1, b: 2 }, { b: 2 }, [{ unset: ["a"] }], 1],
    ["a field of another name", { a: 1, b: 2 }, { a: 1, c: 2 }, [{ unset: ["b"] }, { set: ["c"], to: 2 }], 2],
    [
      "a field deep inside",
      { a: { b: [{ c: 1 }] } },
      { a: { b: [{ c: 2 }] } },
      [{ set: ["a", "b", 0, "c"], to: 2 }],
      1,
    ],
    ["another kind of value", { a: [] }, { a: {} }, [{ set: ["a"], to: {} }], 1],
  ] as const)("is as small as the change: %s", (_name, before, after, delta, length) => {
    const found = diff(before as Json, after as Json);
    expect(found).toHaveLength(length);
    if (length > 0) expect(found).toEqual(delta);
  });

  const [a, b, c, d, e, f] = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id }));
  const steps = [a, b, c, d];
  test.each([
    ["a window that goes on", [...steps.slice(1), e], 1],
    ["the newest in front", [e, ...steps.slice(0, -1)], 1],
    ["the newest of its key, at the end", [...steps.filter((one) => one !== b), e], 1],
    ["a list that was cut by half", [...steps.slice(-2), e], 1],
    ["one that went and others that came", [a, ...steps.slice(2), e, f], 2],
    ["some that came at both ends", [e, ...steps, f], 2],
  ] as const)("[SLICE-14] tells of what went and came, not of what moved along: %s", (_name, after, came) => {
    const found = diff(steps as Json, after as Json);
    expect(found.flatMap((change) => ("splice" in change ? change.insert : [change]))).toHaveLength(came);
    expect(applyDelta(steps as Json, found)).toEqual(after);
  });

  const long = "What the report says so far.\n".repeat(200);
  test.each([
    ["a line was added", `${long}And more.`, "And more."],
    ["a line goes on", long.trimEnd() + " And on.", "What the report says so far. And on."],
    ["lines were put in front", `First\nof all.\n${long}`, "First\nof all.\n"],
    ["something in the middle became something else", long.slice(0, 999) + "!" + long.slice(1_003), undefined],
    ["lines went", long.slice(0, -58), ""],
  ] as const)("[SLICE-14] tells of a long text which lines it has instead: %s", (_name, after, insert) => {
    const found = diff({ text: long }, { text: after });
    expect(found).toMatchObject([{ edit: ["text"], ...(insert === undefined ? {} : { insert }) }]);
    expect(JSON.stringify(found).length).toBeLessThan(200);
    expect(applyDelta({ text: long }, found)).toEqual({ text: after });
  });

  test.each([
    ["of one line", long.replaceAll("\n", " "), (text: string) => `${text}more`],
    ["that became another", long, () => "other\n".repeat(100)],
    ["that is short", "one\ntwo\n", (text: string) => `${text}three`],
  ])("[SLICE-14] says a text %s whole", (_name, before, becomes) => {
    expect(diff([before], [becomes(before)])).toEqual([{ set: [0], to: becomes(before) }]);
  });

  test("[SLICE-14] [SLICE-2] turns a text into any other, by whole lines", () => {
    const base = "a\u{1F600}\n\u{1F600}b\n".repeat(60);
    const letters = fc.string({ unit: fc.constantFrom("a", "\n", "\u{1F600}", "\u{1FA00}"), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(300), fc.nat(8), letters), { maxLength: 2 }), (edits) => {
        const split = edits.reduce(
          (text, [at, gone, come]) => text.toSpliced(at, gone, ...Array.from(come)),
          Array.from(base),
        );
        const after = split.join("");
        const stored = plain(diff(base, after) as unknown as Json) as unknown as Delta;
        expect(applyDelta(base, stored)).toBe(after);
        const lines = new Set(after.split("\n"));
        for (const change of stored)
          for (const line of "edit" in change ? change.insert.split("\n") : [])
            expect(line === "" || lines.has(line)).toBe(true);
      }),
    );
  });

  test("[SLICE-14] [SLICE-2] turns a list into any other, whatever moved along", () => {
    const elements = Array.from({ length: 6 }, (_, id) => ({ id }));
    const list = fc.array(fc.nat(5), { maxLength: 12 }).map((ids) => ids.map((id) => elements[id] as Json));
    fc.assert(
      fc.property(list, list, (before, after) => {
        expect(applyDelta(before, diff(before, after))).toEqual(after);
      }),
    );
  });

  test.each([
    ["a splice of what is no list", { a: 1 }, [{ splice: ["a"], at: 0, remove: 0, insert: [1] }]],
    ["an edit of what is no text", { a: [1] }, [{ edit: ["a"], at: 0, remove: 0, insert: "1" }]],
    ["a field of what has none", 1, [{ set: ["a"], to: 1 }]],
    ["a field of a list", { a: [1] }, [{ unset: ["a", 0] }]],
  ] as const)("that does not fit is refused: %s", (_name, value, delta) => {
    expect(() => applyDelta(value as Json, delta as unknown as Delta)).toThrow(TypeError);
  });
});
