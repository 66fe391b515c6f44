import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { realEntries } from "./entries.ts";
import { doorNames, doorText } from "./public-door.ts";
import { plant, readTree, ROOT } from "./tree.ts";

const tree = readTree("src");

test("the public door is the one in public-door.txt (after a wanted change: npm run door)", () => {
  const kept = readTree("test/gates/public-door.txt").get("test/gates/public-door.txt");
  expect(doorText(realEntries(), tree)).toBe(kept);
});

test.each(realEntries())("$subpath exports at run time what its text says", async ({ source }) => {
  const loaded = Object.keys(
    (await import(/* @vite-ignore */ pathToFileURL(join(ROOT, source)).href)) as object,
  ).toSorted();
  const said = doorNames(tree.get(source) ?? "").filter(({ kind }) => kind === "value");
  expect(said.map(({ name }) => name).toSorted()).toEqual(loaded);
});

describe("the gate sees", () => {
  const entries = [
    { subpath: ".", source: "src/index.ts" },
    { subpath: "./testing", source: "src/testing/index.ts" },
  ];
  const source = [
    'export { open, type Options, old as renamed } from "./a.ts";',
    "export {",
    "  checkJson,",
    "  type Json,",
    '} from "./b.ts";',
    'export type { Result } from "./c.ts";',
  ].join("\n");
  const laws =
    "export function storeLaws(): void {}\nexport interface Can {}\nexport class Double {}\nexport const LIMIT = 1;";
  const files = { "src/index.ts": source, "src/testing/index.ts": laws };
  const door = "holdfast\n  type Json\n  type Options\n  type Result\n  checkJson\n  open\n  renamed\n";

  test("names, types and subpaths", () => {
    expect(doorText(entries, plant(files))).toBe(
      `${door}\nholdfast/testing\n  type Can\n  Double\n  LIMIT\n  storeLaws\n`,
    );
  });

  test("a name that was added, removed or became a type", () => {
    for (const [from, to] of [
      ["open,", ""],
      ["open,", "open, shut,"],
      ["checkJson,", "type checkJson,"],
      ["old as renamed", "old"],
    ] as const) {
      expect(doorText(entries.slice(0, 1), plant({ "src/index.ts": source.replace(from, to) }))).not.toBe(door);
    }
  });

  test("a door without explicit names", () => {
    expect(() => doorNames('export * from "./a.ts";')).toThrow("explicit names");
  });
});
