import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { SqliteDriver } from "./vendor.ts";

export const BUSY = 5;

/** SQLite's primary result codes as ours. What is not listed means that the schema or a page is not what we wrote. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  3: "STORE_UNREACHABLE",
  5: "STORE_BUSY",
  6: "STORE_BUSY",
  8: "STORE_READONLY",
  10: "STORE_IO",
  11: "STORE_DAMAGED",
  13: "STORE_FULL",
  14: "STORE_UNREACHABLE",
  23: "STORE_UNREACHABLE",
  26: "STORE_FOREIGN_FILE",
};

/** A driver's error as one with a remedy. Anything that did not come from SQLite is a bug and passes as it is. */
export function storeError(driver: SqliteDriver, error: unknown, path: string): unknown {
  const code = driver.codeOf(error);
  if (code === undefined) return error;
  return new HoldfastError(
    CODES[code] ?? "STORE_DAMAGED",
    { path, sqlite: (error as Error).message },
    { cause: error },
  );
}
