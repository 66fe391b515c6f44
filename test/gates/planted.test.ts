import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLANTED } from "../chaos/planted.ts";

/** How often a text stands in another. */
function times(text: string, find: string): number {
  return text.split(find).length - 1;
}

test("every planted bug can be planted: the text it replaces stands in its file once", () => {
  const astray = PLANTED.flatMap(({ name, edits }) =>
    edits
      .map(({ file, find }) => ({ name, file, times: times(readFileSync(file, "utf8"), find) }))
      .filter((edit) => edit.times !== 1),
  );
  expect(astray).toEqual([]);
});

test("no two planted bugs have one name, and none replaces a text by itself", () => {
  expect(new Set(PLANTED.map(({ name }) => name)).size).toBe(PLANTED.length);
  expect(PLANTED.flatMap(({ edits }) => edits).filter(({ find, replace }) => find === replace)).toEqual([]);
});

test("a text that is gone, or stands twice, is seen", () => {
  expect([times("a b", "c"), times("a b a", "a"), times("a b", "b")]).toEqual([0, 2, 1]);
});
