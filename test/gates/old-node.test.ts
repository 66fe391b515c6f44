import { describe, expect, test } from "vitest";
import { findTooNew } from "./old-node.ts";
import { plant, readTree } from "./tree.ts";

test("the oldest Node we support can parse every source and every example", () => {
  expect(findTooNew(readTree("src", "examples", "scripts"))).toEqual([]);
});

describe("the gate sees", () => {
  test.each(["await using lock = await take();", "  using lock = take();", 'import defer * as late from "./late.ts";'])(
    "%s",
    (line) => {
      expect(findTooNew(plant({ "src/a.ts": `const a = 1;\n${line}\n` }))).toEqual([
        expect.stringMatching(/^src\/a\.ts:2: /),
      ]);
    },
  );

  test("nothing wrong in words about using things, nor in a test", () => {
    const tree = plant({
      "src/a.ts": "// Closed by\n// using it once.\nconst using = 1;",
      "src/a.test.ts": "await using lock = x();",
    });
    expect(findTooNew(tree)).toEqual([]);
  });
});
