import { type Clock, instantOf, SystemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { type IdSource, randomIds } from "../base/ids.ts";
import { type Random, SystemRandom } from "../base/random.ts";
import { Branch } from "./branch.ts";
import { CheckpointStore } from "./checkpoints.ts";
import type { RestoreFailedError } from "./errors.ts";
import { Gate } from "./gate.ts";
import type { AnyPart, Root, RootDelta, SlicePolicy } from "./part.ts";
import { type ResourceKey, ResourceRegistry } from "./resources.ts";
import {
  Poison,
  planRestore,
  type RestoreOptions,
  type RestorePlan,
  refusePoisoned,
  restoreResources,
} from "./restore.ts";
import { SessionState } from "./session-state.ts";
import { partOf, type Slice } from "./slice.ts";
import { type CompositeSnapshot, fromJson, type Snapshot, type SnapshotMetadata, toJson } from "./snapshot.ts";

/** What is about to become true, told to whoever makes it durable. Rejecting it means that it does not. */
export interface Decision {
  readonly delta: RootDelta;
  readonly root: Root;
}

export interface StateOptions {
  readonly slices?: readonly Slice<never>[];
  /** Parts that other rooms bring: files, transcript, pages, catalog. */
  readonly parts?: readonly AnyPart[];
  readonly resources?: ResourceRegistry | Iterable<readonly [ResourceKey<unknown>, unknown]>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: IdSource;
  readonly checkpoints?: CheckpointStore;
}

export interface SnapshotOptions {
  readonly tag?: string;
  readonly metadata?: Omit<SnapshotMetadata, "tag">;
  /** Which slices by policy. Default `state` only. */
  readonly policies?: readonly SlicePolicy[];
  /** Everything, logs included. */
  readonly includeAll?: boolean;
}

/** The single root of everything that a run can change. */
export class ExecutionState {
  readonly session: SessionState;
  readonly resources: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly checkpoints: CheckpointStore;
  readonly parts: ReadonlyMap<string, AnyPart>;
  /** Commits and restores pass here one by one: whoever is inside sees the newest root and nobody moves it. */
  readonly gate: Gate = new Gate();
  #root: Root;
  #poisoned: RestoreFailedError | undefined;

  private constructor(options: StateOptions) {
    const { clock = new SystemClock(), random = new SystemRandom() } = options;
    this.clock = clock;
    this.random = random;
    this.ids = options.ids ?? randomIds(random);
    this.checkpoints = options.checkpoints ?? new CheckpointStore();
    this.resources =
      options.resources instanceof ResourceRegistry
        ? options.resources
        : ResourceRegistry.build(options.resources ?? []);
    this.parts = partsByName([
      ...(options.slices ?? []).map((slice) => partOf(slice) as unknown as AnyPart),
      ...(options.parts ?? []),
    ]);
    this.#root = new Map([...this.parts].map(([name, part]) => [name, part.initial]));
    this.session = new SessionState(this);
  }

  static create(options: StateOptions = {}): ExecutionState {
    return new ExecutionState(options);
  }

  /** What is true now. */
  get root(): Root {
    return this.#root;
  }

  get poisoned(): boolean {
    return this.#poisoned !== undefined;
  }

  branch(): Branch {
    refusePoisoned(this.#poisoned);
    return new Branch(this.#root, this.parts);
  }

  /** Makes a new root true. Only from inside the gate. */
  swap(root: Root): void {
    refusePoisoned(this.#poisoned);
    this.#root = root;
  }

  /** Everything at this moment. Slices by reference; resources are asked one after the other. */
  async snapshot(options: SnapshotOptions = {}): Promise<CompositeSnapshot> {
    const resources = new Map<string, unknown>();
    const session = this.snapshotSlices(options);
    for (const [name, resource] of this.resources.snapshotableResources()) {
      resources.set(name, await resource.snapshot(options.tag === undefined ? {} : { tag: options.tag }));
    }
    return this.composite(session, resources, options);
  }

  snapshotSlices(options: SnapshotOptions = {}): Snapshot {
    const policies = new Set<SlicePolicy>(options.policies ?? ["state"]);
    const included = [...this.#root].filter(
      ([name]) => options.includeAll || policies.has(this.parts.get(name)?.policy ?? "state"),
    );
    return {
      createdAt: instantOf(this.clock),
      slices: new Map(included),
      policies: new Map([...this.parts].map(([name, part]) => [name, part.policy])),
      childrenIds: [],
      tags: {},
    };
  }

  composite(session: Snapshot, resources: ReadonlyMap<string, unknown>, options: SnapshotOptions): CompositeSnapshot {
    return {
      snapshotId: this.ids.next(),
      createdAt: session.createdAt,
      session,
      resources,
      metadata: { phase: "manual", ...options.metadata, ...(options.tag === undefined ? {} : { tag: options.tag }) },
    };
  }

  planRestore(snapshot: CompositeSnapshot, options: RestoreOptions = {}): RestorePlan {
    return planRestore(snapshot, this.#root, this.parts, this.resources, options);
  }

  /** All or nothing. `decide` makes it durable before it becomes true. */
  async restore(
    snapshot: CompositeSnapshot,
    options: RestoreOptions = {},
    decide: (plan: RestorePlan) => Promise<void> = async () => {},
  ): Promise<RestorePlan> {
    return this.gate.run(async () => {
      refusePoisoned(this.#poisoned);
      const plan = this.planRestore(snapshot, options);
      try {
        await restoreResources(snapshot, plan.resources, this.resources, () => decide(plan));
      } catch (error) {
        if (!(error instanceof Poison)) throw error;
        this.#poisoned = error.failure;
        throw error.failure;
      }
      this.swap(plan.root);
      return plan;
    });
  }

  toJson(snapshot: CompositeSnapshot): string {
    return toJson(snapshot, this.parts);
  }

  fromJson(text: string): CompositeSnapshot {
    return fromJson(text, this.parts);
  }

  poison(failure: RestoreFailedError): void {
    this.#poisoned ??= failure;
  }
}

function partsByName(parts: readonly AnyPart[]): ReadonlyMap<string, AnyPart> {
  const byName = new Map<string, AnyPart>();
  for (const part of parts) {
    if (byName.has(part.name)) throw new HoldfastError("SLICE_EXISTS", { name: part.name });
    byName.set(part.name, part);
  }
  return byName;
}
