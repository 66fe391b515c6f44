import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "vitest";
import type { Model } from "../../src/index.ts";
import { adapterLaws, overServer, register } from "../../src/testing/entry.ts";
import { scratchFolder } from "../support/places.ts";

/** The adapter of the guide, taken from the page: whoever follows it must get one that keeps every law. */

const home = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(home, "docs/guides/adding-an-adapter.md"), "utf8");
const folder = join(scratchFolder(), "plain");
mkdirSync(folder);
for (const [, name = "", code = ""] of page.matchAll(/```ts\n\/\/ (\w+\.ts)\n(.*?)```/gs)) {
  const placed = code
    .replaceAll('from "../../', `from "${join(home, "src")}/`)
    .replaceAll('from "../', `from "${join(home, "src/adapters")}/`);
  writeFileSync(join(folder, name), placed);
}
const { plain } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, "entry.ts")).href)) as {
  readonly plain: (options: { readonly model: string; readonly apiKey: string; readonly baseURL: string }) => Model;
};

describe("the adapter of the guide", () => {
  const open = overServer((url) => plain({ model: "strict-1", apiKey: "key", baseURL: `${url}/v1` }));
  register(adapterLaws("guide", { open, can: { reasoning: false } }), test);
});
