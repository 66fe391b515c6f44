import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import { failureFrom, kindInWords, readSdkError, type SdkError } from "../failure.ts";

/** What Anthropic's names of errors mean. They also come inside a stream, where there is no status. */
const NAMED: Readonly<Record<string, ModelFailureKind>> = {
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

export function failureOf(thrown: unknown, begun: boolean, address?: string): ModelFailure {
  return failureFrom(readSdkError(thrown, address), named, begun);
}

/** A cloud that stands before Anthropic may say only in words what it refuses. */
function named(error: SdkError): ModelFailureKind | undefined {
  const { type, status } = error;
  if (type === "invalid_request_error") return kindInWords(error) ?? "refused-request";
  return NAMED[type ?? ""] ?? (status === undefined ? undefined : kindInWords(error));
}
