import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { FileEntry, FileLimits } from "../contracts/filesystem.ts";
import type { BlobName } from "../records/ids.ts";

/** What is at a path, seen without reading it. */
export type LayerNode =
  | { readonly kind: "file"; readonly size: number; readonly mode: number }
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "other" };

/** A path after links were followed, and what is there. The names lead there without another link on the way. */
export interface Located {
  readonly names: readonly string[];
  readonly node: LayerNode | undefined;
}

/**
 * Where files come from and go to: a tree in memory, or a folder of the system behind a call's own changes. Everything
 * that does not depend on it (texts, edits, walks, refusals) is written once, above it.
 */
export interface FileLayer {
  readonly limits: FileLimits;
  /** Remembers what was seen, as narrowly as it was asked. Links on the way are followed; the last one if asked. */
  at(names: readonly string[], follow: boolean): Promise<Located>;
  /** The same, but what is there is not remembered: writing is not reading, so two calls that only write do not meet. */
  place(names: readonly string[]): Promise<Located>;
  /** `unnamed` hears how many names there are no text, if any are: nobody can ask for them, so they are not listed. */
  list(names: readonly string[], unnamed?: (count: number) => void): Promise<readonly FileEntry[]>;
  read(names: readonly string[]): Promise<Bytes>;
  stream(names: readonly string[], range?: ByteRange): AsyncIterable<Bytes>;
  digest(names: readonly string[]): Promise<BlobName>;
  write(names: readonly string[], bytes: Bytes): Promise<void>;
  writeStream(names: readonly string[], source: ByteSource): Promise<void>;
  chmod(names: readonly string[], mode: number): Promise<void>;
  link(names: readonly string[], target: string): Promise<void>;
  mkdir(names: readonly string[]): Promise<void>;
  /** The thing and everything below it. */
  remove(names: readonly string[]): Promise<void>;
  move(from: readonly string[], to: readonly string[]): Promise<void>;
}

export const NEW_FILE_MODE = 0o644;
