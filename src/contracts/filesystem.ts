import type { BlobName } from "../records/ids.ts";
import type { Bytes } from "./blob-store.ts";

export interface FileEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
}

export type FileStat =
  | {
      readonly kind: "file";
      readonly size: number;
      /** What the file holds, by name: equal digests, equal bytes. */
      readonly digest: BlobName;
    }
  | { readonly kind: "folder" };

/**
 * Files below one root. Paths are relative, with `/` between names; `""` is the root. A path that would leave the root is
 * refused as FILE_BAD_PATH on every operation, and `exists` answers false for it.
 */
export interface Filesystem {
  read(path: string): Promise<Bytes>;
  /** Refuses what is not UTF-8: read with a replacement and written back, a file would be damaged. */
  readText(path: string): Promise<string>;
  /** Makes the folders on the way, and replaces a file that is there. */
  write(path: string, bytes: Bytes): Promise<void>;
  writeText(path: string, text: string): Promise<void>;
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Refuses to replace what is there. */
  move(from: string, to: string): Promise<void>;
  /** In the order of names. */
  list(path?: string): Promise<readonly FileEntry[]>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<FileStat>;
  /** A folder that is there already is no error. */
  mkdir(path: string): Promise<void>;
}
