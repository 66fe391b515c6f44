import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { type Edit, editText } from "./edit.ts";

/** JSON as people and programs write it: tight, spaced, indented. */
const written = (value: Json) =>
  fc.constantFrom(undefined, 2, "\t", " ").map((indent) => JSON.stringify(value, null, indent) as string);
const list = fc.array(fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>, { minLength: 1, maxLength: 6 });

test("[DOC-8] removing elements leaves the others as they were written", () =>
  fc.assert(
    fc.property(
      list.chain((values) => fc.tuple(fc.constant(values), written(values), fc.subarray(values.map((_, nth) => nth)))),
      ([values, text, gone]) => {
        const edits = gone.map((nth): Edit => ({ op: "remove", path: [nth] }));
        const after = editText(text, edits);
        expect(JSON.parse(after)).toEqual(JSON.parse(JSON.stringify(values.filter((_, nth) => !gone.includes(nth)))));
        for (const [nth, value] of values.entries()) {
          if (!gone.includes(nth) && typeof value === "string") expect(after).toContain(JSON.stringify(value));
        }
      },
    ),
  ));

test("[DOC-8] elements are added where they were asked for, and everything else stays", () =>
  fc.assert(
    fc.property(
      list.chain((values) => fc.tuple(fc.constant(values), written(values), fc.nat({ max: values.length }))),
      ([values, text, index]) => {
        const after = editText(text, [{ op: "insert", path: [], index, texts: [{ text: '{"added":[1]}' }] }]);
        const expected = JSON.parse(JSON.stringify(values)) as Json[];
        expect(JSON.parse(after)).toEqual(expected.toSpliced(index, 0, { added: [1] }));
      },
    ),
  ));

test("[DOC-8] no edits, no change", () => {
  expect(editText(' { "a" : 1.0e3 } \n', [])).toBe(' { "a" : 1.0e3 } \n');
});

test("[DOC-8] a value is replaced or added, and numbers that JavaScript would write differently stay as they are", () => {
  const text = '{ "big": 12345678901234567890, "a": {"x": 1.0} }\n';
  expect(editText(text, [{ op: "set", path: ["a", "x"], value: "y" }])).toBe(
    '{ "big": 12345678901234567890, "a": {"x": "y"} }\n',
  );
  expect(editText(text, [{ op: "set", path: ["a", "z"], value: null }])).toBe(
    '{ "big": 12345678901234567890, "a": {"x": 1.0,"z": null} }\n',
  );
});

test("[DOC-8] of a key that is written twice the last is changed, because that is the one that counts", () => {
  expect(editText('{"a":1,"a":2}', [{ op: "set", path: ["a"], value: 3 }])).toBe('{"a":1,"a":3}');
});

test("[DOC-8] what is added is indented as its neighbours are", () => {
  const text = JSON.stringify({ messages: [{ a: 1 }] }, null, 2);
  const after = editText(text, [{ op: "insert", path: ["messages"], index: 1, texts: [{ text: '{"b":[2]}' }] }]);
  expect(after).toBe(JSON.stringify({ messages: [{ a: 1 }, { b: [2] }] }, null, 2));
});

test("[DOC-8] several changes below one list do not disturb each other's places", () => {
  const edits: Edit[] = [
    { op: "remove", path: ["l", 0] },
    { op: "set", path: ["l", 2, "id"], value: "new" },
    { op: "insert", path: ["l"], index: 2, texts: [{ text: "9" }, { text: "8" }] },
  ];
  expect(editText('{"l":[1,2,{"id":"old"}]}', edits)).toBe('{"l":[2,9,8,{"id":"new"}]}');
});

test("[DOC-8] an element that only moves keeps its own layout", () => {
  const text = '{\n  "l": [\n    { "a": 1 },\n    2\n  ]\n}';
  const edits: Edit[] = [
    { op: "remove", path: ["l", 0] },
    { op: "insert", path: ["l"], index: 2, texts: [{ text: '{ "a": 1 }', asIs: true }] },
  ];
  expect(editText(text, edits)).toBe('{\n  "l": [\n    2,\n    { "a": 1 }\n  ]\n}');
});
