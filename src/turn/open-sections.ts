import type { SchemaResult } from "../contracts/schema.ts";
import type { Prompt } from "../prompt/section.ts";
import { VisibilityOverrides } from "../state/default-slices.ts";
import { checkedBy } from "../transaction/checked-by.ts";
import { VisibilityExpansionRequired } from "../transaction/ending.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";

const OPEN_SECTIONS = "open_sections";

interface Wanted {
  readonly section_ids: readonly string[];
}

/** The tool with which a model opens sections that it sees only as a summary; nothing where there are none. */
export function openSectionsTool({ sections }: Prompt): Tool | undefined {
  const ids = sections.filter(({ summary }) => summary !== undefined).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  return defineTool<Wanted>({
    name: OPEN_SECTIONS,
    description: "Shows sections of the instructions in full that you see only as a summary.",
    access: "read",
    input: checkedBy((input) => validate(input, ids)),
    inputSchema: {
      type: "object",
      properties: { section_ids: { type: "array", items: { type: "string", enum: ids }, minItems: 1 } },
      required: ["section_ids"],
      additionalProperties: false,
    },
    run: ({ section_ids: wanted }, call) => {
      const overrides = call.get(VisibilityOverrides);
      const closed = wanted.filter((id) => visibilityOf(id) !== "full");
      if (closed.length > 0) throw new VisibilityExpansionRequired(closed, "the model asked to see them");
      return "You see them in full already.";

      function visibilityOf(id: string) {
        const section = sections.find((one) => one.id === id);
        return overrides.findLast((one) => one.section === id)?.visibility ?? section?.visibility ?? "full";
      }
    },
  });
}

function validate(input: unknown, ids: readonly string[]): SchemaResult<Wanted> {
  const { section_ids: wanted } = (input ?? {}) as { readonly section_ids?: unknown };
  const fault = (message: string) => ({ issues: [{ message }] });
  if (!isTexts(wanted) || wanted.length === 0) return fault(`section_ids must be a list of: ${ids.join(", ")}`);
  const unknown = wanted.filter((id) => !ids.includes(id));
  if (unknown.length > 0) return fault(`there is no section ${unknown.join(", ")}; there are: ${ids.join(", ")}`);
  return { value: { section_ids: wanted } };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
