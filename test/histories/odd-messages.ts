import fc from "fast-check";
import type { WireProfile } from "../../src/wire/profiles.ts";

/** Lists that no host would write and that somebody has stored all the same: any part anywhere, with fields missing. */
export function oddMessages({ format }: WireProfile): fc.Arbitrary<readonly object[]> {
  return fc.array(ODD[format], { maxLength: 7 });
}

const any = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 4 });
/** Some fields always, others perhaps. */
const fields = (
  always: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  perhaps: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): fc.Arbitrary<object> =>
  fc.record({ ...always, ...perhaps }, { requiredKeys: Object.keys(always) as never, noNullPrototype: true });
const typed = (type: string, always = {}, perhaps = {}) => fields({ type: fc.constant(type), ...always }, perhaps);

const id = any("a", "b", "c", "", "a b", "x".repeat(70));
const name = any("grep", "read_file", "", "we ird");
const text = any("hi", "", " ", "bye\n", "a\ud800");
const args = any<unknown>({}, { a: 1 }, "s", null, [1]);
const written = any<unknown>("{}", "", "{", '{"a":1}', "null", {});
const stray = any<unknown>(null, "str", {}, { type: "strange" });
const PICTURE = "data:image/png;base64,AAAA";

const geminiPart = fc.oneof(
  fields({ text }, { thought: fc.constant(true), thoughtSignature: fc.constant("s") }),
  fields({ functionCall: fields({}, { id, name, args }) }, { thoughtSignature: fc.constant("s") }),
  fields({
    functionResponse: fields({}, { id, name, response: any<unknown>({ output: "r" }, { error: "e" }, "r", {}) }),
  }),
  fields({ inlineData: fields({ mimeType: any("image/png", "image/bmp"), data: fc.constant("AAAA") }) }),
  fields({ executableCode: fc.constant({ code: "1" }) }),
  stray,
);

const source = fields({
  type: fc.constant("base64"),
  media_type: any("image/png", "image/bmp"),
  data: fc.constant("AAAA"),
});
const anthropicBlock = fc.oneof(
  typed("text", {}, { text }),
  typed("tool_use", {}, { id, name, input: args }),
  typed("tool_result", {}, { tool_use_id: id, content: any<unknown>("r", "", [], 5), is_error: fc.boolean() }),
  typed("thinking", { thinking: text }, { signature: fc.constant("s") }),
  typed("redacted_thinking", { data: fc.constant("d") }),
  typed("server_tool_use", { id, name: fc.constant("web_search") }, { input: args }),
  typed("web_search_tool_result", { tool_use_id: id, content: fc.constant([]) }),
  typed("mcp_tool_use", { id, name, server_name: fc.constant("s"), input: fc.constant({}) }),
  typed("mcp_tool_result", { tool_use_id: id, content: fc.constant([]) }),
  typed("image", { source }),
  stray,
);

const chatPart = fc.oneof(
  typed("text", { text }),
  typed("image_url", { image_url: fc.constant({ url: PICTURE }) }),
  typed("refusal", { refusal: fc.constant("no") }),
  stray,
);
const chatCall = fc.oneof(
  fields({ function: fields({}, { name, arguments: written }) }, { id, type: fc.constant("function") }),
  fields({ id, type: fc.constant("custom"), custom: fields({ name, input: fc.constant("x") }) }),
  stray,
);

const responsesPart = fc.oneof(
  typed("input_text", { text }),
  typed("output_text", { text, annotations: fc.constant([]) }),
  typed("input_image", { image_url: fc.constant(PICTURE) }),
  stray,
);
const approvalId = fc.constant("ar");
const responsesItem = fc.oneof(
  fields(
    { role: any("user", "assistant", "system", "developer", "x"), content: fc.oneof(text, some(responsesPart)) },
    { type: fc.constant("message"), id: fc.constant("msg_1") },
  ),
  typed("function_call", {}, { call_id: id, name, arguments: written, id: fc.constant("fc_1") }),
  typed("function_call_output", {}, { call_id: id, output: any<unknown>("r", "", {}, null) }),
  typed("custom_tool_call", { call_id: id, name, input: fc.constant("x") }),
  typed("custom_tool_call_output", { call_id: id, output: fc.constant("r") }),
  typed("shell_call", { call_id: id, action: fc.constant({ commands: ["ls"] }) }),
  typed("reasoning", { summary: fc.constant([]) }, { id: fc.constant("rs_1"), encrypted_content: fc.constant("e") }),
  typed("tool_search_call", { call_id: id, execution: any("client", "server"), arguments: fc.constant({}) }),
  typed("mcp_approval_request", { id: approvalId, name, arguments: fc.constant("{}"), server_label: fc.constant("s") }),
  typed("mcp_approval_response", { approval_request_id: approvalId, approve: fc.boolean() }),
  typed("item_reference", { id: fc.constant("x") }),
  stray,
) as fc.Arbitrary<object>;

const sdkPart = fc.oneof(
  typed("text", { text }),
  typed("reasoning", { text }),
  typed("tool-call", {}, { toolCallId: id, toolName: name, input: args, providerExecuted: fc.constant(true) }),
  typed("tool-result", {}, { toolCallId: id, toolName: name, output: any<unknown>({ type: "text", value: "r" }, "r") }),
  typed("file", { data: fc.constant("AAAA"), mediaType: fc.constant("image/png") }),
  typed("tool-approval-request", { approvalId, toolCallId: id }),
  typed("tool-approval-response", { approvalId, approved: fc.boolean() }),
  stray,
);

const ODD: Readonly<Record<WireProfile["format"], fc.Arbitrary<object>>> = {
  gemini: fields({}, { role: any("user", "model", "function", "narrator"), parts: fc.oneof(some(geminiPart), text) }),
  anthropic: fields(
    {},
    { role: any("user", "assistant", "system", "tool"), content: fc.oneof(text, some(anthropicBlock)) },
  ),
  "openai-chat": fields(
    { role: any("user", "assistant", "tool", "system", "developer", "function", "x") },
    { content: fc.oneof(text, fc.constant(null), some(chatPart)), tool_calls: some(chatCall), tool_call_id: id, name },
  ),
  "openai-responses": responsesItem,
  "ai-sdk": fields(
    { role: any("user", "assistant", "tool", "system", "x") },
    { content: fc.oneof(text, some(sdkPart)) },
  ),
};
