import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SAMPLES, type Step } from "../../../test/transcripts/samples.ts";
import { main } from "../main.ts";
import type { FileReport } from "./report.ts";
import { SILENT } from "../silent.ts";

const BIN = fileURLToPath(new URL("../../../bin/holdfast.js", import.meta.url));
const SOUND: readonly Step[] = [
  { say: "user", text: "begin" },
  { call: [{ id: "c1", name: "bash" }], text: "so" },
  { output: "c1", name: "bash", text: "done" },
];
const BROKEN = SOUND.slice(0, 2);
const sound = SAMPLES["claude-code"].write(SOUND);
const broken = SAMPLES["claude-code"].write(BROKEN);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-doctor-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A file that nobody has touched for a while. */
function put(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  return path;
}

async function run(argv: readonly string[], input = "") {
  const said = { out: [] as string[], err: [] as string[] };
  const code = await main(["doctor", ...argv], {
    ...SILENT,
    out: (line) => said.out.push(line),
    err: (line) => said.err.push(line),
    cwd: folder,
    async *input() {
      yield new TextEncoder().encode(input);
    },
  });
  const reports = said.out.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as FileReport);
  return { code, out: said.out.join("\n"), err: said.err.join("\n"), reports };
}

test("[DOC-16] says the format, what is wrong, where, why and what it would do, and writes nothing", async () => {
  const path = put("session.jsonl", broken);
  const { code, out } = await run(["session.jsonl"]);
  expect(code).toBe(1);
  expect(out).toContain("session.jsonl: Claude Code session, 1 conversation, 2 messages, 1 call, 0 outputs");
  expect(out).toContain("error missing-output: a call has no output\n    line 3: bash c1");
  expect(out).toMatch(/why: .*`tool_use` ids were found without `tool_result`/);
  expect(out).toContain("repair: add an output that says the tool was interrupted, or not permitted to run (lossless)");
  expect(out).toContain("Nothing was written.");
  expect(readFileSync(path, "utf8")).toBe(broken);
  expect(readdirSync(folder)).toEqual(["session.jsonl"]);
});

test("[DOC-16] a clean session exits 0", async () => {
  put("session.jsonl", sound);
  expect(await run(["session.jsonl"])).toMatchObject({ code: 0, out: expect.stringContaining("clean") as string });
});

test("[DOC-17] --json prints one object a file with the counts by their literal definitions", async () => {
  put("session.jsonl", broken);
  const { code, reports } = await run(["session.jsonl", "--json"]);
  expect(code).toBe(1);
  expect(reports).toEqual([
    {
      file: "session.jsonl",
      format: "claude-code",
      profile: "anthropic",
      conversations: 1,
      messages: 2,
      calls: 1,
      outputs: 0,
      counts: {
        missing: 1,
        missingAtTail: 1,
        orphan: 0,
        duplicateCallIds: 0,
        duplicateOutputs: 0,
        outputBeforeCall: 0,
        displaced: 0,
        badLines: 0,
        gluedLines: 0,
      },
      findings: [
        {
          code: "missing-output",
          severity: "error",
          line: 3,
          conversation: 1,
          call: "c1",
          tool: "bash",
          message: "a call has no output",
          why: expect.stringContaining("tool_use") as string,
          repair: "add an output that says the tool was interrupted, or not permitted to run",
          lossless: true,
        },
      ],
      changes: [{ line: 3, does: "adds-after" }],
      repaired: false,
    },
  ]);
});

test("[DOC-18] --fix leaves the original beside the file, keeps its mode, and a second run is clean", async () => {
  const path = put("session.jsonl", broken);
  chmodSync(path, 0o640);
  const { code, reports } = await run(["session.jsonl", "--fix", "--json"]);
  expect(code).toBe(0);
  expect(reports[0]).toMatchObject({ repaired: true, backup: `${path}.bak` });
  expect(readFileSync(`${path}.bak`, "utf8")).toBe(broken);
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).toSorted()).toEqual(["session.jsonl", "session.jsonl.bak"]);
  expect(await run(["session.jsonl"])).toMatchObject({ code: 0 });
});

test("[DOC-18] a backup never takes an older one's place, and a clean file is not touched", async () => {
  const path = put("session.jsonl", broken);
  put("session.jsonl.bak", "older");
  await run(["session.jsonl", "--fix"]);
  expect(readFileSync(`${path}.bak`, "utf8")).toBe("older");
  expect(readFileSync(`${path}.bak.1`, "utf8")).toBe(broken);
  const before = statSync(path, { bigint: true });
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  await run(["session.jsonl", "--fix"]);
  expect(statSync(path, { bigint: true }).ino).toBe(before.ino);
});

test("[DOC-18] a compressed session is read through and written back compressed, whatever its name", async () => {
  for (const name of ["session.jsonl.gz", "no-ending"]) {
    const path = put(name, gzipSync(broken));
    expect(await run([name, "--fix"])).toMatchObject({ code: 0 });
    expect(gunzipSync(readFileSync(path)).toString()).toContain("interrupted");
    expect(gunzipSync(readFileSync(`${path}.bak`)).toString()).toBe(broken);
  }
});

test("[DOC-18] a link stays a link; what it leads to is repaired", async () => {
  put("real.jsonl", broken);
  symlinkSync("real.jsonl", join(folder, "link.jsonl"));
  expect(await run(["link.jsonl", "--fix"])).toMatchObject({ code: 0 });
  expect(lstatSync(join(folder, "link.jsonl")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, "real.jsonl"), "utf8")).toContain("interrupted");
});

test("[DOC-19] a file that changed a moment ago is refused, and is left as it was", async () => {
  const path = put("session.jsonl", broken);
  const now = Date.now() / 1000;
  utimesSync(path, now, now);
  const { code, reports } = await run(["session.jsonl", "--fix", "--json"]);
  expect(code).toBe(1);
  expect(reports[0]).toMatchObject({ repaired: false, refused: { code: "TRANSCRIPT_BUSY" } });
  expect(readFileSync(path, "utf8")).toBe(broken);
  expect(readdirSync(folder)).toEqual(["session.jsonl"]);
});

test("[DOC-19] a file that changes while it is read is refused", async () => {
  const { replaceFile } = await import("./replace.ts");
  const path = put("session.jsonl", broken);
  const stat = statSync(path, { bigint: true });
  const bytes = (async function* () {
    writeFileSync(path, `${broken}{"more":1}\n`); // its own program goes on writing
    yield new TextEncoder().encode(sound);
  })();
  const replacing = replaceFile({ path, stat, gzip: false, bytes, check: async () => ({ clean: true }) });
  await expect(replacing).rejects.toMatchObject({ code: "TRANSCRIPT_BUSY" });
  expect(readFileSync(path, "utf8")).toBe(`${broken}{"more":1}\n`);
  expect(readdirSync(folder)).toEqual(["session.jsonl"]);
});

test("[DOC-19] a repair that does not come out clean, or cannot be written, leaves the file alone", async () => {
  const { replaceFile } = await import("./replace.ts");
  const path = put("session.jsonl", broken);
  const stat = statSync(path, { bigint: true });
  const bytes = (async function* () {
    yield new TextEncoder().encode("x");
  })();
  const check = async () => ({ wrong: "still broken" });
  await expect(replaceFile({ path, stat, gzip: false, bytes, check })).rejects.toMatchObject({
    code: "TRANSCRIPT_NOT_REPAIRED",
  });
  const nowhere = join(folder, "gone", "session.jsonl");
  await expect(replaceFile({ path: nowhere, stat, gzip: false, bytes, check })).rejects.toMatchObject({
    code: "TRANSCRIPT_NOT_WRITTEN",
  });
  expect(readFileSync(path, "utf8")).toBe(broken);
  expect(readdirSync(folder)).toEqual(["session.jsonl"]);
});

test("[DOC-20] folders and patterns lead to sessions, each once; what is no session there is passed over", async () => {
  mkdirSync(join(folder, "in", "deeper"), { recursive: true });
  put("in/a.jsonl", sound);
  put("in/deeper/b.jsonl", broken);
  put("in/package.json", '{"name":"x"}');
  put("in/notes.md", "# no session");
  const { code, reports } = await run(["in", "in/*.jsonl", "--json"]);
  expect(code).toBe(1);
  expect(reports.map(({ file }) => file)).toEqual([join("in", "a.jsonl"), join("in", "deeper", "b.jsonl")]);
  expect((await run(["in/**/*.jsonl", "--json"])).reports).toHaveLength(2);
});

test("[DOC-20] - reads standard input, and cannot be repaired in place", async () => {
  expect((await run(["-", "--json"], broken)).reports[0]).toMatchObject({ file: "-", calls: 1 });
  expect(await run(["-", "--fix"], broken)).toMatchObject({ code: 2 });
  const piped = spawnSync(process.execPath, [BIN, "doctor", "-"], { input: broken, encoding: "utf8" });
  expect(piped.status).toBe(1);
});

test("[DOC-21] what cannot be read exits 3 with a code and a remedy, and the others are still looked at", async () => {
  put("session.jsonl", sound);
  put("other.json", '{"name":"x"}');
  put("empty.jsonl", "");
  put("damaged.gz", gzipSync(sound).subarray(0, 40));
  const unread = {
    "missing.jsonl": "TRANSCRIPT_UNREADABLE",
    "damaged.gz": "TRANSCRIPT_UNREADABLE",
    "other.json": "TRANSCRIPT_UNKNOWN",
    "empty.jsonl": "TRANSCRIPT_UNKNOWN",
  };
  for (const [name, why] of Object.entries(unread)) {
    const { code, err, out } = await run([name, "session.jsonl"]);
    expect(code).toBe(3);
    expect(err).toMatch(new RegExp(`${why}: .*\\ntry: `));
    expect(out).toContain("clean");
  }
  expect((await run(["missing.jsonl", "--json"])).out).toContain('"error":{"code":"TRANSCRIPT_UNREADABLE"');
});

test.skipIf(process.platform === "win32")("[DOC-21] a pipe in place of a file is refused, not waited for", async () => {
  spawnSync("sh", ["-c", "mkfifo pipe.jsonl"], { cwd: folder });
  if (!existsSync(join(folder, "pipe.jsonl"))) return;
  expect(await run(["pipe.jsonl"])).toMatchObject({ code: 3, err: expect.stringContaining("not a file") as string });
});

test("[DOC-22] wrong usage exits 2 and says what was meant", async () => {
  expect(await run([])).toMatchObject({ code: 2 });
  expect(await run(["x", "--format", "claud-code"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean claude-code") as string,
  });
  expect(await run(["x", "--profile", "antropic"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean anthropic") as string,
  });
  expect(await run(["x", "--json", "--sarif"])).toMatchObject({ code: 2 });
});

test("[DOC-29] a folder without a session says so, and a set of one is one session", async () => {
  mkdirSync(join(folder, "empty"));
  put("notes.json", "42");
  expect(await run(["empty"])).toMatchObject({ code: 0, out: "0 sessions, 0 with findings" });
  expect(await run(["."])).toMatchObject({ code: 0, out: "0 sessions, 0 with findings" });
  expect(await run(["notes.json", "."])).toMatchObject({ code: 3 });
  put("session.jsonl", sound);
  expect((await run(["."])).out).toContain("1 session, 0 with findings");
});

test("[DOC-22] a format that is half remembered is suggested by its first word", async () => {
  put("session.jsonl", sound);
  expect((await run(["session.jsonl", "--format", "cluade"])).err).toContain("did you mean claude-code?");
});

test("[DOC-22] --format reads a file as what the user says it is, and --profile judges it by another provider", async () => {
  put("session.jsonl", broken);
  expect(
    (await run(["session.jsonl", "--format", "claude", "--profile", "gemini", "--json"])).reports[0],
  ).toMatchObject({
    format: "claude-code",
    profile: "gemini",
    findings: [{ why: expect.stringContaining("function call turn") as string }],
  });
});

test("[DOC-21] a file in which nothing is of the format that was named is not called clean", async () => {
  put("chat.json", JSON.stringify([{ role: "user", content: "hi" }]));
  put("chat.jsonl", '{"role":"user","content":"hi"}\n{"role":"assistant","content":"yes"}\n');
  put("package.json", '{ "name": "x", "files": ["dist"], "people": [{ "name": "y" }] }');
  for (const name of ["chat.json", "chat.jsonl"])
    expect(await run([name, "--format", "claude-code"])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/TRANSCRIPT_UNKNOWN: .*nothing in it is of claude-code; it looks like openai-chat/),
    });
  expect(await run(["package.json", "--format", "codex-rollout", "--json"])).toMatchObject({
    code: 3,
    out: expect.stringContaining("nothing in it is of codex-rollout"),
  });
  expect((await run([".", "--format", "claude-code"])).out).toBe("0 sessions, 0 with findings");
  put("empty.jsonl", "");
  put("begun.jsonl", '{"type":"summary","summary":"x","leafUuid":"y"}\n');
  for (const name of ["empty.jsonl", "begun.jsonl"])
    expect(await run([name, "--format", "claude-code"])).toMatchObject({ code: 0 });
});

test("[DOC-23] --sarif prints a SARIF 2.1.0 log whose results name rule, file and line", async () => {
  put("a session.jsonl", broken);
  const { code, out } = await run(["a session.jsonl", "missing.jsonl", "--sarif"]);
  expect(code).toBe(3);
  const log = JSON.parse(out) as {
    version: string;
    runs: {
      tool: { driver: { rules: { id: string }[] } };
      results: Record<string, unknown>[];
      invocations: object[];
    }[];
  };
  expect(log.version).toBe("2.1.0");
  const [only] = log.runs;
  expect(only!.results).toHaveLength(1);
  expect(only!.results[0]).toMatchObject({
    ruleId: "missing-output",
    level: "error",
    locations: [{ physicalLocation: { artifactLocation: { uri: "a%20session.jsonl" }, region: { startLine: 3 } } }],
  });
  expect(only!.tool.driver.rules[only!.results[0]!["ruleIndex"] as number]!.id).toBe("missing-output");
  expect(only!.invocations).toEqual([expect.objectContaining({ executionSuccessful: false })]);
});

test("[DOC-16] an id that holds control characters does not reach the terminal as such", async () => {
  put("session.jsonl", broken.replaceAll("c1", "c1\\u001b[31m\\u202e"));
  const { out } = await run(["session.jsonl"]);
  expect(out).not.toContain("\u001b");
  expect(out).not.toContain("\u202e");
});
