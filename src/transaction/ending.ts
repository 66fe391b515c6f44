import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, type JsonFault, type JsonLimits, KEPT_LIMITS } from "../base/json.ts";
import { asName, inWords } from "../base/words.ts";
import type { OutputStatus } from "../records/kinds.ts";
import { partsOf, partsText, type ResultPart } from "./result-parts.ts";

/** A failure that the tool itself returns. Everything it changed is undone; `payload` is only logged. */
export interface Failure {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
  readonly payload?: unknown;
}

/** Thrown by a handler that needs these sections of the prompt in full first. Its call leaves no trace. */
export class VisibilityExpansionRequired extends Error {
  override readonly name = "VisibilityExpansionRequired";
  readonly sections: readonly string[];

  constructor(sections: readonly string[], reason = "the tool needs these sections in full") {
    super(reason);
    this.sections = sections;
  }
}

/** Thrown by a handler that finds its arguments to be wrong. */
export class ToolValidationError extends Error {
  override readonly name = "ToolValidationError";
}

/** Thrown by a handler that notices itself that its time is up. */
export class DeadlineExceededError extends Error {
  override readonly name = "DeadlineExceededError";
}

/** Every way a call can end. Only the first commits. */
export type Ending =
  /** `parts`: of a result that is more than its value, which then says in words what they are. */
  | { readonly kind: "succeeded"; readonly value: Json; readonly parts?: readonly ResultPart[] }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string; readonly payload?: Json }
  /** `ran`: it was the handler that found them to be wrong. */
  | { readonly kind: "bad-arguments"; readonly message: string; readonly ran?: true }
  | { readonly kind: "denied"; readonly message: string }
  | { readonly kind: "canceled"; readonly message: string }
  | { readonly kind: "timeout"; readonly message: string }
  /** The whole evaluation's time is up, not only this call's. */
  | { readonly kind: "evaluation-ended"; readonly message: string }
  | { readonly kind: "conflict"; readonly message: string }
  /** Its own validators refused the result. */
  | { readonly kind: "rejected"; readonly message: string; readonly final: boolean }
  | { readonly kind: "expansion"; readonly message: string; readonly request: VisibilityExpansionRequired };

export type Discarded = Exclude<Ending, { readonly kind: "succeeded" }>;

/** The seed's four statuses, and beside them why. */
export const STATUS: Readonly<Record<Ending["kind"], OutputStatus>> = {
  succeeded: "success",
  failed: "failed",
  "bad-arguments": "failed",
  denied: "failed",
  canceled: "canceled",
  timeout: "timeout",
  "evaluation-ended": "timeout",
  conflict: "failed",
  rejected: "failed",
  expansion: "canceled",
};

export function reasonOf(ending: Ending): string {
  return ending.kind === "failed" ? ending.reason : ending.kind;
}

/** What a handler returned, as an ending. A result that cannot be kept is a failure, said so, and nothing is committed. */
export function endingOf(returned: unknown): Ending {
  try {
    if (isFailure(returned)) return endingOfFailure(returned);
    const parts = partsOf(returned);
    if (parts !== undefined) return { kind: "succeeded", value: partsText(parts), parts };
    const checked = checkJson(returned ?? null, KEPT_LIMITS);
    return checked.ok ? { kind: "succeeded", value: checked.value.value } : notJson(placeOf(checked.error));
  } catch (error) {
    return notJson(inWords(error)); // a getter of the result's own
  }
}

function notJson(why: string): Ending {
  return { kind: "failed", reason: "result-not-json", message: `The result cannot be kept: ${why}` };
}

export function endingOfThrown(thrown: unknown): Discarded {
  const message = inWords(thrown);
  try {
    if (thrown instanceof VisibilityExpansionRequired) return endingOfRequest(thrown);
    if (thrown instanceof ToolValidationError) return { kind: "bad-arguments", message, ran: true };
    if (thrown instanceof DeadlineExceededError) return { kind: "timeout", message };
    return { kind: "failed", reason: HoldfastError.is(thrown) ? asName(thrown.code) : "threw", message };
  } catch {
    return { kind: "failed", reason: "threw", message }; // it refuses to be looked at
  }
}

function endingOfRequest(request: VisibilityExpansionRequired): Discarded {
  const sections: unknown = request.sections;
  if (!Array.isArray(sections) || sections.some((name) => typeof name !== "string"))
    return { kind: "failed", reason: "threw", message: "It asked for more of the prompt without naming the sections." };
  return { kind: "expansion", message: `More of the prompt is needed first: ${sections.join(", ")}.`, request };
}

/** Room is left for the line of the log that it is put into. */
const PAYLOAD_LIMITS: JsonLimits = { depth: KEPT_LIMITS.depth - 2, characters: KEPT_LIMITS.characters - 64 * 1024 };

function endingOfFailure({ code, message, payload }: Partial<Failure>): Ending {
  const kept = payload === undefined ? undefined : checkJson(payload, PAYLOAD_LIMITS);
  const said = typeof message === "string" ? message : "The tool reported a failure.";
  return {
    kind: "failed",
    reason: typeof code === "string" ? asName(code) : "failed",
    message:
      kept?.ok === false ? `${inWords(said)} Its payload cannot be kept: ${placeOf(kept.error)}.` : inWords(said),
    ...(kept?.ok === true ? { payload: kept.value.value } : {}),
  };
}

function placeOf({ path, detail }: JsonFault): string {
  return `${path} ${detail}`;
}

/** `{ ok: false }` is ours, `{ success: false }` the seed's. */
function isFailure(value: unknown): value is Partial<Failure> {
  if (typeof value !== "object" || value === null) return false;
  const { ok, success } = value as { readonly ok?: unknown; readonly success?: unknown };
  return ok === false || success === false;
}
