import * as form from "./judge/form.ts";
import { type Breach, misnamed, repeated, unanswered, unasked, uncounted } from "./judge/pairs.ts";
import type { Turn } from "./judge/turn.ts";
import type { ProfileId, WireProfile } from "./profiles.ts";

interface Judged {
  readonly turns: readonly Turn[];
  readonly messages: readonly unknown[];
  readonly profile: WireProfile;
  readonly tools: ReadonlySet<string> | undefined;
  /** The request goes on from what the provider keeps. */
  readonly continues: boolean;
  /** The request turns thinking on. */
  readonly thinks: boolean;
}

/**
 * One demand of providers, the errors it prevents, and its check. It applies to every profile that has an error listed
 * for it.
 */
export interface WireRule {
  readonly id: WireRuleId;
  readonly demands: string;
  /**
   * What each provider answers when the rule is broken, as seen in public reports (ids and indexes vary). `unquoted:`
   * marks a refusal that is known, or likely behind a gateway, but whose exact words are not.
   */
  readonly errors: Partial<Readonly<Record<ProfileId, string>>>;
  readonly check: (judged: Judged) => readonly Breach[];
}

/** The id of a wire rule. */
export type WireRuleId = `WIRE-${number}`;

const OPENAI_UNANSWERED =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …";
const OPENAI_UNASKED =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
const PATTERN = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
const TEXT = "The request body is not valid JSON: no low surrogate in string";

/** Every rule. A rule applies to the profiles that it lists an error for. */
export const WIRE_RULES: readonly WireRule[] = [
  {
    id: "WIRE-1",
    demands: "Every call has its result where the provider looks for it.",
    errors: {
      "openai-chat": OPENAI_UNANSWERED,
      "openai-compatible": OPENAI_UNANSWERED,
      "openai-responses": "No tool output found for function call call_….",
      anthropic:
        "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      gemini: "Please ensure that function call turn is followed immediately by a function response turn.",
      "ai-sdk": "AI_MissingToolResultsError: Tool result is missing for tool call ….",
    },
    check: ({ turns, profile }) => unanswered(turns, profile.id),
  },
  {
    id: "WIRE-2",
    demands: "Every result answers a call that stands before it, where the provider looks for it.",
    errors: {
      "openai-chat": OPENAI_UNASKED,
      "openai-compatible": OPENAI_UNASKED,
      "openai-responses": "No tool call found for function call output with call_id call_….",
      anthropic:
        "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
      gemini: "Please ensure that function response turn comes immediately after a function call turn.",
      "ai-sdk": "unquoted: the provider behind the SDK refuses a result without a call.",
    },
    check: ({ turns, profile, continues }) => unasked(turns, profile.id, continues),
  },
  {
    id: "WIRE-3",
    demands: "No call has two results.",
    errors: {
      "openai-chat": OPENAI_UNASKED,
      "openai-compatible": OPENAI_UNASKED,
      "openai-responses": "Duplicate function_call_output for call_id call_…",
      anthropic:
        "messages.N.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…",
      gemini:
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      "ai-sdk": "unquoted: the provider behind the SDK refuses a second result.",
    },
    check: ({ turns, profile }) => repeated(turns, profile.id),
  },
  {
    id: "WIRE-4",
    demands: "No two calls share an id.",
    errors: {
      anthropic: "messages.N.content.M: `tool_use` ids must be unique",
      "openai-responses": "Duplicate item found with id fc_…. Remove duplicate items from your input and try again.",
      "openai-compatible": "Duplicate function call id …",
    },
    check: ({ turns }) => form.repeatedIds(turns),
  },
  {
    id: "WIRE-5",
    demands: "A call id is there, is short enough and uses only the provider's letters.",
    errors: {
      "openai-chat":
        "Invalid 'messages[N].tool_calls[M].id': string too long. Expected a string with maximum length 40, but got a string with length … instead.",
      "openai-compatible": "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9.",
      "openai-responses": "Invalid 'input[N].call_id': string too long. Expected a string with maximum length 64.",
      anthropic: "messages.N.content.M.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      gemini: "unquoted: an id is text of bounded length.",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns, profile }) => form.badIds(turns, profile),
  },
  {
    id: "WIRE-6",
    demands: "Results come first in their message.",
    errors: {
      anthropic:
        "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_… (text stands before the results).",
    },
    check: ({ turns }) => form.resultsNotFirst(turns),
  },
  {
    id: "WIRE-7",
    demands: "User and assistant alternate, so that all results of a batch are one message.",
    errors: {
      anthropic:
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
      gemini: "Please ensure that multiturn requests alternate between user and model.",
      "openai-compatible": "Conversation roles must alternate user/assistant/user/assistant/...",
    },
    check: ({ turns }) => form.sameRoleTwice(turns),
  },
  {
    id: "WIRE-8",
    demands: "The user speaks first.",
    errors: {
      anthropic: 'messages: first message must use the "user" role',
      gemini:
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    },
    check: ({ turns }) => form.notUserFirst(turns),
  },
  {
    id: "WIRE-9",
    demands: "Where the model does not continue its own text, the assistant does not speak last.",
    errors: {
      anthropic:
        "This model does not support assistant message prefill. The conversation must end with a user message.",
      gemini: "Please ensure that multiturn requests end with a user role or a function response.",
      "openai-compatible":
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    },
    check: ({ turns, profile }) => form.assistantLast(turns, profile),
  },
  {
    id: "WIRE-10",
    demands: "No message, no text block, no list of calls and no failed result is blank.",
    errors: {
      "openai-chat":
        "Invalid 'messages[N].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      anthropic: "messages: text content blocks must be non-empty",
      gemini: "Unable to submit request because it must have a text parameter.",
      "openai-compatible": "Assistant message must have either content or tool_calls, but not none.",
      "ai-sdk": "unquoted: the provider behind the SDK refuses a failed result without a word.",
    },
    check: ({ turns, profile }) => form.blank(turns, profile),
  },
  {
    id: "WIRE-11",
    demands: "Reasoning is followed by what it led to.",
    errors: {
      "openai-responses": "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
      anthropic: "messages.N: The final block in an assistant message cannot be `thinking`.",
      "ai-sdk": "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
    },
    check: ({ turns, profile }) => form.thoughtAlone(turns, profile),
  },
  {
    id: "WIRE-12",
    demands: "Thinking carries its signature.",
    errors: { anthropic: "messages.N.content.M.thinking.signature: Field required" },
    check: ({ turns }) => form.unsealed(turns),
  },
  {
    id: "WIRE-13",
    demands: "In the current turn the first call of each answer carries a thought signature, once any call does.",
    errors: { gemini: "Function call is missing a thought_signature in functionCall parts." },
    check: ({ turns }) => form.unsealedCalls(turns),
  },
  {
    id: "WIRE-14",
    demands: "Arguments have the form of the format: text for OpenAI, an object for the others.",
    errors: {
      "openai-chat":
        "Invalid type for 'messages[N].tool_calls[M].function.arguments': expected a string, but got an object instead.",
      "openai-compatible": "function.arguments: Input should be a valid string",
      "openai-responses": "Invalid type for 'input[N].arguments': expected a string, but got an object instead.",
      anthropic: "messages.N.content.M.tool_use.input: Input should be a valid dictionary",
      gemini: "Invalid value at 'contents[N].parts[M].function_call.args' (type.googleapis.com/google.protobuf.Struct)",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns }) => form.misformedArguments(turns),
  },
  {
    id: "WIRE-15",
    demands: "Every text is valid Unicode and holds no NUL.",
    errors: {
      "openai-chat": TEXT,
      "openai-compatible": TEXT,
      "openai-responses": TEXT,
      anthropic: TEXT,
      gemini: TEXT,
      "ai-sdk": TEXT,
    },
    check: ({ messages }) => form.unsendableText(messages),
  },
  {
    id: "WIRE-16",
    demands: "Where the request offers tools, every call is of one of them.",
    errors: {
      "openai-chat": "unquoted: accepted, but the model calls the tool again and fails.",
      "openai-compatible": "tool call validation failed: attempted to call tool '…' which was not in request.tools",
      "openai-responses": "unquoted: accepted, but the model calls the tool again and fails.",
      anthropic: "Requests which include `tool_use` or `tool_result` blocks must define tools.",
      gemini: "unquoted: accepted, but the model calls the tool again and fails.",
      "ai-sdk": "AI_NoSuchToolError: Model tried to call unavailable tool '…'.",
    },
    check: ({ turns, tools }) => form.notOffered(turns, tools),
  },
  {
    id: "WIRE-17",
    demands: "A result that names its tool names the tool that was called.",
    errors: {
      gemini: "unquoted: a response is matched to its call by name.",
      "ai-sdk": "unquoted: the provider behind the SDK matches results by name.",
    },
    check: ({ turns, profile }) => misnamed(turns, profile.id),
  },
  {
    id: "WIRE-18",
    demands: "Results are as many as the calls and in their order.",
    errors: {
      gemini:
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      "openai-compatible": "Not the same number of function calls and responses",
    },
    check: ({ turns, profile }) => uncounted(turns, profile.id),
  },
  {
    id: "WIRE-19",
    demands: "Every message has a role that the provider knows.",
    errors: {
      "openai-chat":
        "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      "openai-compatible": "Input should be 'system', 'user', 'assistant' or 'tool'",
      "openai-responses": "Invalid value: '…'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
      anthropic:
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      gemini: "Please use a valid role: user, model.",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns, messages, profile }) => form.unknownRole(turns, messages, profile),
  },
  {
    id: "WIRE-20",
    demands: "Every approval answers a request, and every request that the conversation left behind was answered.",
    errors: {
      "ai-sdk": "AI_InvalidToolApprovalError: Tool approval response references unknown approvalId.",
      "openai-responses": "unquoted: an approval response must name a request in the input.",
    },
    check: ({ turns, profile, continues }) =>
      form.looseApprovals(turns, continues && profile.format === "openai-responses"),
  },
  {
    id: "WIRE-27",
    demands: "A text that the model is to continue does not end in white space.",
    errors: { anthropic: "messages: final assistant content cannot end with trailing whitespace" },
    check: ({ turns }) => form.trailingSpace(turns),
  },
  {
    id: "WIRE-28",
    demands: "A call names its tool, in the provider's letters.",
    errors: {
      "openai-chat": `Invalid 'messages[N].tool_calls[M].function.name': ${PATTERN}`,
      "openai-compatible": `Invalid 'messages[N].tool_calls[M].function.name': ${PATTERN}`,
      "openai-responses": `Invalid 'input[N].name': ${PATTERN}`,
      anthropic: "messages.N.content.M.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      gemini: "unquoted: the name of a function call cannot be empty.",
      "ai-sdk": "unquoted: the provider behind the SDK refuses a call without a name.",
    },
    check: ({ turns, profile }) => form.badNames(turns, profile),
  },
  {
    id: "WIRE-29",
    demands:
      "A result has the form of the format: text or blocks, an object for Gemini, a typed output for the AI SDK.",
    errors: {
      "openai-chat": "Invalid value for 'content': expected a string, got null.",
      "openai-compatible": "Invalid value for 'content': expected a string, got null.",
      "openai-responses": "unquoted: the output of a call is a text or a list of blocks.",
      anthropic: "unquoted: the content of a tool_result is a text or a list of blocks.",
      gemini:
        "Invalid value at 'contents[N].parts[M].function_response.response' (type.googleapis.com/google.protobuf.Struct)",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns }) => form.misformedResults(turns),
  },
  {
    id: "WIRE-30",
    demands: "With thinking on, an answer whose calls were just answered begins with its thinking.",
    errors: {
      anthropic:
        "messages.N.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    },
    check: ({ turns, thinks }) => (thinks ? form.lostThinking(turns) : []),
  },
  {
    id: "WIRE-33",
    demands: "A result holds only text where the provider takes pictures and files from the user alone.",
    errors: {
      "openai-chat":
        "Invalid 'messages[N]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
    },
    check: ({ turns }) => form.mediaInResults(turns),
  },
  {
    id: "WIRE-35",
    demands: "Pictures, sound and files are of the types that the provider takes, and from whom it takes them.",
    errors: {
      "openai-chat":
        "Invalid 'messages[N]'. Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains an image URL.",
      "openai-responses": "Invalid value: '…'. Supported values are: 'output_text' and 'refusal'.",
      anthropic:
        "messages.N.content.M.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp' (from the assistant: 'image' blocks are not permitted within assistant turns)",
    },
    check: ({ turns }) => form.mediaNotTaken(turns),
  },
  {
    id: "WIRE-39",
    demands: "A text is of the type that the provider takes from whoever says it.",
    errors: {
      "openai-responses":
        "Invalid value: '…'. Supported values are: 'input_text', 'input_image', and 'input_file' (from the assistant: 'output_text' and 'refusal').",
    },
    check: ({ turns }) => form.mistypedTexts(turns),
  },
  {
    id: "WIRE-40",
    demands: "The content of a message is a text or a list.",
    errors: {
      "openai-chat":
        "Invalid type for 'messages[N].content': expected one of a string or array of objects, but got … instead.",
      "openai-compatible": "unquoted: the content of a message is a text or a list of parts.",
      "openai-responses":
        "Invalid type for 'input[N].content': expected one of an array of objects or string, but got … instead.",
      anthropic: "messages.N.content: Input should be a valid list",
    },
    check: ({ turns }) => form.formlessContent(turns),
  },
  {
    id: "WIRE-41",
    demands: "A picture, a recording and a file say what they show, where the provider looks for it.",
    errors: {
      "openai-chat": "Missing required parameter: 'messages[N].content[M].….url'.",
      "openai-compatible": "unquoted: a picture, a recording and a file say what they show.",
      "openai-responses": "unquoted: a picture and a file have their data, an address or the id of a file.",
      anthropic: "messages.N.content.M.….source: Field required",
    },
    check: ({ turns }) => form.bareMedia(turns),
  },
  {
    id: "WIRE-42",
    demands: "In a list of parts stands nothing but parts.",
    errors: {
      "openai-chat": "Invalid type for 'messages[N].content[M]': expected an object, but got a string instead.",
      "openai-compatible": "unquoted: the content of a message is a text or a list of parts.",
      "openai-responses": "Invalid type for 'input[N].content[M]': expected an object, but got a string instead.",
      anthropic: "messages.N.content.M: Input should be a valid dictionary or object to extract fields from",
      gemini: "unquoted: every part of a content is an object.",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns }) => form.looseParts(turns),
  },
  {
    id: "WIRE-43",
    demands: "Calls and thoughts are the assistant's, and results are not.",
    errors: {
      "openai-chat": "unquoted: only a message of the assistant has 'tool_calls'.",
      "openai-compatible": "unquoted: only a message of the assistant has 'tool_calls'.",
      anthropic:
        "messages.N: `tool_use` blocks can only be in `assistant` messages (of results: `tool_result` blocks can only be in `user` messages)",
      gemini: "unquoted: a function call is the model's, and a function response the user's.",
      "ai-sdk": "AI_InvalidPromptError: The messages do not match the ModelMessage[] schema.",
    },
    check: ({ turns, profile }) => form.misplaced(turns, profile),
  },
  {
    id: "WIRE-44",
    demands: "A tool is offered under a name in the provider's letters.",
    errors: {
      "openai-chat": `Invalid 'tools[M].function.name': ${PATTERN}`,
      "openai-compatible": `Invalid 'tools[M].function.name': ${PATTERN}`,
      "openai-responses": `Invalid 'tools[M].name': ${PATTERN}`,
      anthropic: "tools.M.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      "ai-sdk": "unquoted: the provider behind the SDK refuses the name of a tool.",
    },
    check: ({ tools, profile }) => form.badOffers(tools, profile),
  },
];
