import { fieldsOf, isFields } from "../../base/fields.ts";
import { ANTHROPIC_FIELDS, ANTHROPIC_TOOL_FIELDS, unknownField } from "./body-fields.ts";
import { type Body, listIn, nameIn } from "./dialect.ts";
import { ANTHROPIC_BLOCKS, ANTHROPIC_RESULT_BLOCKS, partFault } from "./part-types.ts";
import { isSealed } from "./seal.ts";

/** The first thing in a body that Anthropic refuses, in its words. The conversation itself is the wire rules' business. */
export function anthropicBodyFault(body: Body): string | undefined {
  if (typeof body["model"] !== "string") return "model: Field required";
  if (typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  if (!Array.isArray(body["messages"])) return "messages: Field required";
  if (body["messages"].length === 0) return "messages: at least one message is required";
  const unknown = unknownField(body, ANTHROPIC_FIELDS);
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  return toolFault(body) ?? thinkingFault(body) ?? cacheFault(body) ?? messagesFault(listIn(body["messages"]));
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

function toolFault(body: Body): string | undefined {
  for (const [at, tool] of listIn(body["tools"]).entries()) {
    if ((tool["type"] ?? "custom") !== "custom") continue; // the provider's own: it knows them
    if (!TOOL_NAME.test(nameIn(tool["name"])))
      return `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    const schema = fieldsOf(tool["input_schema"]);
    if (schema["type"] !== "object") return `tools.${at}.custom.input_schema.type: Field required`;
    if (["oneOf", "allOf", "anyOf"].some((key) => schema[key] !== undefined))
      return `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
    const unknown = unknownField(tool, ANTHROPIC_TOOL_FIELDS);
    if (unknown !== undefined) return `tools.${at}.custom.${unknown}: Extra inputs are not permitted`;
  }
  const names = listIn(body["tools"]).flatMap(({ name }) => (name === undefined ? [] : [name]));
  if (new Set(names).size < names.length) return "tools: Tool names must be unique.";
  if (body["tools"] === undefined && body["tool_choice"] !== undefined)
    return "tool_choice: `tools` must be defined when `tool_choice` is specified";
  return undefined;
}

function thinkingFault(body: Body): string | undefined {
  const thinking = body["thinking"];
  if (!isFields(thinking) || thinking["type"] !== "enabled") return undefined;
  const budget = Number(thinking["budget_tokens"]);
  if (!(budget >= 1024)) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (budget >= Number(body["max_tokens"])) return "`max_tokens` must be greater than `thinking.budget_tokens`.";
  const choice = isFields(body["tool_choice"]) ? body["tool_choice"]["type"] : undefined;
  if (choice === "any" || choice === "tool") return "Thinking may not be enabled when tool_choice forces tool use.";
  if (body["temperature"] !== undefined && body["temperature"] !== 1)
    return "`temperature` may only be set to 1 when thinking is enabled.";
  return undefined;
}

const MOST_MARKS = 4;

function cacheFault(body: Body): string | undefined {
  const messages = listIn(body["messages"]).flatMap((message) => listIn(message["content"]));
  const blocks = [...listIn(body["tools"]), ...listIn(body["system"]), ...messages];
  const marked = blocks.filter((block) => block["cache_control"] !== undefined);
  if (marked.length > MOST_MARKS)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  if (marked.some((block) => block["type"] === "thinking" || block["type"] === "redacted_thinking"))
    return "cache_control cannot be set for thinking blocks";
  if (marked.some((block) => block["type"] === "text" && block["text"] === ""))
    return "cache_control cannot be set for empty text blocks";
  return undefined;
}

/** Fields a block of a request may have. Anything else is refused, so that nothing of an answer slips back unseen. */
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "cache_control", "citations"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "cache_control", "caller", "toolset_name"],
  tool_result: ["tool_use_id", "content", "is_error", "cache_control", "toolset_name"],
};

function messagesFault(messages: readonly Body[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const extra = Object.keys(message).find((field) => field !== "role" && field !== "content");
    if (extra !== undefined) return `messages.${at}.${extra}: Extra inputs are not permitted`;
    const unknown = partFault(message["content"], ANTHROPIC_BLOCKS, `messages[${at}].content`);
    if (unknown !== undefined) return unknown;
    for (const [nth, block] of listIn(message["content"]).entries()) {
      const fault = blockFault(block, `messages.${at}.content.${nth}`);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function blockFault(block: Body, place: string): string | undefined {
  const type = String(block["type"]);
  const known = BLOCK_FIELDS[type];
  const extra = known && Object.keys(block).find((field) => field !== "type" && !known.includes(field));
  if (extra !== undefined) return `${place}.${type}.${extra}: Extra inputs are not permitted`;
  if (type === "thinking" && !isSealed(String(block["thinking"]), block["signature"]))
    return `${place}: Invalid \`signature\` in \`thinking\` block`;
  const said = block["content"];
  const silent = said === undefined || ((typeof said === "string" || Array.isArray(said)) && said.length === 0);
  if (type === "tool_result" && block["is_error"] === true && silent)
    return `${place}.tool_result: content cannot be empty if \`is_error\` is true`;
  return type === "tool_result" ? partFault(said, ANTHROPIC_RESULT_BLOCKS, `${place}.content`) : undefined;
}
