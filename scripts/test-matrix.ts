/**
 * `npm run test:matrix [-- VERSION… --json]`: the whole test suite on every Node we support, one line per version.
 * Each Node comes from the `node` package and is kept in node_modules/.cache, so a second run downloads nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

interface Outcome {
  /** What was asked for: `22`, or a full version. */
  readonly node: string;
  /** What ran; absent when this Node could not be installed. */
  readonly version?: string;
  readonly ok: boolean;
  readonly counts: string;
  readonly seconds: number;
}

/** The oldest Node we support, whose SQLite lets one process have a store alone, and the newest of every line. */
const SUPPORTED = ["22.18.0", "22", "24", "26"];
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/holdfast-node");

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true });
const outcomes = (positionals.length > 0 ? positionals : SUPPORTED).map((node) => {
  const outcome = testOn(node);
  if (!values.json) console.log(lineOf(outcome));
  return outcome;
});
if (values.json) console.log(JSON.stringify(outcomes, null, 2));
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;

function testOn(node: string): Outcome {
  const start = performance.now();
  const seconds = () => Math.round((performance.now() - start) / 100) / 10;
  const binary = binaryOf(node);
  if (binary === undefined) return { node, ok: false, counts: "could not be installed", seconds: seconds() };
  console.error(`node ${node}: running the tests …`);
  const run = spawnSync(binary, [join(ROOT, "node_modules/vitest/vitest.mjs"), "run"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    // Tests start further processes; they are to meet the same Node.
    env: { ...process.env, PATH: [dirname(binary), process.env["PATH"]].join(delimiter), NO_COLOR: "1" },
  });
  const ok = run.status === 0;
  if (!ok) console.error(`${run.stdout}${run.stderr}`);
  const counts = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(run.stdout)?.[0] ?? "did not finish";
  return { node, version: versionOf(binary), ok, counts, seconds: seconds() };
}

/** Installs a Node into the cache, unless it is there already. */
function binaryOf(node: string): string | undefined {
  const folder = join(CACHE, node);
  const binary = join(folder, "node_modules/node/bin", process.platform === "win32" ? "node.exe" : "node");
  if (existsSync(binary)) return binary;
  console.error(`node ${node}: installing …`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const install = spawnSync(npm, ["install", "--no-save", "--no-audit", "--no-fund", `node@${node}`], {
    cwd: folder,
    encoding: "utf8",
  });
  if (existsSync(binary)) return binary;
  console.error(`${install.stdout ?? ""}${install.stderr ?? ""}`);
  return undefined;
}

function versionOf(binary: string): string {
  return spawnSync(binary, ["--version"], { encoding: "utf8" }).stdout.trim().replace(/^v/, "");
}

function lineOf({ node, version, ok, counts, seconds }: Outcome): string {
  return `node ${version ?? node}: ${counts} (${seconds} s) ${ok ? "ok" : "failed"}`;
}
