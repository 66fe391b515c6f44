import { HoldfastError } from "../base/errors.ts";
import type { AnyPart, Part, Root, RootDelta } from "./part.ts";
import { isSlice, partOf, type Slice, type SliceEvent } from "./slice.ts";

/** A change to one part, to be done again on whatever the root has become: a reducer's event, a file written. */
interface Intent {
  readonly part: string;
  readonly redo: (now: unknown) => unknown;
}

/** Something that was looked at, and whether it still looks the same in a newer root. */
interface Sight {
  readonly part: string;
  readonly holds: (then: unknown, now: unknown) => boolean;
}

export interface Savepoint {
  readonly intents: number;
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * A private view of the root for one call. Opening it copies nothing; dropping it undoes everything; what it looked at
 * and what it wants changed are remembered, so that it can be committed onto a root that has moved on.
 */
export class Branch {
  readonly base: Root;
  readonly #parts: ReadonlyMap<string, AnyPart>;
  readonly #values = new Map<string, unknown>();
  readonly #intents: Intent[] = [];
  readonly #sights = new Map<string, Sight>();

  constructor(base: Root, parts: ReadonlyMap<string, AnyPart>) {
    this.base = base;
    this.#parts = parts;
  }

  /** The slice's value as this call sees it. Counts as read. */
  get<T>(slice: Slice<T>): T {
    const part = partOf(slice);
    this.#sights.set(part.name, { part: part.name, holds: Object.is });
    return this.#current(part);
  }

  dispatch(event: SliceEvent): void {
    const part = this.#partNamed(event.slice);
    if (!isSlice(part)) throw new HoldfastError("SLICE_UNKNOWN", { slice: event.slice });
    this.change(part, (now) => part.reduce(now, event));
  }

  /** Changes a part now, and again at the commit if others have changed it meanwhile. Not a read. */
  change<V>(part: Part<V>, redo: (now: V) => V): void {
    const next = reduced(part.name, () => redo(this.#current(part)));
    this.#values.set(part.name, next);
    this.#intents.push({ part: part.name, redo: redo as (now: unknown) => unknown });
  }

  /** Looks at a part in a finer way than the whole of it. The same `what` is remembered once. */
  look<V, R>(part: Part<V>, what: string, see: (value: V) => R, same: (then: R, now: R) => boolean): R {
    this.#sights.set(`${part.name}/${what}`, {
      part: part.name,
      holds: (then, now) => then === now || same(see(then as V), see(now as V)),
    });
    return see(this.#current(part));
  }

  savepoint(): Savepoint {
    return { intents: this.#intents.length, values: new Map(this.#values) };
  }

  /** Forgets what was changed since; what was read stays read, because it may have decided what came after. */
  rollbackTo(savepoint: Savepoint): void {
    this.#intents.length = savepoint.intents;
    this.#values.clear();
    for (const [part, value] of savepoint.values) this.#values.set(part, value);
  }

  /** What of this branch no longer holds in a newer root; empty when it may be committed there. */
  conflictsWith(newest: Root): readonly string[] {
    if (newest === this.base) return [];
    return [...this.#sights]
      .filter(([, { part, holds }]) => !holds(this.base.get(part), newest.get(part)))
      .map(([what]) => what);
  }

  /** The root this branch makes of the newest one, and the change as data. `only` leaves out parts of other policies. */
  onto(newest: Root, only?: (part: AnyPart) => boolean): { readonly root: Root; readonly delta: RootDelta } {
    const next = new Map(newest);
    const unmoved = newest === this.base && only === undefined;
    for (const { part, redo } of unmoved ? [] : this.#intents) {
      if (only === undefined || only(this.#partNamed(part)))
        next.set(
          part,
          reduced(part, () => redo(next.get(part))),
        );
    }
    if (unmoved) for (const [part, value] of this.#values) next.set(part, value);
    const delta: Record<string, RootDelta[string]> = Object.create(null);
    for (const part of new Set(this.#intents.map((intent) => intent.part))) {
      if (next.get(part) === newest.get(part)) continue;
      const change = this.#partNamed(part).change(newest.get(part) as never, next.get(part) as never);
      delta[part] = change.delta;
      next.set(part, change.value);
    }
    return Object.keys(delta).length === 0 ? { root: newest, delta } : { root: next, delta };
  }

  #current<V>(part: Part<V>): V {
    const own = this.#values.has(part.name) ? this.#values.get(part.name) : this.base.get(part.name);
    if (own === undefined) throw new HoldfastError("SLICE_UNKNOWN", { slice: part.name });
    return own as V;
  }

  #partNamed(name: string): AnyPart {
    const part = this.#parts.get(name);
    if (part === undefined) throw new HoldfastError("SLICE_UNKNOWN", { slice: name });
    return part;
  }
}

/** A reducer that throws fails the call: skipping it would commit half of what was meant. */
function reduced<T>(part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    throw new HoldfastError("REDUCER_FAILED", { slice: part, error: String(error) }, { cause: error });
  }
}
