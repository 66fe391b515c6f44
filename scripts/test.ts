/**
 * `npm test`: every test, and how many branches of the source they took, in the test processes and in every process that
 * these started (the command, the demo, the rigs). A process that is killed tells nothing. Tests that are named, and
 * `HOLDFAST_COVERAGE=off`, run without counting, in two thirds of the time. `--coverage` (`npm run coverage`) counts whatever
 * runs, and fails when all of it stays below the floors.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BranchCounts, merged, withoutProven } from "./branches/branches.ts";
import { childCoverage } from "./branches/children.ts";
import { type Figures, figures } from "./branches/figures.ts";

const home = resolve(import.meta.dirname, "..");
const folder = join(home, "coverage");
const REPORT = join(folder, "coverage-final.json");
const asked = process.argv[2] === "--coverage";
const chosen = process.argv.slice(asked ? 3 : 2);
const isWhole = chosen.length === 0;

if (asked || (isWhole && process.env["HOLDFAST_COVERAGE"] !== "off")) {
  const count = join(folder, "count");
  const status = counting(count);
  const told = existsSync(REPORT) ? await branchesTaken() : { lines: ["vitest has left no report"], ok: false };
  console.log(`\n${told.lines.join("\n")}`);
  if (existsSync(count)) console.log(readFileSync(count, "utf8")); // the last line, as it is without counting
  // Some of the tests cannot be blamed for what the others take.
  process.exit(status === 0 && asked && isWhole && !told.ok ? 1 : status);
}
process.exit(vitest(chosen));

function counting(count: string): number {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "children"), { recursive: true });
  const reporters = ["--coverage.reporter=json", "--coverage.reportOnFailure", "--coverage.clean=false"];
  return vitest(["--coverage", ...reporters, ...chosen], {
    HOLDFAST_CHILD_COVERAGE: join(folder, "children"),
    HOLDFAST_COUNT: count,
  });
}

function vitest(args: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  const { status } = spawnSync(process.execPath, [join(home, "node_modules/vitest/vitest.mjs"), "run", ...args], {
    cwd: home,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return status ?? 1;
}

async function branchesTaken(): Promise<Figures> {
  const own = JSON.parse(readFileSync(REPORT, "utf8")) as Readonly<Record<string, BranchCounts>>;
  const source = join(home, "src");
  const { counts, processes } = await childCoverage(join(folder, "children"), source);
  const files = [...merged(own, counts)].map(
    ([path, arms]) => [path, withoutProven(arms, readFileSync(path, "utf8"))] as const,
  );
  rmSync(join(folder, "children"), { recursive: true, force: true });
  const { lines, ok } = figures(new Map(files), source);
  return { lines: [...lines, `(${processes} child processes counted in)`], ok };
}
