import { spawnSync } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fixture, Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));
const NAME = "session.jsonl";

/** The command as npm would lay it out: built, without the source beside it. */
const installed: Fixture = {
  name: "installed",
  build({ size }, folder) {
    const tsdown = join(PROJECT, "node_modules/tsdown/dist/run.mjs");
    const build = [tsdown, "--no-dts", "--out-dir", join(folder, "dist"), "--logLevel", "error"];
    must(spawnSync(process.execPath, build, { cwd: PROJECT, encoding: "utf8" }));
    for (const part of ["bin", "package.json"]) cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
    symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    if (size > 1) writeFileSync(join(folder, NAME), session(size));
  },
};

/** What no command can be faster than. */
export function bareNode(): Trial {
  return run(
    () => ["-e", "0"],
    () => {},
  );
}

export function command(argv: readonly string[], says: string): Trial {
  return saying(({ fixture }) => [join(fixture, "bin/holdfast.js"), ...argv], says);
}

/** Found, read and judged. The session is sound, so that what it says shows that it was. */
export function doctor(): Trial {
  return saying(
    ({ fixture }) => [join(fixture, "bin/holdfast.js"), "doctor", join(fixture, NAME)],
    "457 outputs\n  clean",
  );
}

function saying(argv: (task: Task) => readonly string[], says: string): Trial {
  return run(argv, (out) => {
    if (!out.includes(says)) throw new Error(`it says ${JSON.stringify(out.slice(0, 200))}`);
  });
}

function run(argv: (task: Task) => readonly string[], check: (out: string) => void): Trial {
  return defineTrial({
    fixture: installed,
    prepare: argv,
    run: (args) => spawnSync(process.execPath, args, { encoding: "utf8" }),
    times: 5,
    verify: (done) => {
      check(must(done));
      return undefined;
    },
  });
}

function must({ status, stdout, stderr }: { status: number | null; stdout: string; stderr: string }): string {
  if (status !== 0) throw new Error(`exit ${String(status)}: ${stderr.slice(0, 2_000)}${stdout.slice(0, 2_000)}`);
  return stdout;
}

/** A conversation of calls and outputs, as long as asked for. */
function session(bytes: number): string {
  const lines: string[] = [];
  let parent: string | null = null;
  const add = (type: string, message: object) => {
    const uuid = `u${lines.length}`;
    lines.push(JSON.stringify({ type, uuid, parentUuid: parent, sessionId: "s", isSidechain: false, message }));
    parent = uuid;
    return (lines.at(-1)?.length ?? 0) + 1;
  };
  let size = add("user", { role: "user", content: "Read everything." });
  for (let n = 0; size < bytes; n += 1) {
    const call = { type: "tool_use", id: `toolu_${n}`, name: "Read", input: { file: `src/file-${n}.ts` } };
    const output = { type: "tool_result", tool_use_id: call.id, content: `line ${n} `.repeat(200) };
    size += add("assistant", { id: `msg_${n}`, type: "message", role: "assistant", content: [call] });
    size += add("user", { role: "user", content: [output] });
  }
  return `${lines.join("\n")}\n`;
}
