import { HoldfastError } from "../base/errors.ts";
import { inWords } from "../base/words.ts";
import { type AnyPart, changeOf, type Part, type Parts, type RootChange } from "./part.ts";
import { readSlice } from "./read-slice.ts";
import type { Root } from "./root.ts";
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
  readonly intents: readonly Intent[];
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * A private view of the root for one call. Opening it copies nothing; dropping it undoes everything; what it looked at
 * and what it wants changed are remembered, so that it can be committed onto a root that has moved on.
 */
export class Branch {
  readonly base: Root;
  readonly #parts: Parts;
  #values = new Map<string, unknown>();
  #intents: Intent[] = [];
  readonly #sights = new Map<string, Sight>();

  constructor(base: Root, parts: Parts) {
    this.base = base;
    this.#parts = parts;
  }

  /** The slice's value as this call sees it. It counts as read, and so does everything a cache was computed from. */
  get<T>(slice: Slice<T>): T {
    return readSlice(partOf(slice), (part) => {
      this.#sights.set(part.name, { part: part.name, holds: Object.is });
      return this.#current(part);
    });
  }

  dispatch(event: SliceEvent): void {
    const part = this.#partNamed(event.slice);
    if (!isSlice(part)) throw new HoldfastError("SLICE_UNKNOWN", { slice: event.slice });
    this.change(part, (now) => part.reduce(now, event));
  }

  /** Changes a part now, and again at the commit if others have changed it meanwhile. Not a read. */
  change<V>(part: Part<V>, redo: (now: V) => V): void {
    const next = redone(part.name, () => redo(this.#current(part)));
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

  /** A part's value without remembering that it was looked at: only for what a sight has just covered. */
  peek<V>(part: Part<V>): V {
    return this.#current(part);
  }

  /** The part of a name, when this state has it. */
  part(name: string): AnyPart | undefined {
    return this.#parts.get(name);
  }

  savepoint(): Savepoint {
    return { intents: [...this.#intents], values: new Map(this.#values) };
  }

  /**
   * Forgets what was changed since, but for logs, which tell what was tried. What was read stays read, because it may
   * have decided what came after.
   */
  rollbackTo(savepoint: Savepoint): void {
    const isLog = (part: string) => this.#partNamed(part).policy === "log";
    const logged = this.#intents.slice(savepoint.intents.length).filter(({ part }) => isLog(part));
    this.#intents = [...savepoint.intents, ...logged];
    this.#values = new Map([...savepoint.values, ...[...this.#values].filter(([part]) => isLog(part))]);
  }

  /** Forgets everything that was changed since, logs included: it was not tried, only looked at. */
  returnTo({ intents, values }: Savepoint): void {
    this.#intents = [...intents];
    this.#values = new Map(values);
  }

  /** Forgets everything that was changed, but for logs. */
  discard(): void {
    this.rollbackTo(BEGINNING);
  }

  /** Forgets the logs too: for when a log's own reducer is at fault. */
  forgetAll(): void {
    this.#intents = [];
    this.#values = new Map();
  }

  /** What of this branch no longer holds in a newer root; empty when it may be committed there. */
  conflictsWith(newest: Root): readonly string[] {
    if (newest === this.base) return [];
    return [...this.#sights]
      .filter(([, { part, holds }]) => !holds(this.base.get(part), newest.get(part)))
      .map(([what]) => what);
  }

  /** What this branch makes of the newest root. Throws a typed error when a reducer or its result is at fault. */
  onto(newest: Root): RootChange {
    return changeOf(this.#parts, newest, newest === this.base ? this.#values : this.#redone(newest));
  }

  /** Only the parts that change. */
  #redone(newest: Root): ReadonlyMap<string, unknown> {
    const next = new Map<string, unknown>();
    for (const { part, redo } of this.#intents) {
      const now = next.has(part) ? next.get(part) : newest.get(part);
      next.set(
        part,
        redone(part, () => redo(now)),
      );
    }
    return next;
  }

  #current<V>(part: Part<V>): V {
    if (this.#values.has(part.name)) return this.#values.get(part.name) as V;
    if (!this.base.has(part.name)) throw new HoldfastError("SLICE_UNKNOWN", { slice: part.name });
    return this.base.get(part.name) as V;
  }

  #partNamed(name: string): AnyPart {
    const part = this.#parts.get(name);
    if (part === undefined) throw new HoldfastError("SLICE_UNKNOWN", { slice: name });
    return part;
  }
}

const BEGINNING: Savepoint = { intents: [], values: new Map() };

/** A reducer that throws fails the call: skipping it would commit half of what was meant. */
function redone<T>(part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    throw new HoldfastError("REDUCER_FAILED", { slice: part, error: inWords(error) }, { cause: error });
  }
}
