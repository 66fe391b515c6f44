import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: "FILE_NOT_WRITABLE",
  EPERM: "FILE_NOT_WRITABLE",
  EROFS: "FILE_NOT_WRITABLE",
  EXDEV: "FILE_OTHER_DEVICE",
  EEXIST: "FILE_CONFLICT",
  ENOTEMPTY: "FILE_CONFLICT",
};

/** The system's refusals as ours, with their remedies. Whatever did not come from the system passes as it is. */
export function hostError(error: unknown, path: string): unknown {
  const system = (error as { readonly code?: unknown } | null)?.code;
  if (HoldfastError.is(error) || typeof system !== "string" || !/^E[A-Z0-9]+$/.test(system)) return error;
  return new HoldfastError(CODES[system] ?? "WORKSPACE_IO", { path, system }, { cause: error });
}
