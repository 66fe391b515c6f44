import { type Clock, instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { BOOLEAN, checkOptions } from "../base/options.ts";
import { planRestore } from "./restore.ts";
import { readSlice } from "./read-slice.ts";
import type { Snapshotable } from "./resources.ts";
import type { Root } from "./root.ts";
import { partOf, type Slice, type SliceEvent } from "./slice.ts";
import { leftOut, mustHoldSlices, SLICE_SELECTION, type SliceSelection, type Snapshot } from "./snapshot.ts";
import type { Truth } from "./truth.ts";

/** Where a state stands among others: which it came from, which came from it, what its owner calls it. */
export interface Lineage {
  readonly parentId?: string;
  readonly childrenIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The slices, for code outside a call: set-up, tests, a host's own events. Reading is immediate. A change waits its
 * turn among the commits; it is true, and durable, when its promise resolves. Inside a call, use the call instead.
 */
export class SessionState {
  readonly #truth: Truth;
  readonly #clock: Clock;
  readonly #lineage: Lineage;
  /** Unless somebody chooses. */
  readonly #leftOut: readonly string[];
  #newest: { readonly root: Root; readonly slices: Root } | undefined;

  constructor(truth: Truth, clock: Clock, lineage: Lineage) {
    this.#truth = truth;
    this.#clock = clock;
    this.#lineage = lineage;
    this.#leftOut = leftOut(truth.namesBy, {});
  }

  /** The value of a slice. A cache that is empty is computed. */
  get<T>(slice: Slice<T>): T {
    const { root } = this.#truth;
    return readSlice(partOf(slice), <V>({ name }: { readonly name: string }) => {
      // Answered as undefined, one that nobody has listed would be taken for empty.
      if (!root.has(name)) throw new HoldfastError("SLICE_UNKNOWN", { slice: name });
      return root.get(name) as V;
    });
  }

  /** All elements of a slice that is a list. */
  all<T>(slice: Slice<readonly T[]>): readonly T[] {
    return this.get(slice);
  }

  /** The last element of a slice that is a list. */
  latest<T>(slice: Slice<readonly T[]>): T | undefined {
    return this.get(slice).at(-1);
  }

  /** Applies an event to its slice. */
  dispatch(event: SliceEvent): Promise<void> {
    return this.#truth.change((branch) => branch.dispatch(event), `dispatched ${event.slice}.${event.event}`);
  }

  /** The seed's other name for `dispatch`. */
  broadcast(event: SliceEvent): Promise<void> {
    return this.dispatch(event);
  }

  /** Sets the value of a slice directly. It is checked like a stored one. */
  seed<T>(slice: Slice<T>, value: T): Promise<void> {
    const part = partOf(slice);
    return this.#truth.change((branch) => branch.change(part, () => part.admit(value)), `seeded ${part.name}`);
  }

  /** Sets a slice back to its initial value. */
  clear<T>(slice: Slice<T>): Promise<void> {
    const part = partOf(slice);
    return this.#truth.change((branch) => branch.change(part, () => part.initial), `cleared ${part.name}`);
  }

  /** Captures the slices by reference: it costs nothing, and keeping it costs only what changes afterwards. */
  snapshot(selection?: SliceSelection): Snapshot {
    if (selection !== undefined) checkOptions(selection, SLICE_SELECTION); // every call takes two, and chooses nothing
    const { policies } = this.#truth;
    const { parentId, childrenIds, tags } = this.#lineage;
    return {
      createdAt: instantOf(this.#clock),
      slices: this.#select(selection),
      policies,
      ...(parentId === undefined ? {} : { parentId }),
      childrenIds: [...childrenIds],
      tags,
    };
  }

  /** After one call and before the next it is the same one. */
  #select(selection: SliceSelection = {}): Root {
    const { root, namesBy } = this.#truth;
    if (selection.policies !== undefined || selection.includeAll === true)
      return root.without(leftOut(namesBy, selection));
    if (this.#newest?.root !== root) this.#newest = { root, slices: root.without(this.#leftOut) };
    return this.#newest.slices;
  }

  /** Puts the slices back to a snapshot. Logs stay as they are, unless `preserveLogs` is false. */
  async rollback(snapshot: Snapshot, options: { readonly preserveLogs?: boolean } = {}): Promise<void> {
    checkOptions(options, { preserveLogs: BOOLEAN });
    mustHoldSlices(snapshot);
    const composite = {
      snapshotId: "",
      createdAt: snapshot.createdAt,
      session: snapshot,
      resources: new Map(),
      metadata: { phase: "manual" },
    } as const;
    return this.#truth.gate.run(async () => {
      const ground = { truth: this.#truth, resource: () => undefined, origins: new Map() };
      await this.#truth.commit(planRestore(composite, ground, options).change, "rolled back");
    });
  }
}

/** The slices as a resource that can be captured and put back. */
export class SessionSnapshotAdapter implements Snapshotable<Snapshot> {
  readonly #session: SessionState;

  constructor(session: SessionState) {
    this.#session = session;
  }

  snapshot(): Snapshot {
    return this.#session.snapshot();
  }

  restore(snapshot: Snapshot): Promise<void> {
    return this.#session.rollback(snapshot);
  }
}
