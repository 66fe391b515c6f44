import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { defineTool, type ExecOptions, type ExecResult } from "../../src/index.ts";
import { work } from "./workspaces.ts";

const DRIVERS = ["overlay", "portable"] as const;
export type Driver = (typeof DRIVERS)[number];

/** Why a driver cannot be tried on this machine; told by name in the tests that are left out. */
export function missing(driver: Driver): string | undefined {
  if (driver === "portable") return undefined;
  const tried = spawnSync("unshare", [...AS_USER, "--mount", "true"], { encoding: "utf8" });
  return tried.status === 0 ? undefined : `overlay is not possible here: ${tried.stderr || tried.error?.message}`;
}

/** Whom the system refuses nothing. */
export const IS_ROOT = process.getuid?.() === 0;
const AS_USER = IS_ROOT ? [] : ["--user", "--map-current-user", "--keep-caps"];

/** The same tests with every driver that works here; one that does not is left out by name. */
export function eachDriver(tests: (driver: Driver) => void): void {
  for (const driver of DRIVERS) {
    const why = missing(driver);
    describe.skipIf(why !== undefined)(`${driver}${why === undefined ? "" : ` (skipped: ${why})`}`, () => {
      tests(driver);
    });
  }
}

export interface Line {
  readonly line: string | readonly string[];
  readonly options?: ExecOptions;
  /** Let the call fail whatever the command does. */
  readonly undo?: boolean;
  /** Let it succeed whatever the command does. */
  readonly keep?: boolean;
}

/** A session whose one tool runs commands; every result is kept to be looked at. */
export async function withCommands(
  driver: Driver,
  options: Parameters<typeof work>[0] = {},
  at?: Parameters<typeof work>[1],
) {
  const results: ExecResult[] = [];
  const shell = defineTool<Line>({
    name: "shell",
    access: "execute",
    async run({ line, options: how, undo, keep }, call) {
      const result = await call.exec(line, how);
      results.push(result);
      if (undo === true) return call.fail("undone", "on purpose");
      return result.exitCode === 0 || keep === true
        ? { exit: result.exitCode }
        : call.fail("exit", `exit ${result.exitCode} ${result.stderr.text}`);
    },
  });
  const { tools = [], exec, ...rest } = options;
  const one = await work({ tools: [shell, ...tools], exec: { driver, ...exec }, ...rest }, at);
  return {
    ...one,
    results,
    sh: (line: Line["line"], how: Omit<Line, "line"> = {}) =>
      one.session.runTool({ name: "shell", input: { line, ...how } }),
  };
}

/** What a plain shell would have made of a folder. */
export function plainly(root: string, line: string): void {
  spawnSync("/bin/sh", ["-c", line], { cwd: root, stdio: "ignore" });
}

export function git(root: string, ...args: readonly string[]): void {
  const who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...who, ...args], {
    cwd: root,
    stdio: "ignore",
    env: { ...process.env, GIT_AUTHOR_DATE: "2020-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2020-01-01T00:00:00Z" },
  });
}

/** Everything a tree is, one line for each name: kind, mode, owner, content, which names share a file, and times. */
export function portrait(root: string, options: { readonly times: boolean }): readonly string[] {
  const lines: string[] = [];
  const files = new Map<bigint, string>();
  const walk = (folder: string): void => {
    for (const name of readdirSync(join(root, folder), { encoding: "buffer" }).toSorted((a, b) => a.compare(b))) {
      const path = folder === "" ? name.toString("latin1") : `${folder}/${name.toString("latin1")}`;
      if (path === ".holdfast") continue;
      const at = Buffer.from(`${root}/${path}`, "latin1");
      const stat = lstatSync(at, { bigint: true });
      const first = files.get(stat.ino) ?? path;
      if (stat.isFile()) files.set(stat.ino, first);
      const holds = stat.isFile()
        ? createHash("sha256").update(readFileSync(at)).digest("hex").slice(0, 16)
        : stat.isSymbolicLink()
          ? readlinkSync(at)
          : "";
      const kind =
        ["isFile", "isDirectory", "isSymbolicLink", "isFIFO"].find((is) => stat[is as "isFile"]()) ?? "other";
      const time = options.times && !stat.isSymbolicLink() ? [stat.mtimeNs / 1000n] : [];
      const same = stat.isFile() && first !== path ? [`= ${first}`] : [];
      lines.push(
        [
          JSON.stringify(path),
          kind,
          (stat.mode & 0o7777n).toString(8),
          stat.uid,
          stat.gid,
          holds,
          ...same,
          ...time,
        ].join(" "),
      );
      if (stat.isDirectory()) walk(path);
    }
  };
  walk("");
  const { mode } = lstatSync(root);
  return [`. ${(mode & 0o7777).toString(8)}`, ...lines];
}

/** Processes whose command line holds a text, as the system knows them. */
export function runningLike(text: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false; // gone meanwhile
    }
  });
}
