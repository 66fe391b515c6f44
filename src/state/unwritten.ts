import { HoldfastError } from "../base/errors.ts";
import type { ErrorCode } from "../base/error-codes.ts";
import { inWords } from "../base/words.ts";

/** Said of a record before it reaches the store: the caller is at fault, and the store has seen nothing. */
const ALWAYS: ReadonlySet<ErrorCode> = new Set([
  "VALUE_TOO_LARGE",
  "VALUE_TOO_DEEP",
  "VALUE_NOT_JSON",
  "RECORD_MALFORMED",
]);

const marked = new WeakSet<object>();

/** Work that comes before anything is written down: when it fails, nothing was. */
export async function beforeWriting<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const told = typeof error === "object" && error !== null ? error : new Error(inWords(error));
    marked.add(told);
    throw told;
  }
}

/** True when it is certain that nothing was written. Of every other failure nobody knows what the store holds. */
export function isUnwritten(error: unknown): boolean {
  if (typeof error === "object" && error !== null && marked.has(error)) return true;
  return HoldfastError.is(error) && ALWAYS.has(error.code);
}
