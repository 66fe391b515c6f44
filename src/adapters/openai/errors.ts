import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import { failureFrom, kindNamed, readSdkError } from "../failure.ts";

/** What OpenAI's names of errors mean, where the status alone would mislead. */
const NAMED: Readonly<Record<string, ModelFailureKind>> = {
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

export function failureOf(thrown: unknown, begun: boolean, address?: string): ModelFailure {
  return failureFrom(readSdkError(thrown, address), kindNamed(NAMED), begun);
}
