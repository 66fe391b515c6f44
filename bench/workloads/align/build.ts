import type { CatalogTool, PromptSection } from "../../../src/index.ts";

const PROMPT_BYTES = 50 * 1024;
const SECTIONS = 40;

/** Tools as hosts have them: a paragraph of words, a schema of eight arguments, every third one writing. */
export function makeTools(count: number, seed: string): readonly CatalogTool[] {
  return Array.from({ length: count }, (_, index) => makeTool(index, seed));
}

export function makeTool(index: number, seed: string): CatalogTool {
  const properties = Object.fromEntries(
    Array.from({ length: 8 }, (_, nth) => [
      `argument_${nth}`,
      { type: "string", description: `${seed}: what tool ${index} does with argument ${nth}` },
    ]),
  );
  return {
    name: `tool_${index}`,
    description: `Tool ${index} of ${seed}. `.repeat(12),
    access: index % 3 === 0 ? "write" : "read",
    inputSchema: { type: "object", properties, required: ["argument_0"], additionalProperties: false },
  };
}

/** Sections of 50 KB in all, each speaking of one tool that reads. */
export function makeSections(tools: readonly CatalogTool[], seed: string): readonly PromptSection[] {
  const readers = tools.filter(({ access }) => access === "read");
  const body = `Guidance ${seed}. `;
  return Array.from({ length: SECTIONS }, (_, index) => {
    const tool = readers[index % readers.length]?.name;
    return {
      id: `section-${index}`,
      body: body.repeat(Math.ceil(PROMPT_BYTES / SECTIONS / body.length)),
      ...(tool === undefined ? {} : { tools: [{ tool, as: "offered" as const }] }),
    };
  });
}
