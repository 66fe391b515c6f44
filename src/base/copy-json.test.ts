import fc from "fast-check";
import { expect, test } from "vitest";
import { copyJson } from "./copy-json.ts";
import { checkJson, type Json } from "./json.ts";

test("[TX-42] a copy has the same data and shares nothing that can be changed", () => {
  const objectsIn = (value: unknown): readonly object[] =>
    typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      fc.pre(checkJson(value).ok);
      const copy = copyJson(value as Json);
      expect(copy).toStrictEqual(value);
      expect(new Set(objectsIn(copy)).isDisjointFrom(new Set(objectsIn(value)))).toBe(true);
    }),
  );
});
