import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN } from "../../../test/support/cli.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-demo-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Report {
  readonly ok: boolean;
  readonly acknowledgedBeforeTheKill: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly claims: readonly { readonly act: string; readonly claim: string; readonly holds: boolean }[];
  readonly folder?: string;
}

const ACTS = ["failing-tool", "two-edits", "killed", "broken-session", "squeezed", "plan-mode", "back-and-aside"];

function demo(argv: readonly string[], node: readonly string[] = [], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...node, BIN, "demo", ...argv], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], TMPDIR: folder, ...env },
  });
  return { status, stdout, stderr };
}

test("[CLI-2] the demo refuses what follows it, and begins nothing", () => {
  const { status, stdout, stderr } = demo(["again"]);
  expect([status, stdout, readdirSync(folder)]).toEqual([2, "", []]);
  expect(stderr).toBe("BAD_OPTION: again: the demo takes no arguments\ntry: holdfast demo --help\n");
});

test("[CLI-1] the demo plays seven acts on a real folder, and every claim of every act holds", () => {
  const { status, stdout } = demo(["--json"]);
  const report = JSON.parse(stdout) as Report;
  expect(report.claims.filter(({ holds }) => !holds)).toEqual([]);
  expect([...new Set(report.claims.map(({ act }) => act))]).toEqual(ACTS);
  expect(report.claims.length).toBeGreaterThanOrEqual(30);
  expect(report.acknowledgedBeforeTheKill).toBeGreaterThan(30);
  expect(report.tokensAfter * 4).toBeLessThanOrEqual(report.tokensBefore);
  expect([status, report.ok]).toEqual([0, true]);
  expect(readdirSync(folder)).toEqual([]); // it takes its folder with it
});

test("[CLI-1] for people it has no colour codes in a pipe, fits 80 columns and says what to try next", () => {
  const { status, stdout } = demo([]);
  expect(status).toBe(0);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toContain("Try next:");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("[CLI-1] --keep leaves a folder that the other commands work in", () => {
  const { folder: kept = "" } = JSON.parse(demo(["--json", "--keep"]).stdout) as Report;
  const run = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [BIN, ...argv], { cwd: kept, encoding: "utf8", env: { PATH: process.env["PATH"] } });
  expect(run("verify").stdout).toMatch(/ok: 2 sessions, \d{3} records/);
  expect(run("sessions").stdout).toContain("try-again");
  expect(run("show", "tidy-cart").stdout).toContain("rewound");
});

/** One bug for each act: the first claim that turns red must be one of that act. */
const BUGS: readonly {
  readonly act: string;
  readonly file: string;
  readonly edits: readonly (readonly [string, string])[];
}[] = [
  {
    act: "failing-tool",
    file: "src/transaction/settle.ts", // a failure is committed like a success
    edits: [
      ['return ending.kind === "succeeded"\n', 'return ending.kind !== "denied"\n'],
      ['if (ending.kind !== "succeeded") return { instead: ending };', ""],
    ],
  },
  {
    act: "two-edits",
    file: "src/state/branch.ts", // nobody looks whether what was read is still so
    edits: [["if (newest === this.base) return [];", "if (newest !== undefined) return [];"]],
  },
  {
    act: "killed",
    file: "src/turn/recover.ts", // the open call stays open
    edits: [["const drafts = [...closingsOf(journal.folded)];", "const drafts: RecordDraft[] = [];"]],
  },
  {
    act: "broken-session",
    file: "src/cli/doctor/replace.ts", // the repaired file never takes its place
    edits: [["    renameSync(temp, path);\n", "    rmSync(temp);\n"]],
  },
  {
    act: "squeezed",
    file: "src/turn/session-context.ts", // a rule is lost
    edits: [
      [
        "return pages.list({ ...log, rules: all, preferences",
        "return pages.list({ ...log, rules: all.slice(1), preferences",
      ],
    ],
  },
  {
    act: "plan-mode",
    file: "src/turn/story.ts", // nobody looks at what is sent
    edits: [["if (faults.length === 0) return;", "if (faults.length >= 0) return;"]],
  },
  {
    act: "back-and-aside",
    file: "src/turn/rewind-files.ts", // files stay as they are
    edits: [["const value = plan?.value ?? ", "const value = now ?? "]],
  },
];

test.each(BUGS)("[CLI-1] a bug that breaks the act $act makes a claim of it false, and the exit code 1", (bug) => {
  const planted = bug.edits.map(([find, replace]) => ({ file: bug.file, find, replace }));
  const { status, stdout, stderr } = demo(["--json"], ["--import", "./test/support/plant.ts"], {
    HOLDFAST_PLANT: JSON.stringify(planted),
  });
  expect(stderr).toBe("");
  const { ok, claims } = JSON.parse(stdout) as Report;
  expect(claims.find(({ holds }) => !holds)).toMatchObject({ act: bug.act });
  expect([status, ok]).toEqual([1, false]);
});

test("[CLI-1] interrupted, it ends its child and takes its folder with it", async () => {
  const child = spawn(process.execPath, [BIN, "demo"], { env: { PATH: process.env["PATH"], TMPDIR: folder } });
  await new Promise<void>((resolve) => {
    let heard = "";
    child.stdout.on("data", (piece: Buffer) => {
      heard += piece.toString("utf8");
      if (heard.includes("3/7")) resolve();
    });
  });
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(130);
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});
