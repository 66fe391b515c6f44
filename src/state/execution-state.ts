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

export interface StateOptions {
  readonly slices?: readonly AnySlice[];
  /** Parts that other rooms bring: files, transcript, pages, catalog. */
  readonly parts?: readonly AnyPart[];
  readonly resources?: ResourceRegistry | Iterable<readonly [ResourceKey<unknown>, unknown]>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: IdSource;
  readonly checkpoints?: CheckpointStore;
  readonly ledger?: StateLedger;
  /** Where the root stands already, e.g. after reopening. */
  readonly root?: Root;
  /** Freeze every value that becomes true, so that a reducer which changes its input in place throws. Default false. */
  readonly development?: boolean;
  readonly parentId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Takes secrets out of what becomes true, for state that is kept. */
  readonly redactor?: Redactor;
}

export interface SnapshotOptions extends SliceSelection {
  readonly tag?: string;
  readonly metadata?: Omit<SnapshotMetadata, "tag">;
}

export interface RestoreHow extends RestoreOptions {
  /** Say what would happen and change nothing. */
  readonly dryRun?: boolean;
  /** Asked when its turn has come, before anything is touched. Throwing refuses the restore. */
  readonly admit?: () => void;
  /** Writes the restore down, with more beside it, before it becomes true. */
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

/** The single root of everything that a run can change. */
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

  static create(options: StateOptions = {}): ExecutionState {
    checkOptions(options, STATE_OPTIONS);
    return new ExecutionState(options);
  }

  get root(): Root {
    return this.truth.root;
  }

  get poisoned(): boolean {
    return this.truth.poisoned;
  }

  /** Where it stands now; the answer takes it back there. For a call that has another state work for it. */
  async mark(): Promise<() => Promise<void>> {
    const snapshot = await this.snapshot({ tag: "mark" });
    return async () => {
      await this.restore(snapshot);
    };
  }

  branch(): Branch {
    return this.truth.branch();
  }

  /** Everything at this moment. Slices by reference; resources are asked while no call holds them. */
  async snapshot(options: SnapshotOptions = {}): Promise<CompositeSnapshot> {
    checkOptions(options, SNAPSHOT_OPTIONS);
    return this.#alone("snapshot", async () => {
      const { tag: _tag, metadata: _metadata, ...selection } = options;
      const session = this.session.snapshot(selection);
      const resources = new Map<string, unknown>();
      for (const [name, resource] of this.resources.snapshotableResources())
        resources.set(name, await resource.snapshot(options.tag === undefined ? {} : { tag: options.tag }));
      return this.#composite(session, resources, options);
    });
  }

  /** The slices now, and the resources as the last commit left them: no resource is asked, so it takes no time. */
  snapshotAtBoundary(about: Pick<SnapshotOptions, "tag" | "metadata">): CompositeSnapshot {
    return this.#composite(this.session.snapshot(), this.exclusive.captured, about);
  }

  planRestore(snapshot: CompositeSnapshot, options: RestoreOptions = {}): RestorePlan {
    checkOptions(options, RESTORE_HOW);
    return this.#plan(snapshot, options, (name) => this.resources.peek(name));
  }

  /** All or nothing: prepared in full, then made durable, then true. If that fails halfway, the state is poisoned. */
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

  diff(before: CompositeSnapshot, after: CompositeSnapshot): SnapshotDifference {
    return diffSnapshots(before, after, this.truth.parts);
  }

  toJson(snapshot: CompositeSnapshot): string {
    return snapshotToText(snapshot, this.truth.parts);
  }

  fromJson(text: string): CompositeSnapshot {
    return snapshotFromText(text, this.truth.parts);
  }

  /** Notes that another state came from this one; its id stands in every later snapshot. */
  adopt(childId: string): void {
    this.#childrenIds.push(childId);
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

/** The seed's way back to a tool boundary. */
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
