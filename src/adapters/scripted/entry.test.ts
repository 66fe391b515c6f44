import { expect, test } from "vitest";
import { user } from "../../../test/histories/items.ts";
import { FixedClock } from "../../base/clock.ts";
import { answered } from "../../index.ts";
import { readScript, type Script, scripted } from "./entry.ts";

const request = { items: [user()], tools: [{ name: "grep", input: {} }] };
const ask = (script: Script) => {
  const model = scripted(script);
  return () => answered(model.ask(request, { signal: new AbortController().signal }));
};

test("[ADAPT-17] a script is an array in a file, or a step a line, or a function of the question", async () => {
  const steps = [{ text: "one" }, { calls: [{ name: "grep", input: { n: 1 } }] }];
  expect(readScript(JSON.stringify(steps, null, 2))).toEqual(steps);
  expect(readScript(`${steps.map((step) => JSON.stringify(step)).join("\n")}\n\n`)).toEqual(steps);
  const say = ask(({ nth, request: asked }) => ({ text: `${nth} ${(asked as typeof request).items.length}` }));
  expect((await say()).items[0]).toMatchObject({ parts: [{ text: "0 1" }] });
  expect((await say()).items[0]).toMatchObject({ parts: [{ text: "1 1" }] });
});

test("[ADAPT-17] a misspelt field, a line that is none and a question too many are told", async () => {
  expect(() => readScript('[{"txt": "one"}]')).toThrow(expect.objectContaining({ code: "SCRIPT_INVALID" }));
  expect(() => readScript('{"text": "one"}\n{"text": ')).toThrow(expect.objectContaining({ code: "SCRIPT_INVALID" }));
  expect(() => readScript("7")).toThrow(expect.objectContaining({ code: "SCRIPT_INVALID" }));
  const say = ask([{ text: "one" }]);
  await say();
  await expect(say()).rejects.toMatchObject({ code: "SCRIPT_EXHAUSTED" });
});

test("[ADAPT-1] two runs of a script are equal to the letter", async () => {
  const script = [{ reasoning: "hm", text: "one", calls: [{ name: "grep" }, { name: "grep" }] }];
  expect(JSON.stringify(await ask(script)())).toBe(JSON.stringify(await ask(script)()));
});

test("[ADAPT-12] a slow answer waits by the clock it was given", async () => {
  const clock = new FixedClock();
  const model = scripted([{ text: "slowly", slowMs: 1000 }], { clock });
  const events = model.ask(request, { signal: new AbortController().signal })[Symbol.asyncIterator]();
  const first = events.next();
  await new Promise((resolve) => setTimeout(resolve, 5));
  clock.advance(1000);
  expect(await first).toMatchObject({ value: { kind: "text-delta" } });
});
