import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { blocksIn } from "./blocks.ts";
import { ELSEWHERE, textOf, withCode } from "./pages.ts";

const home = resolve(import.meta.dirname, "../..");

interface Configuration {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
}

/** Compiles every `ts` block of the pages as a module of its own, among the names that readers have; answers what is wrong. */
function faultsOf(pages: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-types-"));
  try {
    // On the line of its fence, so that a fault has the line of the page.
    for (const [page, text] of Object.entries(pages))
      for (const { line, language, code } of blocksIn(text))
        if (language === "ts")
          writeFileSync(join(folder, `${basename(page)}-${line}.ts`), `${"\n".repeat(line - 1)}export {};\n${code}\n`);
    const { compilerOptions } = JSON.parse(readFileSync(join(home, "tsconfig.json"), "utf8")) as Configuration;
    const paths = Object.entries(compilerOptions.paths).map(([name, places]) => [name, places.map(inHome)] as const);
    const options = { ...READERS, paths: Object.fromEntries(paths) };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
    writeFileSync(join(folder, "ambient.d.ts"), `${ABSENT}\n${ambientNames()}`);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    symlinkSync(join(home, "node_modules"), join(folder, "node_modules"));
    const tsc = join(home, "node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], {
      cwd: folder,
      encoding: "utf8",
    });
    return stdout.split("\n").filter((told) => / error TS/.test(told));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inHome = (path: string) => join(home, path);

/** As strict as a reader may be, but for what he would have to write around every second line of an example. */
const READERS = {
  target: "es2024",
  lib: ["es2024", "esnext"],
  module: "nodenext",
  types: ["node"],
  typeRoots: [join(home, "node_modules/@types")],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  noEmit: true,
};

/** A package that is not in this tree, as far as the documents use it. */
const ABSENT = `declare module "@anthropic-ai/claude-agent-sdk" {
  export function query(asked: { prompt: string; options?: { [name: string]: unknown } }): AsyncIterable<unknown>;
}`;

/** The names that ambient.ts makes, each with its type. */
function ambientNames(): string {
  const { stdout } = spawnSync(process.execPath, ["--no-warnings", "--import", "./scripts/self.ts", "--eval", PRINT], {
    cwd: home,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  const ambient = JSON.stringify(inHome("test/snippets/ambient.ts"));
  const declared = stdout.split(/\s+/).filter((name) => name !== "");
  return declared.map((name) => `declare const ${name}: import(${ambient}).Ambient["${name}"];`).join("\n");
}

const PRINT = `
import("./test/snippets/ambient.ts").then(async ({ setUp }) => {
  const before = new Set(Object.keys(globalThis));
  await setUp();
  console.log(Object.keys(globalThis).filter((name) => !before.has(name)).join(" "));
  process.exit(0);
});`;

test("[CLI-37] the code in the README and in the guides compiles as it is written, and what does not is seen with its line", () => {
  const pages = withCode("ts").filter((page) => page !== ELSEWHERE);
  const planted = { "planted.md": "# A page\n\n```ts\nawait session.fly();\n```\n" };
  expect(faultsOf({ ...Object.fromEntries(pages.map((page) => [page, textOf(page)])), ...planted })).toEqual([
    "planted.md-3.ts(4,15): error TS2339: Property 'fly' does not exist on type 'Session'.",
  ]);
});
