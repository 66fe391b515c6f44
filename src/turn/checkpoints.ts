import type { ErrorCode } from "../base/error-codes.ts";
import { HoldfastError } from "../base/errors.ts";
import type { CallId } from "../records/ids.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { AnyPart } from "../state/part.ts";
import { resourcesIn } from "../state/resources-part.ts";
import type { CompositeSnapshot, SnapshotPhase } from "../state/snapshot.ts";
import type { ToolBoundary } from "./tool-boundaries.ts";
import type { PartBlobs } from "./part-blobs.ts";
import { type JournalReading, stateAt } from "./rebuild.ts";

/** The state just before a call committed, or just after. */
export type BoundarySide = "before" | "after";

/** A tool boundary that you can no longer go back to, and why. */
export interface DamagedBoundary {
  readonly boundary: ToolBoundary;
  readonly code: ErrorCode;
  readonly detail: string;
}

/** Which tool boundaries you can go back to, and which no longer. */
export interface CheckpointAudit {
  readonly sound: readonly ToolBoundary[];
  readonly damaged: readonly DamagedBoundary[];
}

/** The newest tool boundaries of a session, whichever process made them. */
export class SessionCheckpoints {
  readonly #journal: JournalReading;
  readonly #state: ExecutionState;
  readonly #blobs: PartBlobs;

  constructor(journal: JournalReading, state: ExecutionState, blobs: PartBlobs) {
    this.#journal = journal;
    this.#state = state;
    this.#blobs = blobs;
  }

  /** All kept boundaries, oldest first. Those that a rewind took back are marked `rewound`. */
  list(): readonly ToolBoundary[] {
    return this.#journal.folded.boundaries;
  }

  /** The boundary of a call. Throws CHECKPOINT_UNKNOWN if it is not kept, CHECKPOINT_REWOUND if it was taken back. */
  boundary(callId: string): ToolBoundary {
    const found = this.list().findLast((one) => one.callId === callId);
    if (found === undefined) throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: callId, kept: this.list().length });
    if (found.rewound) throw new HoldfastError("CHECKPOINT_REWOUND", { call: callId });
    return found;
  }

  /** Rebuilds every boundary's states from the store, as another process would, and reports which cannot be rebuilt. */
  async audit(): Promise<CheckpointAudit> {
    const sound: ToolBoundary[] = [];
    const damaged: DamagedBoundary[] = [];
    for (const boundary of this.list().filter(({ rewound }) => !rewound)) {
      try {
        await this.#fromJournal(boundary, "before");
        await this.#fromJournal(boundary, "after");
        sound.push(boundary);
      } catch (error) {
        if (!HoldfastError.is(error)) throw error;
        damaged.push({ boundary, code: error.code, detail: error.message });
      }
    }
    return { sound, damaged };
  }

  /** The state just before a call committed. */
  getPreSnapshot(callId: string): Promise<CompositeSnapshot> {
    return this.snapshot(callId, "before");
  }

  /** The state just after a call committed. */
  getPostSnapshot(callId: string): Promise<CompositeSnapshot> {
    return this.snapshot(callId, "after");
  }

  /**
   * From memory if this process made the boundary; otherwise from the journal, with only those resources that are data.
   */
  async snapshot(callId: string, side: BoundarySide): Promise<CompositeSnapshot> {
    const boundary = this.boundary(callId);
    const { checkpoints } = this.#state;
    // A call inside another has the boundary of that one, under whose id this process remembers it.
    const { before, after } = boundary;
    const same = this.list().find((one) => one.before === before && one.after === after && checkpoints.has(one.callId));
    if (same !== undefined) {
      const { callId: id } = same;
      const kept = side === "before" ? checkpoints.getPreSnapshot(id) : checkpoints.getPostSnapshot(id);
      if (kept !== undefined) return kept;
    }
    return this.#fromJournal(boundary, side);
  }

  async #fromJournal(boundary: ToolBoundary, side: BoundarySide): Promise<CompositeSnapshot> {
    const known = [...this.#state.truth.parts.values()] as readonly AnyPart[];
    const { root, parts } = await stateAt(this.#journal, boundary[side], known, this.#blobs);
    const phase: SnapshotPhase = side === "before" ? "pre_tool" : "post_tool";
    const now = this.#state.session.snapshot({ includeAll: true });
    return {
      snapshotId: this.#state.ids.next(),
      createdAt: now.createdAt,
      session: {
        ...now,
        slices: root.without([...parts.values()].flatMap(({ name, policy }) => (policy === "state" ? [] : [name]))),
      },
      resources: resourcesIn(root, (name) => this.#state.resources.peek(name)),
      metadata: {
        phase,
        tag: `${side === "before" ? "pre" : "post"}:${boundary.callId}`,
        toolCallId: boundary.callId as CallId,
        toolName: boundary.tool,
      },
    };
  }
}
