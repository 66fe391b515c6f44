import type { CallKind, ToolCallId } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";

/** Everything that can be wrong between a call, its output and what is bonded to them. */
export const FAULT_KINDS = [
  "missing-output",
  "orphan-output",
  "duplicate-call-id",
  "duplicate-output",
  "output-before-call",
  "displaced-output",
  "invalid-id",
  "wrong-name",
  "partial-call",
  "broken-bond",
  "unknown-tool",
] as const;

/** What is wrong; see `FAULT_KINDS`. */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What must not be separated from a call: the reasoning before it, its approval, or the seal on it. */
export type Bond = "reasoning" | "approval" | "signature";

/**
 * `error`: the provider refuses the request. `warning`: the provider accepts it, but the model reads something untrue.
 */
export type Severity = "error" | "warning";

/** One fault in a history: what is wrong, where, and with which call. */
export interface HistoryFault {
  readonly kind: FaultKind;
  /** Index of the item at fault. */
  readonly at: number;
  readonly callId?: ToolCallId;
  readonly callKind?: CallKind;
  readonly toolName?: string;
  readonly bond?: Bond;
  /** Index of the other item involved, if there is one. */
  readonly related?: number;
  readonly severity: Severity;
}

/**
 * Which faults a provider tolerates. Everything not named here is an error there. Repair does not read this table:
 * a session that changes its provider must not change its story.
 */
const TOLERATED: Readonly<Record<ProfileId, ReadonlySet<FaultKind>>> = {
  "openai-chat": new Set(["duplicate-call-id", "wrong-name", "unknown-tool", "broken-bond"]),
  "openai-responses": new Set(["displaced-output", "wrong-name", "unknown-tool"]),
  anthropic: new Set(["wrong-name", "unknown-tool"]),
  gemini: new Set(["duplicate-call-id", "unknown-tool"]),
  "ai-sdk": new Set(["duplicate-call-id", "wrong-name", "unknown-tool"]),
  "openai-compatible": new Set(["wrong-name", "broken-bond"]),
};

/**
 * How severe a fault is for a provider. Without a profile every fault is an error, because the next provider may be the
 * strict one.
 */
export function severityOf(kind: FaultKind, profile: ProfileId | undefined): Severity {
  return profile !== undefined && TOLERATED[profile].has(kind) ? "warning" : "error";
}

/** What each kind is called in a summary, in the seed's form: a number, then a plural. */
export const FAULT_WORDS: Readonly<Record<FaultKind, string>> = {
  "missing-output": "missing outputs",
  "orphan-output": "orphan outputs",
  "duplicate-call-id": "duplicate call ids",
  "duplicate-output": "duplicate outputs",
  "output-before-call": "outputs before their call",
  "displaced-output": "displaced outputs",
  "invalid-id": "invalid ids",
  "wrong-name": "wrong names",
  "partial-call": "partial calls",
  "broken-bond": "broken bonds",
  "unknown-tool": "calls of unknown tools",
};
