import type { ErrorCode } from "../base/error-codes.ts";
import { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";

/** Seed 004's names. The code says which; these let a caller catch by kind. */
export class ExecutionStateError extends HoldfastError {
  override readonly name: string = "ExecutionStateError";
}

/** The snapshot names slices or resources that are not here. */
export class SnapshotMismatchError extends ExecutionStateError {
  override readonly name = "SnapshotMismatchError";

  constructor(details: JsonObject) {
    super("SNAPSHOT_MISMATCH", details);
  }
}

/** Both are told: why the restore was needed, when something failed, and why it failed in turn. */
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
