import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CodeHost, CodeQuestion, CodeResult } from "../../contracts/code-runner.ts";
import { quickjs } from "./entry.ts";
import { requireEngine } from "./vendor.ts";

const runner = quickjs({ limits: { timeMs: 2_000, memoryBytes: 16 * 1024 * 1024 } });

function host(records = 1_000, more: Partial<CodeHost> = {}) {
  const asked: CodeQuestion[] = [];
  const made: CodeHost = {
    now: 1_700_000_000_000,
    seed: "seed",
    records,
    tools: ["double"],
    slices: ["steps"],
    input: null,
    async answer(question) {
      asked.push(question);
      if (question.kind === "records")
        return {
          ok: true,
          value: Array.from({ length: question.to - question.from }, (_, nth) => recordAt(question.from + nth)),
        };
      if (question.kind === "slice") return { ok: true, value: [question.name, { done: false }] };
      if (question.kind === "tool") return { ok: true, value: Number((question.input as { n: number }).n) * 2 };
      return { ok: false, message: "no content here" };
    },
    ...more,
  };
  return { asked, host: made };
}

const recordAt = (nth: number) => ({
  call_id: `call-${nth}`,
  method_name: nth % 2 === 0 ? "read" : "write",
  outcome_summary: { ok: nth % 3 !== 0, status: nth % 3 === 0 ? "error" : "ok" },
});

const run = (code: string, on: CodeHost = host().host): Promise<CodeResult> =>
  runner.run(code, on, new AbortController().signal);

describe("the history in a program", () => {
  test.each([
    ["length", "return context.conversation_history.length", 1_000],
    ["filter", "return context.conversation_history.filter((r) => !r.outcome_summary.ok).length", 334],
    ["map and slice", "return context.conversation_history.slice(-2).map((r) => r.call_id)", ["call-998", "call-999"]],
    ["find", 'return context.conversation_history.find((r) => r.method_name === "write").call_id', "call-1"],
    ["reduce", "return context.conversation_history.reduce((n, r) => n + (r.outcome_summary.ok ? 1 : 0), 0)", 666],
    [
      "group",
      "return Object.keys(Object.groupBy(context.conversation_history, (r) => r.method_name))",
      ["read", "write"],
    ],
    [
      "sort a copy",
      "return [...context.conversation_history].sort((a, b) => (a.call_id < b.call_id ? 1 : -1))[0].call_id",
      "call-999",
    ],
    ["walk", "let n = 0; for (const r of context.conversation_history) n += 1; return n", 1_000],
    ["at the end", "return context.conversation_history.at(-1).call_id", "call-999"],
    ["what every object has", "return context.conversation_history.hasOwnProperty(3)", true],
    ["whose it is", "return context.conversation_history.constructor === Array", true],
    ["as text", "return typeof context.conversation_history.slice(-1).toString()", "string"],
    ["as JSON", "return JSON.parse(JSON.stringify(context.conversation_history)).length", 1_000],
    [
      "what it is",
      "return [Array.isArray(context.conversation_history), 3 in context.conversation_history, context.conversation_history[1000] ?? null]",
      [true, true, null],
    ],
  ])("[CODE-1] is an array: %s", async (_what, code, value) => {
    expect(await run(code)).toMatchObject({ ok: true, value });
  });

  test.each([
    ["an element", "context.conversation_history[0] = 1"],
    ["its end", "context.conversation_history.push(1)"],
    ["its length", "context.conversation_history.length = 0"],
    ["its order", "context.conversation_history.reverse()"],
    ["a record", 'context.conversation_history[0].call_id = "x"'],
    ["deep in a record", "context.conversation_history[0].outcome_summary.ok = true"],
    ["the whole", "context.conversation_history = []"],
    ["the context", "context = {}"],
    ["a tool", "tools.double = 1"],
    ["deleting", "delete context.conversation_history[0]"],
  ])("[CODE-2] cannot be changed: %s", async (_what, code) => {
    expect(await run(code)).toMatchObject({
      ok: false,
      fault: "threw",
      message: expect.stringMatching(/TypeError|ReferenceError/),
    });
  });

  test("[CODE-3] comes in blocks, as far as it is read, and what was read is counted", async () => {
    const { asked, host: on } = host(100_000);
    expect(await run("return context.conversation_history.slice(-3).map((r) => r.call_id)", on)).toMatchObject({
      recordsRead: 3,
    });
    expect(asked).toEqual([{ kind: "records", from: 99_840, to: 100_000 }]);
    expect(await run("return 1", on)).toMatchObject({ recordsRead: 0 });
  });

  test("[CODE-3] of a million records is walked within the limit of memory", async () => {
    const roomy = quickjs({ limits: { timeMs: 60_000, memoryBytes: 16 * 1024 * 1024 } });
    const { host: on } = host(1_000_000);
    const code =
      "let bad = 0; for (let i = 0; i < context.conversation_history.length; i += 97) if (!context.conversation_history[i].outcome_summary.ok) bad += 1; return bad";
    expect(await roomy.run(code, on, new AbortController().signal)).toMatchObject({
      ok: true,
      value: 3437,
      recordsRead: 10_310,
    });
  }, 120_000);
});

describe("the end of a program", () => {
  test("[CODE-5] ends when its call does, also while it waits for a tool", async () => {
    const stopped = new AbortController();
    const { host: on } = host(1, { answer: () => new Promise(() => {}) });
    const running = runner.run("return tools.double({ n: 1 })", on, stopped.signal);
    setTimeout(() => stopped.abort(), 200);
    expect(await running).toMatchObject({ ok: false, fault: "aborted" });
    expect(await runner.run("return 1", on, stopped.signal)).toMatchObject({ ok: false, fault: "aborted" });
  });

  test("[CODE-13] by time is never what its engine needed before it began", async () => {
    const hasty = quickjs({ limits: { timeMs: 1, memoryBytes: 16 * 1024 * 1024 } });
    expect(await hasty.run("return 1", host().host, new AbortController().signal)).toMatchObject({
      ok: true,
      value: 1,
    });
  });

  test("[CODE-5] past a limit is told in words that a model can use", async () => {
    const hasty = quickjs({ limits: { timeMs: 200, memoryBytes: 16 * 1024 * 1024, resultCharacters: 100 } });
    const told = async (code: string) => hasty.run(code, host(1).host, new AbortController().signal);
    const [late, large, deep, long] = await Promise.all([
      told("while (true) {}"),
      told("const a = []; while (true) a.push(new Array(100000).fill(1))"),
      told("const f = () => f() + 1; return f()"),
      told("return 'x'.repeat(200)"),
    ]);
    expect(late).toMatchObject({ message: "The program ran for longer than 200 ms and was stopped." });
    expect(large).toMatchObject({ message: "The program needed more than 16777216 bytes of memory." });
    expect(deep).toMatchObject({ message: "The program's calls were nested too deeply." });
    expect(long).toMatchObject({ message: expect.stringMatching(/^The result is too large: .+ 100\.$/) as string });
  });

  test.each([
    ["throws", "const a = 1;\nreturn a.b.c;", "TypeError: cannot read property 'c' of undefined at line 2"],
    ["throws further in", "const f = () => {\n  throw new Error('x');\n};\nreturn f();", "Error: x at line 2"],
    ["does not parse", "const a = 1;\nlet b = ;", "SyntaxError: unexpected token in expression: ';' at line 2"],
    ["does not end", "return 1 +", "SyntaxError: unexpected token in expression: '}' at line 1"],
  ])("[CODE-12] of a program that %s is told with its line", async (_, code, message) => {
    expect(await run(code)).toMatchObject({ ok: false, message });
  });

  test("[CODE-5] a limit that cannot work is refused by its name", () => {
    expect(() => quickjs({ limits: { timeMs: 0 } })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
    expect(() => quickjs({ limits: { time: 5 } as never })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  });
});

test("[CODE-7] time stands still and chance is drawn from the call, so a program says the same again", async () => {
  const code = "return [Date.now(), new Date().toISOString(), Math.random(), Math.random(), new Date(0).getTime()]";
  const first = await run(code);
  expect(first).toMatchObject({
    ok: true,
    value: [1_700_000_000_000, "2023-11-14T22:13:20.000Z", expect.any(Number), expect.any(Number), 0],
  });
  expect(await run(code)).toEqual(first);
  expect(await run(code, host(1, { seed: "other" }).host)).not.toEqual(first);
});

test("[CODE-11] an engine that is not installed is told to whoever brings it, and not to the model that runs a program", () => {
  const gone = (name: string) => {
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
  };
  expect(() => requireEngine(gone)).toThrow(
    expect.objectContaining({ code: "SDK_MISSING", details: { package: "quickjs-emscripten" } }) as Error,
  );
  expect(() => requireEngine()).not.toThrow();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-quickjs-"));
  try {
    cpSync(new URL("../../../src", import.meta.url), join(folder, "src"), { recursive: true });
    const program = 'import { quickjs } from "./src/adapters/quickjs/entry.ts"; quickjs();';
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stderr).toContain("SDK_MISSING");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
