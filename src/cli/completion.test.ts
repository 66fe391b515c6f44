import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { BIN, desk, threeWrites } from "../../test/support/cli.ts";
import { openTerminal } from "../../test/support/terminal.ts";
import { COMMANDS } from "./table.ts";

const at = desk();

test("[CLI-13] every shell's script names every command and every flag", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out } = await at.run("completion", shell);
    expect(code).toBe(0);
    for (const entry of COMMANDS) {
      expect(out).toContain(entry.name);
      const { options } = await entry.load();
      for (const [name, { hidden }] of Object.entries(options)) if (hidden !== true) expect(out).toContain(name);
    }
    expect(out).not.toContain("child"); // what is hidden stays so
  }
  expect(await at.run("completion", "powershell")).toMatchObject({ code: 2 });
  expect(await at.run("completion")).toMatchObject({ code: 2 });
});

async function inBash(): Promise<(...words: readonly string[]) => readonly string[]> {
  const script = join(at.folder, "completion.bash");
  writeFileSync(script, (await at.run("completion", "bash")).out);
  const env = { ...process.env, PATH: installed() };
  return (...words) => {
    const line = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", line], { encoding: "utf8", cwd: at.folder, env }).stdout.trim().split("\n");
  };
}

test("[CLI-13] bash completes commands, flags and the values of flags with it", async () => {
  writeFileSync(join(at.folder, "a-file.db"), "");
  const complete = await inBash();
  expect(complete("holdfast", "re")).toEqual(["rewind"]);
  expect(complete("holdfast", "rewind", "--be")).toEqual(["--before"]);
  expect(complete("holdfast", "sessions", "--store", "a-")).toEqual(["a-file.db"]);
  expect(complete("holdfast", "completion", "f")).toEqual(["fish"]);
});

test("[CLI-13] bash completes sessions for every command that takes one, and files for the others", async () => {
  await threeWrites(at.folder, "rename-foo");
  writeFileSync(join(at.folder, "renamed.jsonl"), "");
  const complete = await inBash();
  for (const command of ["show", "rewind", "fork", "context", "verify", "export", "gc", "delete"])
    expect([command, ...complete("holdfast", command, "ren")]).toEqual([command, "rename-foo"]);
  for (const command of ["doctor", "import"])
    expect([command, ...complete("holdfast", command, "ren")]).toEqual([command, "renamed.jsonl"]);
});

/** Whether a shell is here; a test that needs one that is not is skipped, by name. */
function has(shell: string): boolean {
  return spawnSync(shell, ["--version"]).status === 0;
}

/** `holdfast` as a command, the way a package manager puts it there. */
function installed(): string {
  const bin = join(at.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "holdfast"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(join(bin, "holdfast"), 0o755);
  return `${bin}${delimiter}${process.env["PATH"]}`;
}

test.skipIf(!has("zsh"))(
  "[CLI-13] zsh loads it from its functions, and completes commands, flags and sessions at once",
  async () => {
    const path = installed();
    await threeWrites(at.folder, "rename-foo");
    const functions = join(at.folder, "functions");
    mkdirSync(functions);
    writeFileSync(join(functions, "_holdfast"), (await at.run("completion", "zsh")).out);
    const shell = openTerminal(["zsh", "-f", "-i"], { cwd: at.folder, env: { PATH: path, PS1: "ready> " } });
    try {
      await shell.types(
        `fpath=('${functions}' $fpath); autoload -Uz compinit; compinit -u -D; echo load''ed\r`,
        "loaded",
      );
      await shell.types("holdfast rew\t", "ind"); // what it adds to what was typed
      await shell.types("--dry\t", "-run");
      await shell.types("ren\t", "ame-foo");
    } finally {
      shell.child.kill("SIGKILL");
    }
  },
);

test.skipIf(!has("fish"))(
  "[CLI-13] fish loads it from its completions, and completes commands, flags and sessions",
  async () => {
    const path = installed();
    await threeWrites(at.folder, "rename-foo");
    const folder = join(at.folder, "home", ".config", "fish", "completions");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "holdfast.fish"), (await at.run("completion", "fish")).out);
    const complete = (line: string) => {
      const { stdout, stderr } = spawnSync("fish", ["-c", `complete -C '${line}'`], {
        encoding: "utf8",
        cwd: at.folder,
        env: { PATH: path, HOME: join(at.folder, "home") },
      });
      expect(stderr).toBe("");
      return stdout.split("\n").map((one) => one.split("\t")[0]);
    };
    expect(complete("holdfast rew")).toContain("rewind");
    expect(complete("holdfast rewind --dry")).toContain("--dry-run");
    expect(complete("holdfast show ren")).toContain("rename-foo");
    expect(complete("holdfast completion f")).toContain("fish");
  },
);
