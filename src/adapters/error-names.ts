import type { ModelFailureKind } from "../contracts/model.ts";

/** What OpenAI's names of errors mean, where the status alone would mislead. */
export const OPENAI_ERRORS: Readonly<Record<string, ModelFailureKind>> = {
  context_length_exceeded: "too-long",
  string_above_max_length: "too-long",
  exceed_context_size_error: "too-long",
  insufficient_quota: "out-of-quota",
  billing_hard_limit_reached: "out-of-quota",
  rate_limit_exceeded: "rate-limited",
  server_error: "provider-broken",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  invalid_api_key: "not-allowed",
};

/** What Anthropic's names of errors mean. They also come inside a stream, where there is no status. */
export const ANTHROPIC_ERRORS: Readonly<Record<string, ModelFailureKind>> = {
  rate_limit_error: "rate-limited",
  billing_error: "out-of-quota",
  overloaded_error: "overloaded",
  api_error: "provider-broken",
  timeout_error: "timed-out",
  request_too_large: "too-long",
  authentication_error: "not-allowed",
  permission_error: "not-allowed",
  not_found_error: "refused-request",
};
