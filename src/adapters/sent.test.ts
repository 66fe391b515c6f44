import { expect, test } from "vitest";
import { asList } from "../wire/codecs/read.ts";
import { fieldsOf } from "./fields.ts";
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
