import { type Clock, SystemClock } from "../base/clock.ts";
import { type IdSource, randomIds } from "../base/ids.ts";
import { ANYTHING, BOOLEAN, checkOptions, FUNCTION, LIST, OBJECT, type OptionRules, TEXT } from "../base/options.ts";
import { type Random, SystemRandom } from "../base/random.ts";
import type { Redactor } from "../records/redact.ts";
import type { Branch } from "./branch.ts";
import { CheckpointStore } from "./checkpoints.ts";
import { DEFAULT_SLICES } from "./default-slices.ts";
import { RestoreFailedError } from "./errors.ts";
import { ExclusiveResources } from "./exclusive.ts";
import type { AnyPart } from "./part.ts";
import { putBack, type ResourceKey, ResourceRegistry } from "./resources.ts";
import { originsIn, resourcesIn } from "./resources-part.ts";
import {
  planRestore,
  RESTORE_OPTIONS,
  type RestoreGround,
  type RestoreOptions,
  type RestorePlan,
  restoreResources,
} from "./restore.ts";
import type { Root } from "./root.ts";
import { SessionState } from "./session-state.ts";
import { type AnySlice, anyPartOf } from "./slice.ts";
import {
  type CompositeSnapshot,
  diffSnapshots,
  SLICE_SELECTION,
  type SliceSelection,
  type SnapshotDifference,
  type SnapshotMetadata,
} from "./snapshot.ts";
import { snapshotFromText, snapshotToText } from "./snapshot-text.ts";
import { type StateLedger, Truth } from "./truth.ts";

/** Options of `ExecutionState.create`. All are optional. */
export interface StateOptions {
  /** Your slices, in addition to the default ones. */
  readonly slices?: readonly AnySlice[];
  /** Parts of the root other than slices, e.g. `filesPart`. */
  readonly parts?: readonly AnyPart[];
  /** The resources, by key. Default: none. */
  readonly resources?: ResourceRegistry | Iterable<readonly [ResourceKey<unknown>, unknown]>;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Default: the system's randomness. */
  readonly random?: Random;
  /** Default: random ids. */
  readonly ids?: IdSource;
  /** Where tool boundaries are kept. Default: the newest 100, in memory. */
  readonly checkpoints?: CheckpointStore;
  /** Where changes are written down. Default: nowhere, for state that need not outlive the process. */
  readonly ledger?: StateLedger;
  /** The root to start from, e.g. after reopening. Default: the initial values. */
  readonly root?: Root;
  /** Freezes every value of the state, so that a reducer which changes its input in place throws. Default false. */
  readonly development?: boolean;
  /** The id of the state that this one came from. It is part of every snapshot. */
  readonly parentId?: string;
  /** Your own labels. They are part of every snapshot. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Hides secrets in every new value. Default: nothing is hidden. */
  readonly redactor?: Redactor;
}

/** Options of `state.snapshot`. */
export interface SnapshotOptions extends SliceSelection {
  /** A label, which resources see, too. */
  readonly tag?: string;
  readonly metadata?: Omit<SnapshotMetadata, "tag">;
}

/** Options of `state.restore`. */
export interface RestoreHow extends RestoreOptions {
  /** Reports what would happen, and changes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Called when the restore's turn has come, before anything changes. If it throws, the restore is refused. */
  readonly admit?: () => void;
  /** Writes the restore down, and anything that belongs to it, before it becomes true. Default: the ledger does. */
  readonly decide?: (plan: RestorePlan) => Promise<void>;
}

/** A misspelt ledger would be none, and nothing would outlive the process. */
const STATE_OPTIONS: OptionRules<StateOptions> = {
  slices: LIST,
  parts: LIST,
  resources: ANYTHING,
  clock: OBJECT,
  random: OBJECT,
  ids: OBJECT,
  checkpoints: OBJECT,
  ledger: OBJECT,
  root: OBJECT,
  development: BOOLEAN,
  parentId: TEXT,
  tags: OBJECT,
  redactor: OBJECT,
};

const SNAPSHOT_OPTIONS: OptionRules<SnapshotOptions> = { ...SLICE_SELECTION, tag: TEXT, metadata: OBJECT };

/** A misspelt `dryRun` would restore. */
const RESTORE_HOW: OptionRules<RestoreHow> = {
  ...RESTORE_OPTIONS,
  dryRun: BOOLEAN,
  admit: FUNCTION,
  decide: FUNCTION,
};

/** Everything that a run can change, in one place: slices, other parts, resources and checkpoints. */
export class ExecutionState {
  readonly session: SessionState;
  readonly resources: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly checkpoints: CheckpointStore;
  readonly truth: Truth;
  /** Who may use resources that cannot branch. */
  readonly exclusive: ExclusiveResources;
  readonly #childrenIds: string[] = [];

  private constructor(options: StateOptions) {
    const { clock = new SystemClock(), random = new SystemRandom(), resources = [] } = options;
    this.clock = clock;
    this.random = random;
    this.ids = options.ids ?? randomIds(random);
    this.checkpoints = options.checkpoints ?? new CheckpointStore();
    this.resources = resources instanceof ResourceRegistry ? resources : ResourceRegistry.build(resources);
    this.exclusive = new ExclusiveResources(this.resources);
    this.truth = new Truth({ ...options, parts: partsOf(options) });
    this.session = new SessionState(this.truth, clock, {
      ...(options.parentId === undefined ? {} : { parentId: options.parentId }),
      childrenIds: this.#childrenIds,
      tags: Object.freeze({ ...options.tags }),
    });
  }

  /** Makes a new state. */
  static create(options: StateOptions = {}): ExecutionState {
    checkOptions(options, STATE_OPTIONS);
    return new ExecutionState(options);
  }

  /** The current values of all parts. */
  get root(): Root {
    return this.truth.root;
  }

  /** True once the state can no longer be trusted, because a change or a restore failed halfway. */
  get poisoned(): boolean {
    return this.truth.poisoned;
  }

  /** Marks where the state stands; the returned function takes it back there. For a call that this state works for. */
  async mark(): Promise<() => Promise<void>> {
    const snapshot = await this.snapshot({ tag: "mark" });
    return async () => {
      await this.restore(snapshot);
    };
  }

  /** A private branch of the current root. */
  branch(): Branch {
    return this.truth.branch();
  }

  /**
   * Captures everything at this moment. Slices are taken by reference; resources are asked while no call holds them.
   */
  async snapshot(options: SnapshotOptions = {}): Promise<CompositeSnapshot> {
    checkOptions(options, SNAPSHOT_OPTIONS);
    const { tag: _tag, metadata: _metadata, ...selection } = options;
    return this.#alone("snapshot", () => this.#captured(this.session.snapshot(selection), options));
  }

  /**
   * A snapshot between two commits, and what `look` says at that moment: asked before or after it, it could tell of a commit
   * that the snapshot does not hold.
   */
  async snapshotWith<T>(
    options: Pick<SnapshotOptions, "tag">,
    look: () => T,
  ): Promise<readonly [CompositeSnapshot, T]> {
    return this.#alone("snapshot", async () => {
      const [session, seen] = await this.truth.gate.run(async () => [this.session.snapshot(), look()] as const);
      return [await this.#captured(session, options), seen];
    });
  }

  /** The slices now, and the resources as the last commit left them. No resource is asked, so it takes no time. */
  snapshotAtBoundary(about: Pick<SnapshotOptions, "tag" | "metadata">): CompositeSnapshot {
    return this.#composite(this.session.snapshot(), this.exclusive.captured, about);
  }

  /** What a restore would change. Changes nothing. */
  planRestore(snapshot: CompositeSnapshot, options: RestoreOptions = {}): RestorePlan {
    checkOptions(options, RESTORE_HOW);
    return this.#plan(snapshot, options, (name) => this.resources.peek(name));
  }

  /** Restores a snapshot, all or nothing. If it fails and cannot be taken back either, the state is poisoned. */
  async restore(snapshot: CompositeSnapshot, how: RestoreHow = {}): Promise<RestorePlan> {
    checkOptions(how, RESTORE_HOW);
    if (how.dryRun === true) return this.planRestore(snapshot, how);
    this.truth.gate.refuseInside();
    return this.#alone("restore", () =>
      this.truth.gate.run(async () => {
        this.truth.refusePoisoned();
        how.admit?.();
        const plan = this.#plan(snapshot, how, (name) => this.resources.restorable(name));
        const { decide } = how;
        const commit = () =>
          this.truth.commit(plan.change, decide === undefined ? `restored ${snapshot.snapshotId}` : () => decide(plan));
        const before = await restoreResources(plan.resources, this.resources, commit, (why) => this.truth.poison(why));
        this.exclusive.noteRestored(before, plan.resources);
        return plan;
      }),
    );
  }

  /**
   * Brings the resources of a fresh process to where the root says they were. One that refuses poisons the state: nobody
   * may go on from a half of what was committed.
   */
  async takeUpResources(): Promise<void> {
    const kept = resourcesIn(this.truth.root, (name) => this.resources.restorable(name));
    for (const [name, snapshot] of kept) {
      try {
        const resource = this.resources.restorable(name);
        if (resource !== undefined) await putBack(resource, snapshot);
      } catch (error) {
        this.truth.poison(new RestoreFailedError({ refused: name }, [error]));
      }
    }
    this.exclusive.noteRestored(originsIn(this.truth.root), kept);
  }

  /** Knows of the resources what the root says of them, and touches none: for who only looks. */
  knowResources(): void {
    const { root } = this.truth;
    this.exclusive.noteRestored(
      originsIn(root),
      resourcesIn(root, (name) => this.resources.peek(name)),
    );
  }

  /** What differs between two snapshots. */
  diff(before: CompositeSnapshot, after: CompositeSnapshot): SnapshotDifference {
    return diffSnapshots(before, after, this.truth.parts);
  }

  /** A snapshot as text, for keeping it outside the process. */
  toJson(snapshot: CompositeSnapshot): string {
    return snapshotToText(snapshot, this.truth.parts);
  }

  /** A snapshot from its text. */
  fromJson(text: string): CompositeSnapshot {
    return snapshotFromText(text, this.truth.parts);
  }

  /** Notes that another state came from this one. Its id is part of every later snapshot. */
  adopt(childId: string): void {
    this.#childrenIds.push(childId);
  }

  async #captured(session: CompositeSnapshot["session"], options: SnapshotOptions): Promise<CompositeSnapshot> {
    const asked = options.tag === undefined ? {} : { tag: options.tag };
    const resources = new Map<string, unknown>();
    for (const [name, resource] of this.resources.snapshotableResources())
      resources.set(name, await resource.snapshot(asked));
    return this.#composite(session, resources, options);
  }

  #plan(snapshot: CompositeSnapshot, options: RestoreOptions, resource: RestoreGround["resource"]): RestorePlan {
    const { truth, exclusive } = this;
    return planRestore(snapshot, { truth, resource, origins: exclusive.origins }, options);
  }

  #composite(
    session: CompositeSnapshot["session"],
    resources: ReadonlyMap<string, unknown>,
    { tag, metadata }: Pick<SnapshotOptions, "tag" | "metadata">,
  ): CompositeSnapshot {
    return {
      snapshotId: this.ids.next(),
      createdAt: session.createdAt,
      session,
      resources,
      metadata: { phase: "manual", ...metadata, ...(tag === undefined ? {} : { tag }) },
    };
  }

  /** Waits until no call holds a resource. With none that could be held there is nothing to wait for. */
  async #alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (!this.resources.mayLock) return work();
    this.truth.gate.refuseInside();
    const me = `${what} ${this.ids.next()}`;
    await this.exclusive.hold(me);
    try {
      return await work();
    } finally {
      this.exclusive.release(me);
    }
  }
}

/** Restores the state as it was before a call: the seed's rollback. */
export async function rollbackToTool(
  state: ExecutionState,
  checkpoints: CheckpointStore,
  toolCallId: string,
): Promise<RestorePlan> {
  return state.restore(checkpoints.getPreSnapshot(toolCallId));
}

function partsOf(options: StateOptions): readonly AnyPart[] {
  const slices = [...DEFAULT_SLICES, ...(options.slices ?? [])];
  return [...new Set(slices)].map(anyPartOf).concat(options.parts ?? []);
}
