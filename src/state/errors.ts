import type { ErrorCode } from "../base/error-codes.ts";
import { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/** The base of seed 004's state errors, for catching them by class. `code` says which one it is. */
export class ExecutionStateError extends HoldfastError {
  override readonly name: string = "ExecutionStateError";
}

/** Thrown when a snapshot names slices or resources that this state does not have. */
export class SnapshotMismatchError extends ExecutionStateError {
  override readonly name = "SnapshotMismatchError";

  constructor(details: JsonObject) {
    super("SNAPSHOT_MISMATCH", details);
  }
}

/** Thrown when a restore fails. The cause says why it was needed, if something had failed before, and why it failed. */
export class RestoreFailedError extends ExecutionStateError {
  override readonly name = "RestoreFailedError";

  constructor(details: JsonObject, causes: readonly unknown[]) {
    super("RESTORE_FAILED", details, {
      cause: causes.length === 1 ? causes[0] : new AggregateError(causes, "restore failed"),
    });
  }
}

export function stateError(code: ErrorCode, details: JsonObject): ExecutionStateError {
  return new ExecutionStateError(code, details);
}
