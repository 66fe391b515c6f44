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

/** Which side of a call: as it was just before it committed, or just after. */
export type BoundarySide = "before" | "after";

export interface DamagedBoundary {
  readonly boundary: ToolBoundary;
  readonly code: ErrorCode;
  readonly detail: string;
}

/** Which boundaries can be returned to, and which cannot any more. */
export interface CheckpointAudit {
  readonly sound: readonly ToolBoundary[];
  readonly damaged: readonly DamagedBoundary[];
}

/** The newest tool boundaries of a durable session, whichever process made them. */
export class SessionCheckpoints {
  readonly #journal: JournalReading;
  readonly #state: ExecutionState;
  readonly #blobs: PartBlobs;

  constructor(journal: JournalReading, state: ExecutionState, blobs: PartBlobs) {
    this.#journal = journal;
    this.#state = state;
    this.#blobs = blobs;
  }

  /** Oldest first. Those that a rewind took back are told as such. */
  list(): readonly ToolBoundary[] {
    return this.#journal.folded.boundaries;
  }

  /** Throws CHECKPOINT_UNKNOWN for a call that is not kept, and CHECKPOINT_REWOUND for one that was taken back. */
  boundary(callId: string): ToolBoundary {
    const found = this.list().findLast((one) => one.callId === callId);
    if (found === undefined) throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: callId, kept: this.list().length });
    if (found.rewound) throw new HoldfastError("CHECKPOINT_REWOUND", { call: callId });
    return found;
  }

  /** Builds every boundary's states from what is stored, as another process would, and says which cannot be built. */
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

  getPreSnapshot(callId: string): Promise<CompositeSnapshot> {
    return this.snapshot(callId, "before");
  }

  getPostSnapshot(callId: string): Promise<CompositeSnapshot> {
    return this.snapshot(callId, "after");
  }

  /** From this process's memory when it made the boundary, else from the journal: then with what of resources is data. */
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
