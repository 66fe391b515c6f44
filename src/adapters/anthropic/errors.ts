import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import { failureFrom, readSdkError, type SdkError } from "../failure.ts";

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

const TOO_LONG = /prompt is too long|exceed(s|ed)? (the )?context (limit|window)/i;

export function failureOf(thrown: unknown, begun: boolean): ModelFailure {
  return failureFrom(readSdkError(thrown), named, begun);
}

function named({ type, message }: SdkError): ModelFailureKind | undefined {
  if (type === "invalid_request_error") return TOO_LONG.test(message) ? "too-long" : "refused-request";
  return NAMED[type ?? ""];
}
