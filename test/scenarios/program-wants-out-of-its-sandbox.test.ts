import { describe, expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import type { CodeResult } from "../../src/contracts/code-runner.ts";
import { codeHost as host } from "../support/code-host.ts";

// What a model writes is what somebody's web page told it to write. It must not find the machine it runs on.
const runner = quickjs({ limits: { timeMs: 20_000, memoryBytes: 16 * 1024 * 1024 } });
const run = (code: string): Promise<CodeResult> => runner.run(code, host, new AbortController().signal);

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
