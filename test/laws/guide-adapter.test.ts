import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { buildEntries } from "../gates/entries.ts";
import { scratchFolder } from "../support/places.ts";

/**
 * The adapter of the guide, taken from the page with its own test file: whoever follows it must get one that keeps every
 * law, with nothing but published doors.
 */

const home = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(home, "docs/guides/adding-an-adapter.md"), "utf8");
const folder = join(scratchFolder(), "plain");
mkdirSync(folder);
const files = [...page.matchAll(/```ts\n\/\/ ([\w.]+\.ts)\n(.*?)```/gs)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));
for (const { name, code } of files) writeFileSync(join(folder, name), placed(code));

test("[ADAPT-23] the guide's adapter imports published doors, its own files and a test runner", () => {
  const imports = files.flatMap(({ code }) => [...code.matchAll(/from "([^"]+)"/g)].map(([, from = ""]) => from));
  expect(files.map(({ name }) => name)).toContain("plain.test.ts");
  expect(imports.filter((from) => !/^(holdfast(\/[a-z/-]+)?|\.\/[a-z]+\.ts|vitest)$/.test(from))).toEqual([]);
});

test("[ADAPT-23] so does the example with a dialect of its own, which runs with the other examples", () => {
  const names = ["adapt-a-provider.ts", "gemini/adapter.ts", "gemini/dialect.ts"];
  for (const name of names) {
    const code = readFileSync(join(home, "examples", name), "utf8");
    const imports = [...code.matchAll(/from "([^"]+)"/g)].map(([, from = ""]) => from);
    expect(
      imports.filter((from) => !/^(holdfast(\/[a-z/-]+)?|\.\/[a-z/]+\.ts|node:assert\/strict)$/.test(from)),
    ).toEqual([]);
  }
});

describe("the adapter of the guide", async () => {
  await import(/* @vite-ignore */ pathToFileURL(join(folder, "plain.test.ts")).href);
});

/** The doors as the checkout has them; everything else as written. */
function placed(code: string): string {
  const entries = buildEntries();
  return code
    .replaceAll(/from "holdfast(?:\/([^"]+))?"/g, (_whole, name = "index") => {
      return `from ${JSON.stringify(join(home, entries[name as string] ?? "no such door"))}`;
    })
    .replaceAll('from "vitest"', `from ${JSON.stringify(import.meta.resolve("vitest"))}`);
}
