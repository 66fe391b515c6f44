import { expect, test } from "vitest";
import { deepFreeze } from "../base/freeze.ts";
import { asList, fieldsOf } from "../base/fields.ts";
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

test("[ALIGN-20] tools are written and read back once, unless they can still be changed", () => {
  let times = 0;
  const offers = writtenOnce(({ name, description, input }) => {
    times += 1;
    return { name, description, parameters: { type: "object", ...input } };
  });
  const tool = () => ({ name: "read", description: "Reads.", input: { properties: { path: { type: "string" } } } });

  const fixed = deepFreeze([tool()]);
  const tools = offers(fixed);
  expect([offers(fixed) === tools, times, Object.isFrozen(tools[0])]).toEqual([true, 1, true]);
  const read = () => sentIn({ tools }, flat).tools;
  expect(read()).toEqual(fixed.map((one) => ({ ...one, input: { type: "object", ...one.input } })));
  expect(read()).toBe(read());
  expect(sentIn({ tools }, { ...flat, schema: "input" }).tools[0]?.input).toEqual({});

  // Frozen on top, and still to be changed below.
  const open = Object.freeze([tool()]);
  const before = Object.freeze(offers(open)) as readonly { parameters: { properties: { path: { type: string } } } }[];
  (open[0] as { description: string }).description = "Reads a file.";
  expect(offers(open)).toMatchObject([{ description: "Reads a file." }]);
  const typeIn = () => sentIn({ tools: before }, flat).tools[0]?.input;
  expect(typeIn()).toMatchObject({ properties: { path: { type: "string" } } });
  for (const { parameters } of before) parameters.properties.path.type = "number";
  expect(typeIn()).toMatchObject({ properties: { path: { type: "number" } } });
});
