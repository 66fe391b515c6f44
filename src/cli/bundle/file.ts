import { closeSync, createReadStream, fsyncSync, linkSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { Bytes, BundleSource } from "../../index.ts";
import { Interrupted, untilInterrupted } from "../interrupted.ts";
import { syncFolder } from "../synced.ts";
import { unfinished } from "../unfinished.ts";

/**
 * Writes the new file that an option names, whole or not at all, readable by its owner only. Never over an existing one:
 * that may be somebody's only copy. Answers its size.
 */
export async function writeWhole(option: string, path: string, pieces: AsyncIterable<Bytes>): Promise<number> {
  const temporary = `${path}.${process.pid}.part`;
  const finished = unfinished(temporary);
  let size = 0;
  try {
    const handle = openSync(temporary, "wx", 0o600);
    try {
      const written = async (signal: AbortSignal) => {
        for await (const piece of pieces) {
          signal.throwIfAborted();
          for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
          size += piece.length;
        }
      };
      await untilInterrupted(written, { tidies: true });
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    linkSync(temporary, path); // unlike a rename it refuses to replace
    syncFolder(dirname(path));
    return size;
  } catch (error) {
    if (HoldfastError.is(error) || error instanceof Interrupted) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? `it already exists; name another file with ${option}` : "it cannot be written";
    throw new HoldfastError("BAD_OPTION", { option, value: path, system: String(code), why }, { cause: error });
  } finally {
    rmSync(temporary, { force: true });
    finished();
  }
}

/** A file that is read as often as it is asked for. */
export function bundleAt(path: string): BundleSource {
  return async function* read() {
    try {
      for await (const piece of createReadStream(path)) yield piece as Bytes;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const details = { option: "BUNDLE", value: path, system: String(code), why: "it cannot be read" };
      throw new HoldfastError("BAD_OPTION", details, { cause: error });
    }
  };
}
