import { HoldfastError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { badOption, BOOLEAN, checkOptions, OBJECT, type OptionRules } from "../base/options.ts";
import type { NewBlob } from "../contracts/store.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { Link } from "../records/chain.ts";

/** Options of `journal.append`. */
export interface AppendOptions {
  /**
   * Names the operation: the same one is applied only once, however often it is sent, as long as its records are kept.
   * With it you can retry after an unclear failure. A fork knows none of its origin's operations.
   */
  readonly operation?: string;
  /** Content from `stageBlob` that the records name in their `blobs`. */
  readonly staged?: readonly NewBlob[];
  /** Retention: forgets everything up to here, in the same commit. */
  readonly anchor?: Link;
  /**
   * Nobody is told that these records are kept. `append` then resolves when they are written: the death of the process
   * does not take them, and a loss of power may until the next append without this has resolved. Not with `operation`,
   * under which somebody may ask again and be told.
   */
  readonly unsynced?: boolean;
  /** Of the change of the state that one of the records holds: what was checked when it became true. */
  readonly checked?: JsonObject;
  /** Ends the batch with a checkpoint of the fold at that point, which includes appends that are still under way. */
  readonly checkpoint?: CheckpointNote;
}

export interface CheckpointNote {
  readonly tag?: string;
  readonly state?: Json;
}

export const NO_OPTIONS: AppendOptions = {};

function isLink(value: unknown): boolean {
  return OBJECT.fits(value) && Number.isSafeInteger((value as Link).seq) && typeof (value as Link).hash === "string";
}

const LONGEST_OPERATION = 200;

/** A misspelt `operation` would be no operation, and a retry would write everything twice. */
const APPEND_OPTIONS: OptionRules<AppendOptions> = {
  operation: {
    wants: `a text of 1 to ${LONGEST_OPERATION} characters`,
    // Two texts that a store would keep as the same one would be taken for one operation, and the second would be lost.
    fits: (value) =>
      typeof value === "string" && value.length > 0 && value.length <= LONGEST_OPERATION && value.isWellFormed(),
  },
  staged: {
    wants: "a list of what stageBlob returned",
    fits: (value) => Array.isArray(value) && value.every(isNewBlob),
  },
  anchor: { wants: "the link of a record", fits: isLink },
  unsynced: BOOLEAN,
  checked: OBJECT,
  checkpoint: OBJECT,
};

function isNewBlob(value: unknown): boolean {
  const { ref, bytes } = Object(value) as Partial<NewBlob>;
  const named = typeof ref?.name === "string" && Number.isSafeInteger(ref.size);
  return named && (bytes === undefined || bytes instanceof Uint8Array);
}

export function refuseBadOptions(options: AppendOptions): void {
  if (options === NO_OPTIONS) return;
  checkOptions(options, APPEND_OPTIONS);
  if (options.unsynced === true && options.operation !== undefined)
    throw badOption("unsynced", true, "to stand without an operation");
}

/** What was staged may have been changed since, by whoever holds its bytes. */
export function refuseChangedContent(options: AppendOptions): void {
  for (const { ref, bytes } of options.staged ?? []) {
    if (bytes !== undefined && (nameOfBytes(bytes) !== ref.name || bytes.length !== ref.size))
      throw new HoldfastError("BLOB_CORRUPT", { name: ref.name });
  }
}
