import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { expect, test } from "vitest";
import { parseOptions } from "../../src/cli/command.ts";
import { readConfig } from "../../src/cli/config/config.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { blocksIn } from "./blocks.ts";
import { ELSEWHERE, textOf, withCode } from "./pages.ts";

const home = resolve(import.meta.dirname, "../..");
/** `await using` is syntax that Node 22 does not have. */
const canUse = Number(process.versions.node.split(".")[0]) >= 24;

const run = (page: string) =>
  spawnSync(process.execPath, ["--no-warnings", "--import", "./scripts/self.ts", "test/snippets/run.ts", page], {
    cwd: home,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });

test.each(withCode("ts").filter((page) => page !== ELSEWHERE))(
  "[CLI-20] the code in %s runs as it is written",
  (page) => {
    if (!canUse && /^await using /m.test(textOf(page))) return;
    const { status, stdout, stderr } = run(page);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/[1-9]\d* ran\n$/);
    expect(status).toBe(0);
  },
);

test("[CLI-20] a block that does not run is seen, with its line", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-snippets-"));
  const page = join(folder, "page.md");
  writeFileSync(page, "# A page\n\n```ts\nawait session.fly();\n```\n");
  const { status, stderr } = run(page);
  rmSync(folder, { recursive: true });
  expect(status).toBe(1);
  expect(stderr).toContain("line 3: TypeError: session.fly is not a function");
});

/** The `holdfast …` command lines of a page. */
function commandLines(page: string): readonly string[] {
  return blocksIn(textOf(page))
    .filter(({ language }) => language === "sh")
    .flatMap(({ code }) => code.split("\n"))
    .flatMap((line) => /(?:^|\s)holdfast (.*)/.exec(line.replace(/\s#.*$/, ""))?.[1]?.trim() ?? []);
}

/** What is wrong with a command line: a command or a flag that is not there. */
async function faultIn(line: string): Promise<string | undefined> {
  const [name = "", ...words] = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
  const entry = COMMANDS.find((one) => one.name === name);
  if (entry === undefined) return `no command ${name}`;
  try {
    parseArgs({ args: words, options: parseOptions(await entry.load()), allowPositionals: true });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

test.each(withCode("sh"))("[CLI-20] every command in %s has a name and flags that exist", async (page) => {
  for (const line of commandLines(page)) expect([line, await faultIn(line)]).toEqual([line, undefined]);
});

test("a command or a flag that does not exist is seen", async () => {
  expect(await faultIn('fly --high "x"')).toBe("no command fly");
  expect(await faultIn('run "a task" --hihg')).toContain("--hihg");
});

test.each(withCode("toml"))("[CLI-20] the configuration in %s is one that the command takes", async (page) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-snippets-"));
  for (const { language, code } of blocksIn(textOf(page))) {
    if (language !== "toml") continue;
    writeFileSync(join(folder, "holdfast.toml"), code);
    const { files } = await readConfig({ values: {} }, { cwd: folder, env: {} } as never);
    expect(files).toHaveLength(1);
  }
  rmSync(folder, { recursive: true });
});
