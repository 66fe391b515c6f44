import type { Bytes, ByteSource } from "../../contracts/blob-store.ts";
import type { NewBlob } from "../../contracts/store.ts";
import type { BlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import type { Diverged } from "./apply.ts";
import type { Step } from "./part.ts";

/** Prepares content for the decision. `known`: the name of bytes that were just hashed and that nobody else holds. */
export type StageBlob = (source: ByteSource, known?: BlobName) => Promise<NewBlob>;

/** One commit's files, as the session knows them. */
export interface FilesToCommit {
  readonly session: string;
  readonly after: number;
  readonly callId?: string;
  readonly steps: readonly Step[];
  readonly stageBlob: StageBlob;
  readonly content: (name: BlobName, step: Step) => AsyncIterable<Bytes>;
  /** The commands that did a part of it, and what they left of which path. */
  readonly exec?: { readonly id: string; readonly left: ReadonlyMap<string, LeftByCommand> };
}

/** Ready to be moved in from a folder of ours, if it is a file; or in place already. */
export type LeftByCommand = { readonly lies: string } | { readonly placed: string };

/** What the decision has to write down beside the change: which plan it decides, and the content it names. */
export interface FilesDecision {
  readonly tx: string;
  readonly images: readonly NewBlob[];
  readonly named: readonly BlobRef[];
}

/** A plan of a commit that an earlier process left unfinished or did not come to tell of, and how it was finished. */
export interface Finished {
  readonly session: string;
  readonly callId?: string;
  readonly diverged: readonly Diverged[];
}
