import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import { failureFrom, readSdkError, type SdkError } from "../failure.ts";

/** What OpenAI's names of errors mean, where the status alone would mislead. */
const NAMED: Readonly<Record<string, ModelFailureKind>> = {
  context_length_exceeded: "too-long",
  string_above_max_length: "too-long",
  insufficient_quota: "out-of-quota",
  billing_hard_limit_reached: "out-of-quota",
  rate_limit_exceeded: "rate-limited",
  server_error: "provider-broken",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  invalid_api_key: "not-allowed",
};

/** Servers that only speak OpenAI's language say it in a sentence, under a plain 400. */
const TOO_LONG = /maximum context length|context window|context length|too many (input )?tokens|prompt is too long/i;

export function failureOf(thrown: unknown, begun: boolean): ModelFailure {
  return failureFrom(readSdkError(thrown), named, begun);
}

function named({ code, type, status, message }: SdkError): ModelFailureKind | undefined {
  const known = NAMED[code ?? ""] ?? NAMED[type ?? ""];
  if (known !== undefined) return known;
  return status !== undefined && status >= 400 && status < 500 && TOO_LONG.test(message) ? "too-long" : undefined;
}
