import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical.ts";
import { canonicalHash, isSha256, sha256 } from "./hash.ts";
import type { Json } from "./json.ts";

test("[ID-9] canonical text is sorted by key, without spaces, and parses back", () => {
  expect(canonicalJson({ b: [1, "é", null], a: { d: true, c: -0 } })).toBe('{"a":{"c":0,"d":true},"b":[1,"é",null]}');
  expect(canonicalJson({ 10: 1, 9: 2, é: 3, z: 4 })).toBe('{"10":1,"9":2,"z":4,"é":3}');
});

test("[ID-9] undefined fields do not count, so a value and its JSON hash equally", () => {
  const value = { a: undefined, b: { c: undefined, d: 1 } };
  expect(canonicalJson(value)).toBe('{"b":{"d":1}}');
  expect(canonicalHash(value)).toBe(canonicalHash(JSON.parse(JSON.stringify(value)) as Json));
});

test("[ID-9] the order of keys changes neither text nor hash; any other difference changes both", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const one = left as Json;
      const other = right as Json;
      expect(canonicalJson(reversed(one))).toBe(canonicalJson(one));
      expect(canonicalHash(reversed(one))).toBe(canonicalHash(one));
      expect(JSON.parse(canonicalJson(one))).toEqual(JSON.parse(JSON.stringify(one)));
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(canonicalHash(one) === canonicalHash(other)).toBe(same);
    }),
  );
});

test("[ID-9] SHA-256 matches the published vectors, for text and bytes alike", () => {
  expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(sha256(new TextEncoder().encode("é"))).toBe(sha256("é"));
});

test.each([
  ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", true],
  ["E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", false],
  ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n", false],
  ["e3b0", false],
  ["", false],
])("[ID-9] only 64 lower-case hex digits are a digest: %j", (text, expected) => {
  expect(isSha256(text)).toBe(expected);
});

/** The same value with the keys of every object in the opposite order of insertion. */
function reversed(value: Json): Json {
  return rebuilt(value, (keys) => keys.reverse());
}

function sorted(value: Json): Json {
  return rebuilt(value, (keys) => keys.sort());
}

function rebuilt(value: Json, order: (keys: string[]) => string[]): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((element: Json) => rebuilt(element, order));
  const object = value as { readonly [key: string]: Json };
  const fields = order(Object.keys(object)).map((key) => [key, rebuilt(object[key] as Json, order)] as const);
  // A null prototype, so that a key named __proto__ stays a field.
  return Object.assign(Object.create(null) as object, Object.fromEntries(fields)) as Json;
}
