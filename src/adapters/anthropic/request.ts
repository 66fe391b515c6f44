import { HoldfastError } from "../../base/errors.ts";
import { objectSchema } from "../../base/object-schema.ts";
import type { ModelRequest, ReasoningEffort } from "../../contracts/model.ts";
import { writeMessages } from "../../wire/project.ts";
import { fieldsOf } from "../../base/fields.ts";
import { writtenOnce } from "../offers.ts";
import { mustBeSendable } from "../send.ts";
import type { SentShape } from "../sent.ts";
import { markCache, type Uncached } from "./cache.ts";
import type { Writing } from "./writing.ts";

/** The body of a message request. */
export function messagesBody(request: ModelRequest, how: Writing): object {
  const { tools = [], toolChoice, temperature, reasoning } = request;
  const { messages, instructions } = writeMessages(request.items, how.profile);
  const limit = request.maxOutputTokens ?? how.maxOutputTokens;
  const offered = tools.length === 0 ? {} : { tools: offers(tools) };
  mustBeSendable({ messages, ...offered }, how.profile);
  const said = instructions.filter((text) => text.trim() !== "");
  const prompt: Uncached = {
    ...offered,
    ...(said.length === 0 ? {} : { system: said.map((text) => ({ type: "text", text })) }),
    messages,
  };
  return {
    model: how.model,
    max_tokens: limit,
    ...(how.cache ? markCache(prompt, stableMessages(request, how)) : prompt),
    ...(toolChoice === undefined ? {} : { tool_choice: choice(toolChoice) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined ? {} : THINKING[how.thinking](reasoning, limit)),
    ...(how.stream ? { stream: true } : {}),
    ...how.body,
  };
}

/** The messages that the stable items alone would make: where they end, the stable prefix ends. */
function stableMessages({ items, stableItems }: ModelRequest, how: Writing): readonly object[] {
  if (stableItems === undefined || stableItems >= items.length) return [];
  return writeMessages(items.slice(0, stableItems), how.profile).messages;
}

/** Newer models take an effort and think as they see fit; older ones take a budget. */
const THINKING: Readonly<Record<Writing["thinking"], (effort: ReasoningEffort, limit: number) => object>> = {
  adaptive: (effort) => ({ thinking: { type: "adaptive" }, output_config: { effort } }),
  budget: (effort, limit) => ({ thinking: { type: "enabled", budget_tokens: budget(effort, limit) } }),
};

const BUDGET: Readonly<Record<ReasoningEffort, number>> = { low: 2048, medium: 8192, high: 24_576 };
const LEAST_BUDGET = 1024;

/** Thinking is paid from the same limit as the answer, so at most half of it goes there. */
function budget(effort: ReasoningEffort, limit: number): number {
  const tokens = Math.min(BUDGET[effort], Math.floor(limit / 2));
  if (tokens >= LEAST_BUDGET) return tokens;
  throw new HoldfastError("BAD_OPTION", { option: "maxOutputTokens", value: limit, least: 2 * LEAST_BUDGET });
}

const offers = writtenOnce(({ name, description, input }) => {
  const described = description === undefined ? {} : { description };
  return { name, ...described, input_schema: { type: "object", ...objectSchema(input) } };
});

/** How a body of this provider is read back. */
export const MESSAGES_SENT: SentShape = {
  described: (tool) => tool,
  schema: "input_schema",
  demanded: ({ tool_choice }) => fieldsOf(tool_choice)["name"],
  speaking: ["messages", "system", "mcp_servers", "container"],
};

const CHOICES = { auto: "auto", none: "none", required: "any" } as const;

function choice(asked: NonNullable<ModelRequest["toolChoice"]>): object {
  return typeof asked === "string" ? { type: CHOICES[asked] } : { type: "tool", name: asked.name };
}
