import type { ExecutionState, SnapshotOptions } from "./execution-state.ts";
import { planRestore } from "./restore.ts";
import { partOf, type Slice, type SliceEvent } from "./slice.ts";
import type { Snapshot } from "./snapshot.ts";
import { ResourceRegistry } from "./resources.ts";
import type { Part, Root } from "./part.ts";

/** The slices, for code that stands outside a call: set-up, tests, a host's own events. Inside a call, use the call. */
export class SessionState {
  readonly #state: ExecutionState;

  constructor(state: ExecutionState) {
    this.#state = state;
  }

  /** The whole value of a slice; a cache is computed when it is empty. */
  get<T>(slice: Slice<T>): T {
    return readSlice(this.#state.root, partOf(slice));
  }

  /** Every element of a slice that holds a list. */
  all<T>(slice: Slice<readonly T[]>): readonly T[] {
    return this.get(slice);
  }

  /** The newest element of a slice that holds a list. */
  latest<T>(slice: Slice<readonly T[]>): T | undefined {
    return this.get(slice).at(-1);
  }

  dispatch(event: SliceEvent): void {
    const branch = this.#state.branch();
    branch.dispatch(event);
    this.#state.swap(branch.onto(this.#state.root).root);
  }

  /** The seed's other name for `dispatch`. */
  broadcast(event: SliceEvent): void {
    this.dispatch(event);
  }

  /** Sets a slice's value outright. */
  seed<T>(slice: Slice<T>, value: T): void {
    const branch = this.#state.branch();
    branch.change(partOf(slice) as Part<T>, () => value);
    this.#state.swap(branch.onto(this.#state.root).root);
  }

  clear<T>(slice: Slice<T>): void {
    this.seed(slice, partOf(slice).initial);
  }

  snapshot(options: Pick<SnapshotOptions, "policies" | "includeAll"> = {}): Snapshot {
    return this.#state.snapshotSlices(options);
  }

  rollback(snapshot: Snapshot, options: { readonly preserveLogs?: boolean } = {}): void {
    const composite = this.#state.composite(snapshot, new Map(), {});
    this.#state.swap(
      planRestore(composite, this.#state.root, this.#state.parts, ResourceRegistry.build([]), options).root,
    );
  }
}

export function readSlice<T>(
  root: Root,
  part: Part<T> & { readonly recompute?: (read: <V>(slice: Slice<V>) => V) => T },
): T {
  const value = root.get(part.name) as T;
  if (part.policy !== "cache" || part.recompute === undefined || value !== part.initial) return value;
  return part.recompute((other) => readSlice(root, partOf(other)));
}
