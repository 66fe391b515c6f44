import type { ModelFailure } from "../../contracts/model.ts";
import { OPENAI_ERRORS } from "../error-names.ts";
import { failureFrom, kindNamed, readSdkError } from "../failure.ts";

export function failureOf(thrown: unknown, begun: boolean, address?: string): ModelFailure {
  return failureFrom(readSdkError(thrown, address), kindNamed(OPENAI_ERRORS), begun);
}
