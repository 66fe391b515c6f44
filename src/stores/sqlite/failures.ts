import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { SqliteDriver } from "./vendor.ts";

/** SQLite's primary result codes as ours. What is not listed means that the schema or a page is not what we wrote. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  3: "STORE_UNREACHABLE",
  5: "STORE_BUSY",
  6: "STORE_BUSY",
  7: "STORE_IO",
  8: "STORE_READONLY",
  10: "STORE_IO",
  11: "STORE_DAMAGED",
  13: "STORE_FULL",
  14: "STORE_UNREACHABLE",
  15: "STORE_BUSY",
  18: "VALUE_TOO_LARGE",
  23: "STORE_UNREACHABLE",
  26: "STORE_FOREIGN_FILE",
};

/** A driver's or the system's error as one with a remedy. Anything else is a bug and passes as it is. */
export function storeError(driver: SqliteDriver, error: unknown, path: string): unknown {
  if (HoldfastError.is(error)) return error;
  const code = driver.codeOf(error);
  if (code === undefined) return systemError(error, path);
  return new HoldfastError(
    CODES[code] ?? "STORE_DAMAGED",
    { path, sqlite: (error as Error).message },
    { cause: error },
  );
}

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const READONLY = new Set(["EROFS", "EACCES", "EPERM"]);
const UNREACHABLE = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL"]);

/** What the system refuses. */
export function systemError(error: unknown, path: string): unknown {
  const { code, syscall } = (error ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  if (typeof code !== "string" || typeof syscall !== "string") return error;
  const ours: ErrorCode = FULL.has(code)
    ? "STORE_FULL"
    : READONLY.has(code)
      ? "STORE_READONLY"
      : UNREACHABLE.has(code)
        ? "STORE_UNREACHABLE"
        : "STORE_IO";
  return new HoldfastError(ours, { path, system: code }, { cause: error });
}
