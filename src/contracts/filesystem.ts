import type { HoldfastError } from "../base/errors.ts";
import type { BlobName } from "../records/ids.ts";
import type { ByteRange, Bytes, ByteSource } from "./blob-store.ts";

/** `other`: a pipe, a socket, a device. It is listed, and nothing else can be done with it. */
export type FileKind = "file" | "folder" | "link" | "other";

/** One entry of a folder. */
export interface FileEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** What is known of a path. */
export type FileStat =
  | {
      readonly kind: "file";
      readonly size: number;
      /** Permission bits. */
      readonly mode: number;
      /** The digest of its content: equal digests mean equal bytes. */
      readonly digest: BlobName;
    }
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

/** One replacement in a text file. */
export interface FileEdit {
  /** A text, which must occur exactly once unless `all` is set; or a pattern, whose matches are replaced. */
  readonly find: string | RegExp;
  readonly replace: string;
  /** Replaces every occurrence of the text. Default false. */
  readonly all?: boolean;
}

/** Options of `list`. */
export interface ListOptions {
  /** Called with the folder if names in it are not text, which nothing here can name: they are counted, and not listed. */
  readonly passedOver?: (path: string, why: HoldfastError) => void;
}

/** Options of `glob`. */
export interface GlobOptions {
  /** The folder to search; patterns are relative to it. Default: the root. */
  readonly path?: string;
  /** Patterns of paths and folders to skip: `["node_modules", "dist/**"]`. */
  readonly exclude?: readonly string[];
  /**
   * Called with each path that may not be read or is too large, and with each folder that holds names that are not text.
   * The search goes on without them.
   */
  readonly passedOver?: (path: string, why: HoldfastError) => void;
}

/** Options of `grep`. */
export interface GrepOptions extends GlobOptions {
  /** Searches only files whose path matches. Default: all. */
  readonly glob?: string;
  /** Stops after this many matches. */
  readonly limit?: number;
}

/** A line that `grep` found. */
export interface GrepMatch {
  readonly path: string;
  /** Line number, from 1. */
  readonly line: number;
  /** The text of the line. */
  readonly text: string;
}

/** How large a file may be. */
export interface FileLimits {
  /** Bytes per file. A larger one is refused, never cut. */
  readonly file: number;
}

/**
 * Files below one root. Paths are relative, with `/` between names; `""` is the root. Every operation refuses a path
 * that leaves the root, by its names or by a link, with FILE_BAD_PATH; `exists` returns false for it. Links are
 * followed along the path, and by reading and writing. `stat`, `delete` and `move` work on the link itself.
 */
export interface Filesystem {
  readonly limits: FileLimits;
  /** Reads a whole file. */
  read(path: string): Promise<Bytes>;
  /** Reads a whole text file. Refuses one that is not UTF-8: written back, it would be damaged. */
  readText(path: string): Promise<string>;
  /** Reads a file, or a range of it, piece by piece, for files too large for memory. */
  readStream(path: string, range?: ByteRange): AsyncIterable<Bytes>;
  /** Writes a file. Missing folders are made; an existing file is replaced and keeps its mode. */
  write(path: string, bytes: Bytes): Promise<void>;
  /** Like `write`, for text. */
  writeText(path: string, text: string): Promise<void>;
  /** Like `write`, piece by piece. */
  writeStream(path: string, source: ByteSource): Promise<void>;
  /** Makes all edits or none, each on the result of those before it. Returns how many places changed. */
  edit(path: string, edits: FileEdit | readonly FileEdit[]): Promise<number>;
  /** Deletes a file, a link or a folder. A folder that is not empty needs `recursive`. */
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Moves or renames. Refuses to replace anything. */
  move(from: string, to: string): Promise<void>;
  /** Lists a folder, sorted by name. Default: the root. */
  list(path?: string, options?: ListOptions): Promise<readonly FileEntry[]>;
  /** Paths of files and links that match, in the order of a walk. `*` matches within a name, `**` across folders. */
  glob(pattern: string, options?: GlobOptions): Promise<readonly string[]>;
  /** Lines that contain a text or match a pattern. Files that are not text are skipped. */
  grep(find: string | RegExp, options?: GrepOptions): AsyncIterable<GrepMatch>;
  /** Whether there is anything at this path. */
  exists(path: string): Promise<boolean>;
  /** What is at this path. A link is not followed. */
  stat(path: string): Promise<FileStat>;
  /** Makes a folder. It is no error if it exists. */
  mkdir(path: string): Promise<void>;
  /** Sets a file's permission bits, 0 to 0o777. */
  chmod(path: string, mode: number): Promise<void>;
  /** Makes a symbolic link at `path`. Refuses to replace anything, and refuses a target outside the root. */
  link(path: string, target: string): Promise<void>;
}
