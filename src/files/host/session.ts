import type { ByteRange, Bytes, ByteSource } from "../../contracts/blob-store.ts";
import type { AnyPart, Part } from "../../state/part.ts";
import type { Disk } from "./disk.ts";
import type { HostEntry } from "./entry.ts";
import type { WorkspaceLimits } from "./limits.ts";
import type { StagedFile } from "./staging.ts";
import { type Binding, workspacePart, type WorkspaceValue } from "./part.ts";

type FileEntryOf = HostEntry & { readonly kind: "file" };

/** The workspace as one session has it: where its files lie, and what a call may do with them. */
export interface HostSession {
  readonly disk: Disk;
  readonly mode: Binding["mode"];
  readonly limits: WorkspaceLimits;
  /** Paths that were decided and are not on the disk yet: they are read from what was kept. */
  readonly pending: ReadonlySet<string>;
  /** What was decided for a path, wherever it lies by now. */
  content(entry: FileEntryOf, path: string, range?: ByteRange): AsyncIterable<Bytes>;
  /** Streams content into a file of ours, to wait there for the commit. */
  keep(source: ByteSource, path: string): Promise<StagedFile>;
  kept(file: string, range?: ByteRange): AsyncIterable<Bytes>;
  /** Nobody waits for it any more. */
  letGo(file: string): void;
}

/** The part of a session that has a workspace: the same data, and the way to the disk. */
export interface HostPart extends Part<WorkspaceValue> {
  readonly host: HostSession;
}

export function hostPart(host: HostSession): HostPart {
  return { ...workspacePart, host };
}

export function isHostPart(part: AnyPart | undefined): part is AnyPart & HostPart {
  return part !== undefined && part.name === workspacePart.name && "host" in part;
}
