import fc from "fast-check";
import { expect, test } from "vitest";
import { shownName } from "./shown-name.ts";

test("[TOOL-26] any name is shown in one line without control characters, and can be told from every other", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const shown = shownName(name);
      // oxlint-disable-next-line no-control-regex -- none of these may be left
      expect(shown).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/);
      expect(shown.startsWith('"') ? JSON.parse(shown) : shown).toBe(name);
    }),
  );
  expect(shownName("a\u202etxt.exe")).toBe(String.raw`"a\u202etxt.exe"`); // it would be read as `aexe.txt`
});
