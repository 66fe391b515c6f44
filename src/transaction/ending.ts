import { HoldfastError } from "../base/errors.ts";
import { encodeJson, type Json } from "../base/json.ts";
import type { OutputStatus } from "../records/kinds.ts";
import type { Failure } from "./tool.ts";

/** A tool asks to see more of the prompt before it can work. Its call leaves no trace; the request goes to the caller. */
export class VisibilityExpansionRequired extends Error {
  readonly sections: readonly string[];

  constructor(sections: readonly string[], reason = "the tool needs these sections in full") {
    super(reason);
    this.name = "VisibilityExpansionRequired";
    this.sections = sections;
  }
}

/** Every way a call can end. Only the first commits. */
export type Ending =
  | { readonly kind: "succeeded"; readonly value: Json }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string; readonly payload?: Json }
  | { readonly kind: "denied"; readonly message: string }
  | { readonly kind: "canceled"; readonly message: string }
  | { readonly kind: "timeout"; readonly message: string }
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "expansion"; readonly request: VisibilityExpansionRequired };

/** The seed's four statuses, and beside them why. */
export const STATUS: Readonly<Record<Ending["kind"], OutputStatus>> = {
  succeeded: "success",
  failed: "failed",
  denied: "failed",
  canceled: "canceled",
  timeout: "timeout",
  conflict: "failed",
  expansion: "canceled",
};

export function reasonOf(ending: Ending): string {
  return ending.kind === "failed" ? ending.reason : ending.kind;
}

/** What a handler returned, as an ending. A result that cannot be kept is a failure, said so, and nothing is committed. */
export function endingOf(returned: unknown): Ending {
  if (isFailure(returned)) {
    const payload = returned.payload === undefined ? undefined : encodeJson(returned.payload);
    return {
      kind: "failed",
      reason: typeof returned.code === "string" ? returned.code : "failed",
      message: typeof returned.message === "string" ? returned.message : "The tool reported a failure.",
      ...(payload?.ok ? { payload: payload.value.value } : {}),
    };
  }
  const encoded = encodeJson(returned ?? null);
  if (encoded.ok) return { kind: "succeeded", value: encoded.value.value };
  return {
    kind: "failed",
    reason: "result-not-json",
    message: `The result cannot be kept: ${encoded.error.path} ${encoded.error.detail}`,
  };
}

export function endingOfThrown(thrown: unknown): Ending {
  if (thrown instanceof VisibilityExpansionRequired) return { kind: "expansion", request: thrown };
  if (HoldfastError.is(thrown)) return { kind: "failed", reason: thrown.code, message: thrown.message };
  return { kind: "failed", reason: "threw", message: thrown instanceof Error ? thrown.message : String(thrown) };
}

function isFailure(value: unknown): value is Failure {
  return typeof value === "object" && value !== null && (value as { ok?: unknown }).ok === false;
}
