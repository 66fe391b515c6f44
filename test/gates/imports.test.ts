import { expect, test } from "vitest";
import { importsOf } from "./imports.ts";

test("every form of import is seen, and nothing else", () => {
  const source = [
    'import { a } from "./a.ts";',
    "import {",
    "  b,",
    "  type C,",
    '} from "./b.ts";',
    'import type { D } from "./d.ts";',
    'import type, { E } from "./e.ts";',
    'import "./f.ts";',
    'export { g } from "./g.ts";',
    'export type { H } from "./h.ts";',
    'export * from "./i.ts";',
    'const later = await import("./j.ts");',
    'type K = import("./k.ts").K;',
    'export const text = "not from"; // from "./no.ts"',
    "export function from(): void {}",
    '  // import "./no.ts"',
  ].join("\n");
  const seen = importsOf(source).map(
    ({ specifier, typeOnly, dynamic }) => `${specifier}${typeOnly ? " type" : ""}${dynamic ? " later" : ""}`,
  );
  expect(seen.toSorted()).toEqual([
    "./a.ts",
    "./b.ts",
    "./d.ts type",
    "./e.ts",
    "./f.ts",
    "./g.ts",
    "./h.ts type",
    "./i.ts",
    "./j.ts later",
    "./k.ts later",
  ]);
});
