import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  EACCES: "FILE_NOT_WRITABLE",
  EPERM: "FILE_NOT_WRITABLE",
  EROFS: "FILE_NOT_WRITABLE",
  EXDEV: "FILE_OTHER_DEVICE",
  EEXIST: "FILE_CONFLICT",
  ENOENT: "FILE_NOT_FOUND",
  ENOTDIR: "FILE_NOT_FOUND",
  ELOOP: "FILE_BAD_PATH",
  EINVAL: "FILE_CONFLICT", // what was a link a moment ago is none any more
  ENOTEMPTY: "FILE_CONFLICT",
};

/** Work whose failures are told in our words. */
export async function inOurWords<T>(
  path: string,
  work: () => Promise<T>,
  told: (error: unknown, path: string) => unknown = hostError,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw told(error, path);
  }
}

/** The same of work that only looks: what the system does not allow then is to read. */
export function readError(error: unknown, path: string): unknown {
  const told = hostError(error, path);
  if (!HoldfastError.is(told, "FILE_NOT_WRITABLE") || told === error) return told;
  return new HoldfastError("FILE_NOT_READABLE", told.details, { cause: error });
}

/** The system's refusals as ours, with their remedies. Whatever did not come from the system passes as it is. */
export function hostError(error: unknown, path: string): unknown {
  const system = (error as { readonly code?: unknown } | null)?.code;
  if (HoldfastError.is(error) || typeof system !== "string" || !/^E[A-Z0-9]+$/.test(system)) return error;
  return new HoldfastError(CODES[system] ?? "WORKSPACE_IO", { path, system }, { cause: error });
}

/** Why a folder cannot be a workspace. What is wrong with a path inside is wrong with the whole then. */
export function unusable(error: unknown, root: string): unknown {
  const named = hostError(error, root);
  if (
    HoldfastError.is(named) &&
    !HoldfastError.is(named, "FILE_BAD_PATH") &&
    !HoldfastError.is(named, "FILE_NOT_WRITABLE")
  )
    return named;
  return new HoldfastError(
    "WORKSPACE_UNUSABLE",
    { root, found: error instanceof Error ? error.message : String(error) },
    { cause: error },
  );
}
