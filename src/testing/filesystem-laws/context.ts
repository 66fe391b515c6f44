import { rejects } from "node:assert/strict";
import type { ErrorCode } from "../../base/error-codes.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Filesystem } from "../../contracts/filesystem.ts";
import type { LawBook } from "../law.ts";

/** The filesystem that the laws test. */
export interface FilesystemUnderLaw {
  /** Opens a new, empty filesystem each time. */
  readonly open: () => Promise<Filesystem>;
}

export type FilesystemBook = LawBook<FilesystemUnderLaw>;

export async function refuses(code: ErrorCode, attempt: Promise<unknown>): Promise<void> {
  await rejects(attempt, (error: unknown) => HoldfastError.is(error, code));
}

export async function gather<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
}

export async function names(files: Filesystem, path?: string): Promise<readonly string[]> {
  return (await files.list(path)).map(({ name }) => name);
}
