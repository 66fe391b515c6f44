import type { Body } from "./dialect.ts";

const names = (text: string): readonly string[] => text.split(" ");

/** The fields that a body may have, as each provider documents them. A misspelt one is refused, not passed over. */
const OPENAI = [
  ...names(
    "model metadata moderation parallel_tool_calls prompt_cache_key prompt_cache_options prompt_cache_retention",
  ),
  ...names(
    "safety_identifier service_tier store stream stream_options temperature tool_choice tools top_logprobs top_p user",
  ),
];

export const CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...OPENAI,
  ...names(
    "messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens",
  ),
  ...names("modalities n prediction presence_penalty reasoning_effort response_format seed stop verbosity"),
  "web_search_options",
]);

export const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  ...OPENAI,
  ...names("input access_programs background context_management conversation image include instructions"),
  ...names("max_output_tokens max_tool_calls previous_response_id prompt reasoning text truncation"),
]);

export const ANTHROPIC_FIELDS: ReadonlySet<string> = new Set([
  ...names("model messages max_tokens cache_control compaction container context_management diagnostics fallbacks"),
  ...names("fallback_credit_token inference_geo mcp_servers metadata output_config output_format service_tier speed"),
  ...names("stop_sequences stream system temperature thinking thread tool_choice tools top_k top_p"),
  ...names("user_profile_id workspace_id"),
]);

/** Fields of a tool whose arguments are described; the provider's own tools each have theirs. */
export const ANTHROPIC_TOOL_FIELDS: ReadonlySet<string> = new Set(
  names(
    "name type description input_schema cache_control allowed_callers defer_loading eager_input_streaming input_examples strict",
  ),
);

/** The first field of a body, or of a tool, that is not known. */
export function unknownField(body: Body, known: ReadonlySet<string>): string | undefined {
  return Object.keys(body).find((field) => !known.has(field));
}
