import type { OutputStatus } from "../records/kinds.ts";

/** How a call ended: the words that records keep. */
export type { OutputStatus };

export const OUTPUT_STATUSES = ["success", "failed", "canceled", "timeout"] as const satisfies readonly OutputStatus[];

/** Why a call ended so; beside the status, never instead of it. */
export type OutputReason =
  | "interrupted"
  | "deadline"
  | "denied"
  | "approval-unanswered"
  | "tool-gone"
  | (string & { readonly [otherReason]?: never });

declare const otherReason: unique symbol;

export interface ParsedStatus {
  readonly status: OutputStatus;
  /** What was written, when it was none of the four: it reads as failed and is reported, never forgotten. */
  readonly original?: string;
}

/** Reads a status word. Only the word decides: a success whose text speaks of an abort stays a success. */
export function parseOutputStatus(word: string): ParsedStatus {
  return isOutputStatus(word) ? { status: word } : { status: "failed", original: word };
}

export function asStr(status: OutputStatus): string {
  return status;
}

function isOutputStatus(word: string): word is OutputStatus {
  return (OUTPUT_STATUSES as readonly string[]).includes(word);
}
