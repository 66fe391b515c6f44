import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";

/** Wraps what a caller's source threw on its way through here, so that it is not mistaken for a failure of ours. */
export class SourceFailed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const READONLY = new Set(["EROFS", "EACCES", "EPERM"]);

/** The system's refusals as ours, with their remedies. Whatever did not come from the system passes as it is. */
export function fileError(error: unknown, path: string): unknown {
  if (error instanceof SourceFailed) return error.error;
  const system = (error as { readonly code?: unknown } | null)?.code;
  if (HoldfastError.is(error) || typeof system !== "string" || !/^E[A-Z0-9]+$/.test(system)) return error;
  const code: ErrorCode = FULL.has(system) ? "STORE_FULL" : READONLY.has(system) ? "STORE_READONLY" : "STORE_IO";
  return new HoldfastError(code, { path, system }, { cause: error });
}
