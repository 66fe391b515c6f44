import { HoldfastError } from "../../base/errors.ts";
import { isCode } from "./port.ts";

/**
 * The system's refusals as ours, with their remedies; when cleaning up failed as well, both are told. What did not come
 * from the system, such as an error of the caller's own source, passes as it is.
 */
export function fileError(error: unknown, path: string, second?: unknown): unknown {
  const cause = second === undefined ? error : new AggregateError([error, second], "it failed, and so did cleaning up");
  if (HoldfastError.is(error))
    return second === undefined ? error : new HoldfastError(error.code, error.details, { cause });
  const system = (error as { readonly code?: unknown; readonly syscall?: unknown } | null) ?? {};
  if (typeof system.code !== "string" || typeof system.syscall !== "string") return cause;
  const details = { path, system: system.code };
  if (isCode(error, "ENOSPC", "EDQUOT", "EFBIG")) return new HoldfastError("STORE_FULL", details, { cause });
  if (isCode(error, "EROFS", "EACCES", "EPERM")) return new HoldfastError("STORE_READONLY", details, { cause });
  return new HoldfastError("STORE_IO", details, { cause });
}

/** The same for reading, where permission is one more way in which the bytes did not come. */
export function readError(error: unknown, path: string): unknown {
  const typed = fileError(error, path);
  if (typed === error || !HoldfastError.is(typed)) return error;
  return new HoldfastError("STORE_IO", typed.details, { cause: error });
}
