/** The documents with code in them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { blocksIn } from "./blocks.ts";

const home = resolve(import.meta.dirname, "../..");
const guides = readdirSync(join(home, "docs/guides")).map((name) => `docs/guides/${name}`);

const PAGES: readonly string[] = ["README.md", "docs/README.md", "docs/cli.md", "docs/evaluation.md", ...guides];
export const textOf = (page: string): string => readFileSync(join(home, page), "utf8");
export const withCode = (language: string): readonly string[] =>
  PAGES.filter((page) => blocksIn(textOf(page)).some((block) => block.language === language));

/** Its blocks are the files of one adapter, which is put together and kept to the laws in test/laws. */
export const ELSEWHERE = "docs/guides/adding-an-adapter.md";
