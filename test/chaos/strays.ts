import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, defineTool, type ExecResult } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { driverMissing, leftRunning } from "./files-model.ts";
import type { Rig, Tally } from "./rig.ts";
import { within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";

/** Runs on, writes on, and is known by its last argument. */
const LOOP = `/bin/sh -c 'while :; do sleep 0.05; echo late > late.txt; done' "$PWD"`;

/** How children leave: each ends up somewhere else than under its command. */
const WAYS: Readonly<Record<string, string>> = {
  "in the background": `${LOOP} &`,
  "with its output closed": `${LOOP} > /dev/null 2>&1 < /dev/null &`,
  "in a session of its own": `setsid ${LOOP} &`,
  "as a grandchild": `(${LOOP} &) `,
  "as a daemon": `(setsid ${LOOP} > /dev/null 2>&1 < /dev/null &) `,
  "deaf to signals": `(trap '' TERM HUP INT; ${LOOP}) &`,
  "with no environment": `env -i PATH="$PATH" setsid ${LOOP} &`,
  "through nohup": `nohup ${LOOP} > /dev/null 2>&1 &`,
  "three deep": `/bin/sh -c "setsid /bin/sh -c \\"setsid ${LOOP.replaceAll('"$PWD"', "'$PWD'").replaceAll('"', '\\\\\\"')} & wait\\" & wait" &`,
};

/** How the command itself ends. */
const ENDS = ["by itself", "by failing", "by time", "by abort"] as const;
const LONGEST_MS = 2_000;

export const strays: Rig = {
  about:
    "commands whose children leave in every way, and end in every way: all gone within two seconds, nothing written",
  cases: 200,
  quickCases: 36,
  async run(tally, { cases }) {
    const drivers = (["overlay", "portable"] as const).filter((driver) => {
      const why = driverMissing(driver);
      if (why !== undefined) tally.skipped.push(`${driver}: ${why}`);
      return why === undefined;
    });
    const all = drivers.flatMap((driver) =>
      Object.keys(WAYS).flatMap((way) => ENDS.map((end) => ({ driver, way, end }))),
    );
    for (let nth = 0; nth < cases; nth += 1) {
      const { driver, way, end } = cases < all.length ? tally.random.pick(all) : (all[nth % all.length] ?? all[0]!);
      tally.done(`${driver}, ${way}, ended ${end}`, await leave(tally, driver, way, end));
    }
  },
};

async function leave(
  tally: Tally,
  driver: "overlay" | "portable",
  way: string,
  end: string,
): Promise<readonly string[]> {
  const folder = scratchFolder("strays");
  const root = join(folder, "root");
  mkdirSync(root);
  const wrong: string[] = [];
  const results: ExecResult[] = [];
  const delay = 20 + tally.random.below(150);
  const shell = defineTool<string>({
    name: "shell",
    access: "execute",
    async run(line, call) {
      results.push(await call.exec(line, end === "by time" ? { limits: { timeMs: delay } } : {}));
      return call.fail("undone", "whatever it did");
    },
  });
  const holdfast = await createHoldfast({
    store: sqlite(join(folder, "s.db")),
    workspace: root,
    tools: [shell],
    exec: { driver },
  });
  const session = await holdfast.open("s");
  const rest = { "by itself": "sleep 0.1", "by failing": "sleep 0.1; exit 3" }[end] ?? "sleep 1000";
  const stop = new AbortController();
  let from = performance.now();
  if (end === "by abort")
    setTimeout(() => {
      from = performance.now();
      stop.abort();
    }, delay);
  const line = `${WAYS[way]}\n${rest}`;
  await within(60_000, "a call", session.runTool({ name: "shell", input: line }, { signal: stop.signal }));
  const took = performance.now() - from - (end === "by time" ? delay : 0);
  for (const pid of leftRunning(root)) wrong.push(`process ${pid} is still there`);
  if (end === "by abort" && took > LONGEST_MS) wrong.push(`it took ${took.toFixed(0)} ms to end`);
  const seen = await session.files.list();
  if (seen.length > 0) wrong.push(`left in the workspace: ${seen.map(({ name }) => name).join(", ")}`);
  await new Promise((resolve) => setTimeout(resolve, 120)); // whoever still writes has been by then
  const later = await session.files.list();
  if (later.length > 0) wrong.push(`written late: ${later.map(({ name }) => name).join(", ")}`);
  tally.count("processes ended", results[0]?.strays ?? 0);
  await session.close();
  await holdfast.close();
  removeFolder(folder);
  return wrong;
}
