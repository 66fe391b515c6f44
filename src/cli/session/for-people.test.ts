import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { desk, program, project, threeWrites, write } from "../../../test/support/cli.ts";
import { scripted, watch } from "../../../test/support/loop.ts";
import { describe as described, type FileReport } from "../doctor/report.ts";
import { SILENT } from "../silent.ts";

const at = desk();

/** A session that was asked something, in no folder. */
async function asked(): Promise<void> {
  const holdfast = await program(at.folder, { workspace: undefined } as never);
  const session = await holdfast.open("talk");
  for (const word of ["Hello.", "And?"]) await watch(session.run(word, { model: scripted([{ text: "Hi." }]) }));
  await session.runTool({ name: "pay", input: "order-1" });
  await session.close();
  await holdfast.close();
}

test("[CLI-34] a file whose name has line breaks and colours is one line of a rewind, dry or done", async () => {
  const holdfast = await program(at.folder);
  const session = await holdfast.open("odd");
  await write(session, "a\nrestore      b\u001b[31m");
  await session.close();
  await holdfast.close();
  for (const argv of [["--dry-run"], []]) {
    const { out } = await at.run("rewind", "odd", "--before", "last", ...argv);
    expect(out).toMatch(/^ *remove +"a\\nrestore {6}b\\u001b\[31m"$/m);
    expect(out).not.toContain("\u001b[31m");
  }
});

describe("a long answer", () => {
  test("[CLI-7] is shown in parts, each of which says how to see the next", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("long");
    for (let n = 0; n < 6; n += 1) await write(session, `${n}.txt`);
    await session.close();
    await holdfast.close();
    const newest = await at.run("show", "long", "--limit", "3");
    expect(newest.out).toMatch(/^… \d+ earlier: holdfast show long --after 0$/m);
    const oldest = await at.run("show", "long", "--after", "0", "--limit", "3");
    expect(oldest.out).toMatch(/^… \d+ later: holdfast show long --after \d+$/m);
    expect(oldest.out).not.toContain("earlier");
    expect(
      (await at.json<{ next: number; later: number }>("show", "long", "--after", "0", "--limit", "3")).next,
    ).toBeGreaterThan(0);
  });

  test("[CLI-8] of the pages of a request is, too, from either end", async () => {
    await asked();
    const { pages } = await at.json<{ pages: readonly { page: string }[] }>("context", "talk", "--limit", "0");
    expect(pages.length).toBeGreaterThan(1);
    expect((await at.run("context", "talk", "--limit", "1")).out).toMatch(
      /^… \d+ earlier pages?: --limit 0 shows all$/m,
    );
    const [first] = pages;
    const later = await at.run("context", "talk", "--after", first?.page ?? "", "--limit", "1");
    expect(later.code).toBe(0);
    expect(await at.run("context", "talk", "--after", "nothing")).toMatchObject({ code: 2 });
  });

  test("[CLI-8] a page that was not in a request is told with the one that was meant, if any is like it", async () => {
    await asked();
    const { pages } = await at.json<{ pages: readonly { page: string }[] }>("context", "talk", "--limit", "0");
    const [{ page } = { page: "" }] = pages;
    const meant = await at.run("context", "talk", "--page", `${page}x`);
    expect([meant.code, meant.err]).toEqual([2, expect.stringContaining(`did you mean ${page}?`)]);
    const none = await at.run("context", "talk", "--page", "zzzzzzzzzzzzzzzz");
    expect([none.code, none.err.includes("did you mean")]).toEqual([2, false]);
  });

  test("[CLI-7] ends somewhere: behind the last session there are no more", async () => {
    await threeWrites(at.folder, "a");
    await threeWrites(at.folder, "b");
    const { sessions } = await at.json<{ sessions: readonly { id: string }[] }>("sessions");
    expect((await at.run("sessions", "--after", sessions.at(-1)?.id ?? "")).out).toBe("no more sessions");
    expect(await at.run("sessions", "--after", "nobody")).toMatchObject({ code: 3 });
  });
});

describe("what a session that works in no folder cannot do", () => {
  test.each([["--memory"], ["--workspace", "elsewhere"]])(
    "[CLI-10] fork its files: %s is refused, and nothing is made",
    async (...flags) => {
      await asked();
      const refused = await at.run("fork", "talk", "--after", "last", "--as", "aside", ...flags);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("works in no folder")]);
      expect((await at.json<{ sessions: readonly object[] }>("sessions")).sessions).toHaveLength(1);
    },
  );

  test("[CLI-10] it is forked without a word of files", async () => {
    await asked();
    const { code, out } = await at.run("fork", "talk", "--after", "last", "--as", "aside");
    expect([code, out]).toEqual([0, expect.stringMatching(/^forked talk after record \d+ as aside$/)]);
  });

  test("[CLI-9] what was done outside, and files beside the journal, are told before a rewind", async () => {
    await asked();
    const { out } = await at.run("rewind", "talk", "--before", "last", "--dry-run");
    expect(out).toContain("outside (1)");
    expect(out).toContain("no way to undo it is declared here");
  });
});

describe("a fork of files", () => {
  test.each([
    [["--memory"], "its files lie beside the journal"],
    [["--workspace", "aside"], "its files lie in "],
    [[], "its files can be read and not changed"],
  ])("[CLI-10] with %j says where they are", async (flags, words) => {
    await threeWrites(at.folder);
    const { code, out } = await at.run("fork", "work", "--after", "last", "--as", "aside", ...flags);
    expect([code, out]).toEqual([0, expect.stringContaining(words)]);
  });
});

describe("holdfast config", () => {
  test("[CLI-18] tells one value, to people and as data, also when it is not set", async () => {
    project(at.folder, "[limits]\nsteps = 7\n");
    expect(await at.run("config", "limits.steps")).toMatchObject({ code: 0, out: "7" });
    expect(await at.json("config", "limits.steps")).toMatchObject({
      ok: true,
      key: "limits.steps",
      value: 7,
      from: "project",
    });
    expect(await at.run("config", "limits.tokens")).toMatchObject({ code: 0, out: "" });
    expect(await at.json("config", "limits.tokens")).toMatchObject({ value: null });
    expect(await at.run("config", "limits.stpes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("limits.steps"),
    });
    const none = await at.run("config", "xyzzy");
    expect([none.code, none.err.includes("did you mean")]).toEqual([2, false]);
  });

  test.each([
    ["a key like no other", "zzzzzzzzzz = 1\n", "there is no such key"],
    ["a date where a number is wanted", "[limits]\nsteps = 2026-01-01T00:00:00Z\n", "2026-01-01"],
    ["half a table", "[limits\n", "line 1"],
    ["a file without end", `# ${"x".repeat(2_000_000)}\n`, "too large"],
  ])("[CLI-18] %s is refused with the file and the place", async (_, text, words) => {
    project(at.folder, text);
    const { code, err } = await at.run("config");
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect(err).toContain("holdfast.toml");
  });

  test("[CLI-18] a folder in the place of the file cannot be read, and that is told", async () => {
    mkdirSync(join(at.folder, "holdfast.toml"));
    const { code, err } = await at.run("config");
    expect([code, err]).toEqual([2, expect.stringContaining("it cannot be read: EISDIR")]);
  });
});

describe("holdfast verify", () => {
  test("[CLI-4] what was salvaged is told as data, and a file in its place is not written over", async () => {
    await threeWrites(at.folder);
    const store = join(at.folder, ".holdfast", "sessions.db");
    const out = join(at.folder, "saved.jsonl");
    expect(await at.json("verify", store, "--salvage", out)).toMatchObject({ segments: 1, file: out });
    expect(await at.run("verify", store, "--salvage", out)).toMatchObject({
      code: expect.any(Number),
      err: expect.stringContaining("saved.jsonl"),
    });
  });

  test("[CLI-3] a bundle is judged as data, too", async () => {
    await threeWrites(at.folder);
    const bundle = join(at.folder, "work.tar");
    expect(await at.run("export", "work", "--out", bundle)).toMatchObject({ code: 0 });
    expect(await at.json("verify", bundle)).toMatchObject({ ok: true, session: "work", faults: [] });
  });
});

describe("a report of the doctor's", () => {
  const finding = (line: number, more: object = {}) => ({
    code: "missing-output",
    severity: "error",
    message: "no output",
    why: "refused",
    repair: "answered",
    lossless: false,
    line,
    ...more,
  });
  const report = (more: object): FileReport =>
    ({
      file: "s.jsonl",
      findings: [],
      conversations: 2,
      messages: 1,
      calls: 7,
      outputs: 0,
      repaired: false,
      ...more,
    }) as unknown as FileReport;

  test("[DOC-16] counts what there is much of, names the conversation, and lets no control character through", () => {
    const odd = { tool: "ls\u001b[2J", call: "c".repeat(100), conversation: 2 };
    const findings = [finding(1, odd), ...[2, 3, 4, 5, 6, 7].map((line) => finding(line, { conversation: 1 }))];
    const lines = described(report({ findings }), "Claude Code session", false).join("\n");
    expect(lines).toContain("missing-output: no output (7 times)");
    expect(lines).toContain(`line 1: ls?[2J ${"c".repeat(77)}... #2`);
    expect(lines).toContain("and 2 more");
    expect(lines).toContain("what is removed stays in the backup");
  });

  test("[DOC-18] [DOC-19] says that a repair was refused and what to try, or where the original is", () => {
    const refused = { code: "TRANSCRIPT_BUSY", message: "It changed.", try: "Wait." };
    expect(described(report({ findings: [finding(1)], refused }), "t", true)).toContain(
      "  TRANSCRIPT_BUSY: It changed.",
    );
    expect(described(report({ findings: [finding(1)], refused }), "t", true)).toContain("  try: Wait.");
    expect(described(report({ findings: [finding(1)], repaired: true, backup: "s.bak" }), "t", true)).toContain(
      "  repaired; the original is s.bak",
    );
    expect(described(report({ findings: [finding(1)] }), "t", true).join("\n")).not.toContain("--fix");
  });

  test("[DOC-20] a pattern that fits nothing is a file that is not there, one that fits a folder is what is in it", async () => {
    mkdirSync(join(at.folder, "logs", "deep"), { recursive: true });
    writeFileSync(
      join(at.folder, "logs", "deep", "s.jsonl"),
      '{"type":"user","sessionId":"s","uuid":"a","parentUuid":null,"message":{"role":"user","content":"go"}}\n',
    );
    expect(await at.run("doctor", "none-*.jsonl")).toMatchObject({ code: 3 });
    expect(await at.run("doctor", "log*")).toMatchObject({
      code: 0,
      out: expect.stringContaining("logs/deep/s.jsonl"),
    });
  });
});

describe("what lies elsewhere, or is not over", () => {
  test("[DOC-20] [DOC-23] a session outside the folder is named by its whole path, to people and in SARIF", async () => {
    const elsewhere = join(at.folder, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(
      join(elsewhere, "s.jsonl"),
      '{"type":"user","sessionId":"s","uuid":"a","parentUuid":"lost","message":{"role":"user","content":"go"}}\n',
    );
    const inner = join(at.folder, "inner");
    mkdirSync(inner);
    const { main } = await import("../main.ts");
    const said: string[] = [];
    const terminal = { ...SILENT, out: (line: string) => void said.push(line), cwd: inner, env: at.env };
    expect(await main(["doctor", elsewhere, "--sarif"], terminal)).toBe(1);
    expect(said.join("")).toContain(`file://${elsewhere}/s.jsonl`);
  });

  test("[USE-5] calls that wait are counted as open", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("waits");
    await watch(session.run("go", { model: scripted([{ calls: [{ name: "deploy", input: {} }] }]) }));
    await session.close();
    await holdfast.close();
    expect((await at.run("show", "waits", "--history-usage")).out).toContain("1 open");
  });
});
