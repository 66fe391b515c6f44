import type { Instant } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { CompositeSnapshot } from "./snapshot.ts";

/** What is kept of one tool call: the state before and after it. */
export interface ToolCheckpoint {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly preSnapshot: CompositeSnapshot;
  readonly postSnapshot?: CompositeSnapshot;
  readonly resultSummary?: string;
  readonly success: boolean;
  /** Milliseconds. */
  readonly elapsed?: number;
  readonly recordedAt: Instant;
}

export const CHECKPOINT_LIMIT = 100;

/** The newest tool boundaries, a bounded number of them. Snapshots share what did not change, so keeping them is cheap. */
export class CheckpointStore {
  readonly limit: number;
  readonly #kept = new Map<string, ToolCheckpoint>();

  constructor(options: { readonly limit?: number } = {}) {
    this.limit = options.limit ?? CHECKPOINT_LIMIT;
    if (!(Number.isSafeInteger(this.limit) && this.limit > 0))
      throw new HoldfastError("BAD_OPTION", { option: "checkpoints.limit", value: String(this.limit) });
  }

  record(checkpoint: ToolCheckpoint): void {
    this.#kept.delete(checkpoint.toolCallId);
    this.#kept.set(checkpoint.toolCallId, checkpoint);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.limit) break;
      this.#kept.delete(oldest);
    }
  }

  has(toolCallId: string): boolean {
    return this.#kept.has(toolCallId);
  }

  getPreSnapshot(toolCallId: string): CompositeSnapshot {
    return this.#get(toolCallId).preSnapshot;
  }

  getPostSnapshot(toolCallId: string): CompositeSnapshot | undefined {
    return this.#get(toolCallId).postSnapshot;
  }

  /** Oldest first. */
  listCheckpoints(): readonly ToolCheckpoint[] {
    return [...this.#kept.values()];
  }

  #get(toolCallId: string): ToolCheckpoint {
    const checkpoint = this.#kept.get(toolCallId);
    if (checkpoint === undefined)
      throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: toolCallId, kept: this.#kept.size });
    return checkpoint;
  }
}
