/**
 * `npm run coverage`: every test, and how many branches of the source they took, in the test processes and in every process
 * that these started (the command, the demo, the rigs); arguments go to vitest. A process that is killed tells nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { childCoverage } from "./children.ts";
import { type BranchCounts, merged, withoutProven } from "./branches.ts";
import { figures } from "./figures.ts";

const home = resolve(import.meta.dirname, "../..");
const folder = join(home, "coverage");
const children = join(folder, "children");
rmSync(folder, { recursive: true, force: true });
mkdirSync(children, { recursive: true });

const reporters = ["--coverage.reporter=json", "--coverage.reportOnFailure", "--coverage.clean=false"];
const { status } = spawnSync(
  process.execPath,
  [join(home, "node_modules/vitest/vitest.mjs"), "run", "--coverage", ...reporters, ...process.argv.slice(2)],
  { cwd: home, stdio: "inherit", env: { ...process.env, HOLDFAST_CHILD_COVERAGE: children } },
);
const report = join(folder, "coverage-final.json");
if (!existsSync(report)) throw new Error("vitest has left no report");
const own = JSON.parse(readFileSync(report, "utf8")) as Readonly<Record<string, BranchCounts>>;
const { counts, processes } = await childCoverage(children, join(home, "src"));
const files = [...merged(own, counts)].map(
  ([path, arms]) => [path, withoutProven(arms, readFileSync(path, "utf8"))] as const,
);
const told = figures(new Map(files), join(home, "src"));
console.log(`\n${told.lines.join("\n")}\n(${processes} child processes counted in)`);
rmSync(children, { recursive: true, force: true });
// Some of the tests cannot be blamed for what the others take.
const isWhole = process.argv.length === 2;
process.exit(status !== 0 ? (status ?? 1) : told.ok || !isWhole ? 0 : 1);
