import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PLANTED } from "./planted.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { removeFolder, scratchFolder, startChild } from "./scratch.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Plants every bug of the list in a copy and lets its rig run. A rig that stays green has no teeth. */
export async function showTeeth(only: readonly string[] | undefined, json: boolean): Promise<number> {
  const unknown = only?.filter((wanted) => !PLANTED.some(({ name }) => name === wanted)) ?? [];
  if (unknown.length > 0)
    throw new TypeError(
      `no planted bug ${unknown.join(", ")}; there are ${PLANTED.map(({ name }) => name).join(", ")}`,
    );
  const bugs = only === undefined ? PLANTED : PLANTED.filter(({ name }) => only.includes(name));
  const sound = await soundRigs(bugs);
  let found = 0;
  for (const bug of bugs) {
    const started = performance.now();
    const { red, said } = sound.has(runOf(bug))
      ? await bite(bug)
      : { red: false, said: "its rig is not green without the bug" };
    if (red) found += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    const line = `teeth: ${bug.name}: ${red ? "found" : "NOT FOUND"} by ${bug.rig} in ${seconds} s: ${said}`;
    if (json) process.stdout.write(`${JSON.stringify({ bug: bug.name, rig: bug.rig, found: red, said })}\n`);
    else process.stderr.write(`${line.slice(0, 220)}\n`);
  }
  process.stdout.write(`teeth: ${bugs.length} planted, ${found} found\n`);
  return found === bugs.length ? 0 : 1;
}

/** Without a bug each rig must be green for as long as it is given to find one, or its red would prove nothing. */
async function soundRigs(bugs: readonly PlantedBug[]): Promise<ReadonlySet<string>> {
  const sound = new Set<string>();
  for (const args of new Set(bugs.map(runOf))) {
    const [rig = "", ...rest] = args.split(" ");
    const { code, said } = await runIn(ROOT, rig, rest);
    process.stderr.write(`teeth: ${args} without a bug: ${code === 0 ? "green" : `exit ${code}: ${said}`}\n`);
    if (code === 0) sound.add(args);
  }
  return sound;
}

function runOf({ rig, args }: PlantedBug): string {
  return [rig, ...args].join(" ");
}

async function bite(bug: PlantedBug): Promise<{ readonly red: boolean; readonly said: string }> {
  const folder = scratchFolder("teeth");
  try {
    for (const part of ["src", "test", "package.json", "tsconfig.json"])
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const { file, find, replace } of bug.edits) plant(join(folder, file), find, replace);
    const { code, said } = await runIn(folder, bug.rig, [...bug.args, "--until-red"]);
    return { red: code === 1 && /[1-9]\d* violations/.test(said), said };
  } finally {
    removeFolder(folder);
  }
}

/** The list must follow the source: a text that is gone, or stands twice, is an error of the list. */
function plant(file: string, find: string, replace: string): void {
  const text = readFileSync(file, "utf8");
  const times = text.split(find).length - 1;
  if (times !== 1) throw new TypeError(`${file} has ${times} times: ${find}`);
  writeFileSync(
    file,
    text.replace(find, () => replace),
  );
}

function runIn(
  root: string,
  rig: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve) => {
    const program = join(root, "test/chaos/main.ts");
    const child = startChild(
      process.execPath,
      [program, rig, "--seed", "teeth", ...args],
      { cwd: root, stdio: ["ignore", "pipe", "pipe"] },
      "SIGTERM",
    );
    let out = "";
    let violation = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8");
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      violation ||= /VIOLATION in (.*)/.exec(chunk.toString("utf8"))?.[1] ?? "";
    });
    child.once("close", (code) => resolve({ code, said: `${out.trim()} ${violation}` }));
  });
}
