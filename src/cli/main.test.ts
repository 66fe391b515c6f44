import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN } from "../../test/support/cli.ts";
import { createHoldfast, type SealedRecord } from "../index.ts";
import { openSqlite, sqlite } from "../stores/sqlite/entry.ts";
import { main } from "./main.ts";
import { COMMANDS } from "./table.ts";
import { SILENT } from "./silent.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(...argv: readonly string[]) {
  const said = { out: [] as string[], err: [] as string[] };
  const code = await main(argv, {
    ...SILENT,
    out: (line) => said.out.push(line),
    err: (line) => said.err.push(line),
    cwd: folder,
  });
  return { code, out: said.out.join("\n"), err: said.err.join("\n") };
}

async function storeWith(count: number): Promise<string> {
  const path = join(folder, ".holdfast", "sessions.db");
  const holdfast = await createHoldfast({ store: sqlite(path) });
  const session = await holdfast.open("one");
  for (let index = 0; index < count; index += 1)
    await session.append({ kind: "user-said", text: `needle-${index}-needle` });
  await session.close();
  await holdfast.close();
  return path;
}

function damage(path: string, needle: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(needle);
  expect(at).toBeGreaterThanOrEqual(0);
  bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test("[CLI-2] wrong usage exits 2, names what is wrong and suggests the nearest", async () => {
  expect(await run("verfy")).toEqual({
    code: 2,
    out: "",
    err: 'USAGE: there is no command "verfy"\ntry: did you mean verify?',
  });
  expect(await run("zzzzzz")).toMatchObject({
    code: 2,
    err: expect.stringContaining("try: holdfast --help") as string,
  });
  expect(await run("verify", "--stor", "x")).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean --store?") as string,
  });
  expect(await run("verify", "../x")).toMatchObject({ code: 3 });
});

test("[CLI-2] a flag that lacks its value is not answered with its own name, nor with more than two lines", async () => {
  expect(await run("sessions", "--store")).toMatchObject({
    code: 2,
    err: "USAGE: sessions: Option '--store <value>' argument missing\ntry: holdfast sessions --help",
  });
  expect(await run("sessions", "--limit", "-1")).toMatchObject({
    code: 2,
    err: "USAGE: sessions: --limit has no value: what begins with a dash is a flag\ntry: --limit=VALUE if it is meant",
  });
});

test("[CLI-2] what is missing, or cannot be, is said first, and the help of the command is what to try", async () => {
  expect(await run("run")).toEqual({
    code: 2,
    out: "",
    err: 'BAD_OPTION: TASK: say what to do: holdfast run "fix the failing test"\ntry: holdfast run --help',
  });
  const told = async (...argv: string[]) => (await run(...argv)).err.split("\n");
  expect(await told("sessions", "--limit", "abc")).toEqual([
    'BAD_OPTION: --limit: wants a whole number, not "abc"',
    "try: holdfast sessions --help",
  ]);
  expect((await told("run", "x", "--model", "openai:x"))[0]).toMatch(
    /^BAD_OPTION: --model: OPENAI_API_KEY is not set; /,
  );
  expect((await told("completion"))[0]).toBe("BAD_OPTION: SHELL: name one: bash, zsh or fish");
  expect((await told("completion", "tcsh"))[0]).toBe(
    "BAD_OPTION: SHELL: there is no script for tcsh; name bash, zsh or fish",
  );
  expect((await told("verify", "a", "b"))[0]).toBe("BAD_OPTION: b: wants one session, or none");
  expect((await told("import", "gone.tar"))[0]).toMatch(
    /^BAD_OPTION: BUNDLE: it cannot be read \(value: .*gone\.tar, /,
  );
  expect((await told("verify", "a", "b\u001b[31m\nc"))[0]).toContain(String.raw`"b\u001b[31m\nc": wants`); // nothing in it is obeyed
  expect(JSON.parse((await run("run", "--json")).out)).toEqual({
    ok: false,
    code: "BAD_OPTION",
    message: 'TASK: say what to do: holdfast run "fix the failing test"',
    try: "holdfast run --help",
    details: { option: "TASK", why: 'say what to do: holdfast run "fix the failing test"' },
  });
});

test("[CLI-2] help is asked for in either order, and a flag before the command is no command", async () => {
  for (const command of COMMANDS) expect(await run("help", command.name)).toEqual(await run(command.name, "--help"));
  expect(await run("help", "verfy")).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean verify?") as string,
  });
  expect(await run("--stor", "x", "verify")).toMatchObject({
    code: 2,
    err: "USAGE: there is no flag --stor before a command\ntry: holdfast --help",
  });
});

test("[CLI-12] usage is cut between flags and not inside them, and what is said of an example stays beside it", async () => {
  for (const { name } of COMMANDS) {
    const lines = (await run(name, "--help")).out.split("\n");
    const usage = lines.slice(2, lines.indexOf("", 2));
    for (const line of usage) expect([name, line.split("[").length]).toEqual([name, line.split("]").length]); // every bracket is closed on its line
    for (const line of usage) expect(line).not.toMatch(/^ +[A-Z]/); // a value stays with its flag
    const examples = lines.slice(lines.indexOf("examples:") + 1);
    const notes = examples.flatMap((line) => /^ {2}\S.*?\S( {4,})(?=\S[^"]*$)/.exec(line)?.[0].length ?? []);
    expect([name, new Set(notes).size <= 1]).toEqual([name, true]); // they begin below each other
    for (const line of examples.filter((one) => !one.startsWith("  holdfast") && !/^ {2}\S/.test(one)))
      expect(line).toMatch(/^ {20,}\S/);
  }
});

test("[CLI-12] what cannot be read as a command is told as one object, too", async () => {
  const unknown = await run("verfy", "--json");
  expect([unknown.code, unknown.err, JSON.parse(unknown.out)]).toEqual([
    2,
    "",
    {
      ok: false,
      code: "USAGE",
      message: 'there is no command "verfy"',
      try: "did you mean verify?",
      details: {},
    },
  ]);
  expect(JSON.parse((await run("verify", "--stor", "x", "--json")).out)).toMatchObject({ code: "USAGE", ok: false });
});

test("[CLI-2] every command has help with an example", async () => {
  expect((await run("--help")).out).toContain("Exit codes: 0 done");
  for (const command of COMMANDS) expect((await run(command.name, "--help")).out).toContain(`holdfast ${command.name}`);
  expect((await run("--version")).out).toMatch(/^\d+\.\d+\.\d+/);
});

test("[CLI-3] verify never makes a store: where there is none it exits 3 with a remedy", async () => {
  const { code, err } = await run("verify");
  expect(code).toBe(3);
  expect(err).toMatch(/^STORE_UNREACHABLE: .*\ntry: /);
  expect(existsSync(join(folder, ".holdfast"))).toBe(false);
  expect(JSON.parse((await run("verify", "--json")).out)).toMatchObject({ ok: false, code: "STORE_UNREACHABLE" });
});

test("[CLI-3] verify exits 1 and names the damaged record; others are counted as sound", async () => {
  const path = await storeWith(10);
  expect(await run("verify")).toMatchObject({ code: 0, out: "ok: 1 session, 11 records, 0 blobs checked" });
  damage(path, "needle-4-needle");
  expect(await run("verify")).toMatchObject({
    code: 1,
    out: "one: record 6 body-altered\n1 fault: 1 session, 10 records, 0 blobs checked",
  });
  expect(JSON.parse((await run("verify", "one", "--json")).out)).toMatchObject({
    ok: false,
    sessions: [{ session: "one", damaged: [{ seq: 6 }] }],
  });
});

test("[CLI-4] salvage writes every proven record to a new file, and never over an existing one", async () => {
  const path = await storeWith(10);
  damage(path, "needle-4-needle");
  damage(path, "SQLite format 3"); // nothing of SQLite's can open this any more
  expect(await run("verify")).toMatchObject({ code: 3 });
  expect(await run("verify", "--salvage", "out.jsonl")).toMatchObject({
    code: 0,
    out: expect.stringContaining("10 proven records") as string,
  });
  const lines = readFileSync(join(folder, "out.jsonl"), "utf8").trim().split("\n");
  const seqs = lines.map((line) => (JSON.parse(line) as SealedRecord).seq).sort((a, b) => a - b);
  expect(seqs).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 10, 11]);
  expect(await run("verify", "--salvage", "out.jsonl")).toMatchObject({ code: 2 });
});

test("[CLI-4] salvage leaves no file behind when there is nothing to salvage", async () => {
  const gone = ["verify", "--store", "gone.db", "--salvage", "nothing.jsonl"];
  expect(await run(...gone)).toMatchObject({ code: 3 });
  expect(existsSync(join(folder, "nothing.jsonl"))).toBe(false);
});

test("[CLI-3] verify leaves a store's durability class as it is, and takes one session at most", async () => {
  const path = await storeWith(1);
  await (await openSqlite(path, { durability: "process" })).close();
  expect(await run("verify", "one")).toMatchObject({ code: 0 });
  const looking = await openSqlite(path, { durability: "kept" });
  expect(looking.durability).toBe("process");
  await looking.close();
  expect(await run("verify", "one", "two")).toMatchObject({ code: 2 });
});

test("[CLI-21] where Node brings no SQLite, whatever needs a store says so in one line, and what needs none works", () => {
  const without = (...argv: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--no-experimental-sqlite", BIN, ...argv], {
      encoding: "utf8",
      cwd: folder,
      env: { PATH: process.env["PATH"] },
    });
    return { status, stdout, stderr };
  };
  mkdirSync(join(folder, ".holdfast"));
  writeFileSync(join(folder, ".holdfast", "sessions.db"), "");
  for (const argv of [["sessions"], ["show", "x"], ["verify"], ["gc"]]) {
    const { status, stderr } = without(...argv);
    expect(stderr).toMatch(/^STORE_ENGINE_MISSING: .*\ntry: Use Node 22\.18 or newer.*\n$/);
    expect(status).toBe(3);
  }
  expect(JSON.parse(without("sessions", "--json").stdout)).toMatchObject({ ok: false, code: "STORE_ENGINE_MISSING" });
  expect(without("demo").status).toBe(1); // and it ends
  writeFileSync(join(folder, "chat.json"), JSON.stringify([{ role: "user", content: "hi" }]));
  expect(without("doctor", "chat.json", "--format", "openai-chat")).toMatchObject({ status: 0, stderr: "" });
  expect(without("completion", "bash").status).toBe(0);
});
