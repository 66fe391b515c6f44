import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { desk } from "../../test/support/cli.ts";
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

test("[CLI-13] bash completes commands, flags and the values of flags with it", async () => {
  const script = join(at.folder, "completion.bash");
  writeFileSync(script, (await at.run("completion", "bash")).out);
  writeFileSync(join(at.folder, "a-file.db"), "");
  const complete = (...words: readonly string[]) => {
    const line = `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", line], { encoding: "utf8", cwd: at.folder }).stdout.trim().split("\n");
  };
  expect(complete("holdfast", "re")).toEqual(["rewind"]);
  expect(complete("holdfast", "rewind", "--be")).toEqual(["--before"]);
  expect(complete("holdfast", "sessions", "--store", "a-")).toEqual(["a-file.db"]);
  expect(complete("holdfast", "completion", "f")).toEqual(["fish"]);
});
