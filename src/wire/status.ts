import type { OutputStatus } from "../records/kinds.ts";

/** How a call ended: the words that records keep. */
export type { OutputStatus };

/** How a call can end. */
export const OUTPUT_STATUSES = ["success", "failed", "canceled", "timeout"] as const satisfies readonly OutputStatus[];

/** Why a call ended as it did. It is kept in addition to the status, never instead of it. */
export type OutputReason =
  | "interrupted"
  | "deadline"
  | "denied"
  | "approval-unanswered"
  | "tool-gone"
  | (string & { readonly [otherReason]?: never });

declare const otherReason: unique symbol;

/** A status word as it was read. */
export interface ParsedStatus {
  readonly status: OutputStatus;
  /** The word as written, if it was not one of the four: it counts as `failed` and is reported. */
  readonly original?: string;
}

/** Reads a status word. Only the word decides: a success whose text mentions an abort stays a success. */
export function parseOutputStatus(word: string): ParsedStatus {
  return isOutputStatus(word) ? { status: word } : { status: "failed", original: word };
}

/** The status as plain text. */
export function asStr(status: OutputStatus): string {
  return status;
}

function isOutputStatus(word: string): word is OutputStatus {
  return (OUTPUT_STATUSES as readonly string[]).includes(word);
}
