import { describe, expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import type { CodeHost, CodeResult } from "../../src/contracts/code-runner.ts";
import { codeHost as host } from "../support/code-host.ts";
import { counter, steps } from "../support/calls.ts";
import { opened, run as step } from "../support/durable.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

// A program that is wrong, or meant so, takes all the time, memory or stack it is given. Everybody else goes on.
const LIMITS = { memoryBytes: 16 * 1024 * 1024 };
const runner = quickjs({ limits: { ...LIMITS, timeMs: 2_000 } });
/** For what is to meet another limit than that of time, on whatever machine. */
const patient = quickjs({ limits: { ...LIMITS, timeMs: 60_000 } });
const run = (code: string, on: CodeHost = host, by = runner): Promise<CodeResult> =>
  by.run(code, on, new AbortController().signal);

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
      const result = await run(code, host, fault === "out-of-time" ? runner : patient);
      if (fault !== undefined) expect(result).toMatchObject({ ok: false, fault });
      else if (!result.ok) expect(["too-deep", "too-large", "threw"]).toContain(result.fault);
      expect(JSON.stringify(result).length).toBeLessThan(100_000);
      expect(await run("return 1")).toMatchObject({ ok: true, value: 1 });
    },
    90_000,
  );
});

test.each([
  ["large pieces", "new Uint8Array(1_000_000)", 1],
  ["lists", "new Array(10_000).fill(1)", 0.08],
  ["texts", '"x".repeat(500_000) + all.length', 0.5],
])(
  "[CODE-5] what a program can hold is what it was given, in %s, whatever it catches",
  async (_what, piece, megabytes) => {
    const code = `const all = []; try { for (;;) all.push(${piece}) } catch {} const n = all.length; all.length = 0; return n`;
    const result = await run(code, host, patient);
    const most = Math.ceil(16 / megabytes);
    if (result.ok) expect(result.value).toBeLessThanOrEqual(most);
    else expect(result.fault).toBe("out-of-memory");
    expect(() => quickjs({ limits: { memoryBytes: 8 * 1024 * 1024 } })).toThrow(
      expect.objectContaining({ code: "BAD_OPTION" }),
    );
  },
);

test("[CODE-5] the session goes on meanwhile: other calls commit, its clock runs, and the bomb leaves nothing", async () => {
  const { session } = await opened(new MemoryDisk(), { code: runner });
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 20);
  const bomb = session.runTool({ name: "run_code", input: { code: 'tools.step({ n: "bomb" }); for (;;) {}' } });
  while ((await collect(session.read())).every((entry) => entry.kind !== "call-opened" || entry.tool !== "step"))
    await new Promise((resolve) => setTimeout(resolve, 10));
  const before = ticks;
  await step(session, "meanwhile");
  expect(session.state.session.get(steps)).toEqual(["meanwhile"]);
  expect(await bomb).toMatchObject({ ok: false, reason: "program-out-of-time" });
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(before);
  expect(session.state.session.get(counter)).toBe(1);
  expect(await session.files.exists("bomb.txt")).toBe(false);
});
