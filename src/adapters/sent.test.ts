import { expect, test } from "vitest";
import { deepFreeze } from "../base/freeze.ts";
import { asList } from "../wire/codecs/read.ts";
import { fieldsOf } from "./fields.ts";
import { writtenOnce } from "./offers.ts";
import { sentIn, type SentShape } from "./sent.ts";

const nested: SentShape = {
  tools: ({ tools }) => asList(tools).flatMap((one) => asList(fieldsOf(one)["functionDeclarations"])),
  described: (tool) => tool,
  schema: "parameters",
  demanded: () => undefined,
  speaking: [],
};

test("[ALIGN-16] tools that a provider keeps inside one another are read back one by one", () => {
  const declared = ["a", "b"].map((name) => ({ name, description: `Does ${name}.`, parameters: { type: "object" } }));
  const sent = sentIn({ tools: [{ functionDeclarations: declared }] }, nested);
  expect(sent.tools).toEqual(declared.map(({ parameters, ...tool }) => ({ ...tool, input: parameters })));
  expect(sentIn({}, nested).tools).toEqual([]);
});

const flat: SentShape = { ...nested, tools: ({ tools }) => tools };

test("[ALIGN-20] a tool is written and read back once, unless it can still be changed", () => {
  let times = 0;
  const offer = writtenOnce(({ name, description, input }) => {
    times += 1;
    return { name, description, parameters: { type: "object", ...input } };
  });
  const tool = () => ({ name: "read", description: "Reads.", input: { properties: { path: { type: "string" } } } });

  const fixed = deepFreeze(tool());
  const [first, second] = [offer(fixed), offer(fixed)];
  expect([first === second, times, Object.isFrozen(first)]).toEqual([true, 1, true]);
  const read = () => sentIn({ tools: [first] }, flat).tools[0];
  expect(read()).toEqual({ ...fixed, input: { type: "object", ...fixed.input } });
  expect(read()).toBe(read());
  expect(sentIn({ tools: [first] }, { ...flat, schema: "input" }).tools[0]?.input).toEqual({});

  const open = tool();
  const before = offer(open) as { parameters: { properties: { path: { type: string } } } };
  open.description = "Reads a file.";
  expect(offer(open)).toMatchObject({ description: "Reads a file." });
  // Frozen on top, and still to be changed below.
  Object.freeze(before);
  expect(sentIn({ tools: [before] }, flat).tools[0]?.input).toMatchObject({ properties: { path: { type: "string" } } });
  before.parameters.properties.path.type = "number";
  expect(sentIn({ tools: [before] }, flat).tools[0]?.input).toMatchObject({ properties: { path: { type: "number" } } });
});
