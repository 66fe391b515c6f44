import { describe, expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { steps } from "../support/calls.ts";
import { opened, run } from "../support/durable.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

// Every object has a prototype, and whoever changes it changes every object: in the program, perhaps; in the host, never.
const OPTIONS = { code: quickjs({ limits: { timeMs: 60_000 } }) };
const H = "context.conversation_history";

/** What is true whatever the program did before it. */
const HONEST = `const all = []; for (let i = 0; i < ${H}.length; i += 1) all[i] = ${H}[i].kwargs.n;
  return { n: ${H}.length, first: all[0], step: tools.step({ n: "x" }), slice: context.slices.steps[0] }`;

const ATTACKS: Readonly<Record<string, string>> = {
  "every object": 'Object.prototype.ok = false; Object.prototype.value = "pwned"; Object.prototype.kind = "tool";',
  "what is written as JSON": 'Object.prototype.toJSON = () => "pwned"; String.prototype.toJSON = () => "pwned";',
  "how JSON is read": 'JSON.parse = () => ({ ok: true, value: "pwned" }); JSON.stringify = () => "{}";',
  "a setter for every key":
    'for (const k of ["kind", "name", "from", "to", "seq"]) Object.prototype.__defineSetter__(k, () => { throw 1 });',
  "walking a list": "Array.prototype[Symbol.iterator] = function* () { yield 'pwned' };",
  "the methods of lists":
    "for (const m of ['map', 'filter', 'slice', 'push', 'concat']) Array.prototype[m] = () => ['pwned'];",
  patterns:
    "RegExp.prototype.test = () => false; RegExp.prototype.exec = () => null; String.prototype.match = () => null;",
  texts:
    "String.prototype.charCodeAt = () => 0; String.prototype.slice = () => 'pwned'; String.prototype.startsWith = () => true;",
  "numbers and sums":
    "Math.floor = () => 0; Math.imul = () => 0; Number.prototype.toString = () => 'pwned'; globalThis.Number = () => 0;",
  functions:
    "Function.prototype.call = () => 'pwned'; Function.prototype.apply = () => 'pwned'; Function.prototype.bind = () => () => 'pwned';",
  "the way properties are told":
    "Reflect.get = () => 'pwned'; Reflect.getOwnPropertyDescriptor = () => undefined; Object.keys = () => []; Object.freeze = (x) => x; Object.defineProperty = () => {};",
  errors:
    "Error.prototype.message = 'pwned'; globalThis.Error = function () { return 'pwned' }; globalThis.TypeError = globalThis.Error;",
  "promises and proxies": "globalThis.Promise = undefined; globalThis.Proxy = function () { return {} };",
};

describe("a program that poisons", () => {
  test.each(Object.keys(ATTACKS))("[CODE-4] %s deceives neither its host nor itself", async (what) => {
    const { session } = await opened(new MemoryDisk(), OPTIONS);
    await run(session, "a");
    const outcome = await session.runTool({ name: "run_code", input: { code: `${ATTACKS[what]}\n${HONEST}` } });
    // Its own result may be spoilt by what it did to itself; what the host was asked, and did, may not.
    if (outcome.ok && !JSON.stringify(outcome.output).includes("pwned"))
      expect(outcome.output).toMatchObject({ result: { n: 1, first: "a", step: "x", slice: "a" } });
    const done = session.state.session.get(steps);
    expect(done).toEqual(outcome.ok ? ["a", "x"] : ["a"]);
    for (const [name, value] of Object.entries({ ok: undefined, value: undefined, kind: undefined }))
      expect(({} as Record<string, unknown>)[name]).toBe(value);
    expect([1, 2].map(String)).toEqual(["1", "2"]);
    // The next one finds a world of its own.
    const next = await session.runTool({ name: "run_code", input: { code: HONEST } });
    expect(next).toMatchObject({ ok: true, output: { result: { first: "a", step: "x", slice: "a" } } });
    expect(JSON.stringify(await collect(session.read()))).not.toContain("polluted");
  });

  test.each([
    ["its result", 'return JSON.parse(\'{"__proto__": {"polluted": 1}}\')'],
    ["a tool's input", 'return tools.step(JSON.parse(\'{"n": "x", "__proto__": {"fail": true, "polluted": 1}}\'))'],
    ["what it prints", 'console.log(JSON.parse(\'{"__proto__": {"polluted": 1}}\')); return 1'],
    ["the name of a slice", 'return context.slices["__proto__"] ?? context.slices.constructor ?? "none"'],
    ["the name of a tool", 'return tools["__proto__"] ?? tools.hasOwnProperty ?? "none"'],
    ["its kept name", 'return "constructor"'],
  ])("[SEC-1] by way of %s changes no prototype", async (what, code) => {
    const { session } = await opened(new MemoryDisk(), OPTIONS);
    const name = what === "its kept name" ? { name: "constructor" } : {};
    const outcome = await session.runTool({ name: "run_code", input: { code, ...name } });
    if (outcome.ok) expect(JSON.stringify(outcome.output)).not.toContain('"fail"');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((Object.prototype as { fail?: unknown }).fail).toBeUndefined();
    expect(await session.runTool({ name: "run_code", input: { code: "return 1" } })).toMatchObject({ ok: true });
  });
});
