import type { Instant } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { CompositeSnapshot } from "./snapshot.ts";

/** A tool boundary: the state before and after a call. */
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

/** How many tool boundaries are kept by default. */
export const CHECKPOINT_LIMIT = 100;

/** Keeps the newest tool boundaries in memory. Snapshots share what did not change, so keeping them is cheap. */
export class CheckpointStore {
  /** How many are kept. Default 100. */
  readonly limit: number;
  /**
   * Places that are used in turn. A map of them would do, but each one that it outgrows still points at the next, and so the
   * collector would carry every checkpoint ever made into old age.
   */
  readonly #ring: (ToolCheckpoint | undefined)[] = [];
  /** Where each call's is. Searched one by one, names that begin alike would be compared letter by letter. */
  readonly #places = new Map<string, number>();
  #next = 0;

  constructor(options: { readonly limit?: number } = {}) {
    this.limit = options.limit ?? CHECKPOINT_LIMIT;
    if (!(Number.isSafeInteger(this.limit) && this.limit > 0))
      throw new HoldfastError("BAD_OPTION", { option: "checkpoints.limit", value: String(this.limit) });
  }

  record(checkpoint: ToolCheckpoint): void {
    const { toolCallId } = checkpoint;
    if (this.#places.has(toolCallId)) this.#forget(toolCallId);
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#places.delete(oldest.toolCallId);
    this.#ring[this.#next] = checkpoint;
    this.#places.set(toolCallId, this.#next);
    this.#next = (this.#next + 1) % this.limit;
  }

  has(toolCallId: string): boolean {
    return this.#find(toolCallId) !== undefined;
  }

  getPreSnapshot(toolCallId: string): CompositeSnapshot {
    return this.#get(toolCallId).preSnapshot;
  }

  getPostSnapshot(toolCallId: string): CompositeSnapshot | undefined {
    return this.#get(toolCallId).postSnapshot;
  }

  /** All that are kept, oldest first. */
  listCheckpoints(): readonly ToolCheckpoint[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].filter((one) => one !== undefined);
  }

  /** The others close up: a place left empty would be one checkpoint less that is kept. */
  #forget(toolCallId: string): void {
    const others = this.listCheckpoints().filter((one) => one.toolCallId !== toolCallId);
    this.#ring.length = 0;
    this.#places.clear();
    this.#next = 0;
    for (const other of others) this.record(other);
  }

  #find(toolCallId: string): ToolCheckpoint | undefined {
    const place = this.#places.get(toolCallId);
    return place === undefined ? undefined : this.#ring[place];
  }

  #get(toolCallId: string): ToolCheckpoint {
    const checkpoint = this.#find(toolCallId);
    if (checkpoint === undefined)
      throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: toolCallId, kept: this.listCheckpoints().length });
    return checkpoint;
  }
}
