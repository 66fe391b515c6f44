import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import { ANTHROPIC_ERRORS } from "../error-names.ts";
import { failureFrom, kindInWords, readSdkError, type SdkError } from "../failure.ts";

export function failureOf(thrown: unknown, begun: boolean, address?: string): ModelFailure {
  return failureFrom(readSdkError(thrown, address), named, begun);
}

/** A cloud that stands before Anthropic may say only in words what it refuses. */
function named(error: SdkError): ModelFailureKind | undefined {
  const { type, status } = error;
  if (type === "invalid_request_error") return kindInWords(error) ?? "refused-request";
  return ANTHROPIC_ERRORS[type ?? ""] ?? (status === undefined ? undefined : kindInWords(error));
}
