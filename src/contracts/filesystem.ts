import type { HoldfastError } from "../base/errors.ts";
import type { BlobName } from "../records/ids.ts";
import type { ByteRange, Bytes, ByteSource } from "./blob-store.ts";

/** `other` is what is neither: a pipe, a socket, a device. It is told, and nothing else can be done with it. */
export type FileKind = "file" | "folder" | "link" | "other";

export interface FileEntry {
  readonly name: string;
  readonly kind: FileKind;
}

export type FileStat =
  | {
      readonly kind: "file";
      readonly size: number;
      /** Permission bits. Who may read a secret is part of what was written. */
      readonly mode: number;
      /** What the file holds, by name: equal digests, equal bytes. */
      readonly digest: BlobName;
    }
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

/** One replacement. A text must occur exactly once unless `all` is set; a pattern replaces what it matches. */
export interface FileEdit {
  readonly find: string | RegExp;
  readonly replace: string;
  readonly all?: boolean;
}

export interface GlobOptions {
  /** Where to begin; patterns are relative to it. */
  readonly path?: string;
  /** Paths and folders that are passed over, as patterns: `["node_modules", "dist/**"]`. */
  readonly exclude?: readonly string[];
  /** Told of what may not be read, or is too large to be: the search goes on without it. */
  readonly passedOver?: (path: string, why: HoldfastError) => void;
}

export interface GrepOptions extends GlobOptions {
  /** Only files that match. Default: all. */
  readonly glob?: string;
  /** Ends after so many matches. */
  readonly limit?: number;
}

export interface GrepMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface FileLimits {
  /** Bytes that one file may have. More is refused, never cut. */
  readonly file: number;
}

/**
 * Files below one root. Paths are relative, with `/` between names; `""` is the root. A path that would leave the root, by
 * its names or by a link, is refused as FILE_BAD_PATH on every operation, and `exists` answers false for it. Links are
 * followed on the way and by reading and writing; `stat`, `delete` and `move` take a link for what it is.
 */
export interface Filesystem {
  readonly limits: FileLimits;
  read(path: string): Promise<Bytes>;
  /** Refuses what is not UTF-8: read with a replacement and written back, a file would be damaged. */
  readText(path: string): Promise<string>;
  /** Piece by piece, for what is too large to hold. */
  readStream(path: string, range?: ByteRange): AsyncIterable<Bytes>;
  /** Makes the folders on the way, and replaces a file that is there, keeping its mode. */
  write(path: string, bytes: Bytes): Promise<void>;
  writeText(path: string, text: string): Promise<void>;
  writeStream(path: string, source: ByteSource): Promise<void>;
  /** All edits or none, each on what the ones before it left. Answers how many places changed. */
  edit(path: string, edits: FileEdit | readonly FileEdit[]): Promise<number>;
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Refuses to replace what is there. */
  move(from: string, to: string): Promise<void>;
  /** In the order of names. */
  list(path?: string): Promise<readonly FileEntry[]>;
  /** Files and links whose path matches, in the order of a walk. `*` stays inside a name, `**` does not. */
  glob(pattern: string, options?: GlobOptions): Promise<readonly string[]>;
  /** Lines that hold a text or match a pattern. Files that are not text are passed over. */
  grep(find: string | RegExp, options?: GrepOptions): AsyncIterable<GrepMatch>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<FileStat>;
  /** A folder that is there already is no error. */
  mkdir(path: string): Promise<void>;
  /** Permission bits of a file, 0 to 0o777. */
  chmod(path: string, mode: number): Promise<void>;
  /** Makes a symbolic link at `path`. Refuses to replace, and refuses a target outside the root. */
  link(path: string, target: string): Promise<void>;
}
