import { describe, expect, test } from "vitest";
import type { CodeHost, CodeQuestion, CodeResult } from "../../contracts/code-runner.ts";
import { quickjs } from "./entry.ts";

const runner = quickjs({ limits: { timeMs: 2_000, memoryBytes: 8 * 1024 * 1024 } });

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

/** For what is to meet another limit than that of time, on whatever machine. */
const patient = quickjs({ limits: { timeMs: 60_000, memoryBytes: 8 * 1024 * 1024 } });

const run = (code: string, on: CodeHost = host().host, by = runner): Promise<CodeResult> =>
  by.run(code, on, new AbortController().signal);

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

describe("a program that wants out", () => {
  const NOTHING = "undefined";
  test.each([
    [
      "globals of Node",
      "return [typeof process, typeof require, typeof module, typeof Buffer, typeof setTimeout, typeof fetch].join()",
      Array.from({ length: 6 }, () => NOTHING).join(),
    ],
    ["a function made from text", 'return Function("return typeof process + typeof require")()', NOTHING + NOTHING],
    [
      "the constructor of a host's function",
      'return tools.double.constructor.constructor("return typeof process")()',
      NOTHING,
    ],
    [
      "the constructor of an error of the host",
      'try { context.content({ seq: 1 }) } catch (e) { return e.constructor.constructor("return typeof process")() }',
      NOTHING,
    ],
    ["an indirect eval", 'return (0, eval)("typeof process")', NOTHING],
    [
      "the caller of its function",
      "try { return String((function () { return arguments.callee.caller })()) } catch { return 'refused' }",
      "refused",
    ],
    [
      "the end of its own function",
      'return 1 }); globalThis.escaped = 1; (function () { return typeof process + "," + typeof ask',
      `${NOTHING},${NOTHING}`,
    ],
    [
      "the way out that the prelude was given",
      "return [typeof ask, typeof given, typeof asked].join()",
      [NOTHING, NOTHING, NOTHING].join(),
    ],
    [
      "a prototype that everything has",
      'Object.prototype.ok = false; Object.prototype.toJSON = () => "pwned"; Array.prototype.slice = () => "pwned"; return 7',
      7,
    ],
    [
      "the JSON that the host uses",
      'JSON.stringify = () => "{}"; JSON.parse = () => ({ ok: true, value: "pwned" }); return tools.double({ n: 4 })',
      8,
    ],
    [
      "an import",
      "return (() => { try { return eval(\"import('fs')\") instanceof Promise } catch (e) { return e.name } })()",
      expect.anything(),
    ],
  ])("[CODE-4] finds nothing: %s", async (_what, code, value) => {
    const result = await run(code);
    if (result.ok) expect(result.value).toEqual(value);
    else expect(["threw", "syntax"]).toContain(result.fault);
    expect(({} as { ok?: unknown }).ok).toBeUndefined();
    expect(await run("return typeof escaped")).toMatchObject({ ok: true, value: NOTHING });
  });

  test("[CODE-4] cannot call what it was not given", async () => {
    expect(await run("return Object.keys(tools)")).toMatchObject({ value: ["double"] });
    expect(await run("return tools.rm({})")).toMatchObject({ ok: false, fault: "threw" });
    expect(await run('return tools.constructor ?? tools.__proto__ ?? "none"')).toMatchObject({ value: "none" });
  });
});

describe("a program without measure", () => {
  test.each([
    ["a loop", "while (true) {}", "out-of-time"],
    ["a loop in a getter of its result", "return { get a() { while (true) {} } }", "out-of-time"],
    ["a pattern that backtracks", 'return /^(a+)+$/.test("a".repeat(60) + "b")', "out-of-time"],
    [
      "a sort that never agrees",
      "const a = Array.from({ length: 1e5 }, (_, i) => i); while (true) a.sort(() => 1)",
      "out-of-time",
    ],
    [
      "an endless generator",
      "function* g() { while (true) yield 1 } let n = 0; for (const x of g()) n += x; return n",
      "out-of-time",
    ],
    ["a list", "const a = []; while (true) a.push(new Array(10000).fill(1))", "out-of-memory"],
    ["a buffer", "return new ArrayBuffer(1e9).byteLength", "out-of-memory"],
    ["a text", 'let s = "x".repeat(1e6); const all = []; while (true) all.push(s + all.length)', "out-of-memory"],
    ["a stack", "function f() { return f() + 1 } return f()", "too-deep"],
    ["a nest of lists as its result", "let a = []; for (let i = 0; i < 5000; i += 1) a = [a]; return a", undefined],
    ["a result", 'return "x".repeat(2000000)', "too-large"],
    ["a print", 'for (let i = 0; i < 1e5; i += 1) console.log("x".repeat(1000)); return 1', undefined],
    ["a wait", "return (async () => { await 1 })()", "threw"],
    ["a text that is no program", "return (", "syntax"],
  ])(
    "[CODE-5] ends, and leaves everybody else alone: %s",
    async (_what, code, fault) => {
      const result = await run(code, host().host, fault === "out-of-time" ? runner : patient);
      if (fault !== undefined) expect(result).toMatchObject({ ok: false, fault });
      else if (!result.ok) expect(["too-deep", "too-large", "threw"]).toContain(result.fault);
      expect(JSON.stringify(result).length).toBeLessThan(100_000);
      expect(await run("return 1")).toMatchObject({ ok: true, value: 1 });
    },
    90_000,
  );

  test("[CODE-5] ends when its call does, also while it waits for a tool", async () => {
    const stopped = new AbortController();
    const { host: on } = host(1, { answer: () => new Promise(() => {}) });
    const running = runner.run("return tools.double({ n: 1 })", on, stopped.signal);
    setTimeout(() => stopped.abort(), 200);
    expect(await running).toMatchObject({ ok: false, fault: "aborted" });
    expect(await runner.run("return 1", on, stopped.signal)).toMatchObject({ ok: false, fault: "aborted" });
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
