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
  readonly by: Stretch;
  readonly at: number;
}

/** Something that was looked at, and whether it still looks the same in a newer root. */
interface Sight {
  readonly part: string;
  readonly holds: (then: unknown, now: unknown) => boolean;
}

/**
 * A part of a call's work that may be taken back without the rest: a transaction, a call inside it. It knows what is its
 * own, so that one that fails takes nothing of those beside it.
 */
export interface Stretch {
  readonly around: Stretch | undefined;
  readonly opened: number;
  /** Between which moments what it did was taken back. */
  readonly takenBack: { readonly from: number; readonly to: number }[];
}

/** A moment in a stretch. */
export interface Savepoint {
  readonly of: Stretch;
  readonly at: number;
  /** How many changes there were, and what they had made. */
  readonly changes: number;
  readonly values: ReadonlyMap<string, unknown>;
}

/**
 * A private view of the root for one call. Opening it copies nothing, and dropping it undoes everything. It remembers
 * what was read and what was changed, so that it can be committed onto a root that has changed meanwhile.
 */
export class Branch {
  readonly base: Root;
  readonly #parts: Parts;
  #values = new Map<string, unknown>();
  #intents: Intent[] = [];
  /** Most calls look at nothing but what their reducers are given. */
  #sights: Map<string, Sight> | undefined;
  /** The call's own work: whatever is done in no other stretch. */
  readonly whole: Stretch = { around: undefined, opened: 0, takenBack: [] };
  #moment = 0;

  constructor(base: Root, parts: Parts) {
    this.base = base;
    this.#parts = parts;
  }

  /**
   * The value of a slice, as this call sees it. It counts as read, and so does everything a cache was computed from.
   */
  get<T>(slice: Slice<T>): T {
    return readSlice(partOf(slice), (part) => {
      this.#saw(part.name, { part: part.name, holds: Object.is });
      return this.#current(part);
    });
  }

  /** Applies an event to its slice. */
  dispatch(event: SliceEvent, by?: Stretch): void {
    const part = this.#partNamed(event.slice);
    if (!isSlice(part)) throw new HoldfastError("SLICE_UNKNOWN", { slice: event.slice });
    this.change(part, (now) => part.reduce(now, event), by);
  }

  /**
   * Changes a part now; `redo` runs again at the commit if others have changed it meanwhile. It does not count as read.
   */
  change<V>(part: Part<V>, redo: (now: V) => V, by: Stretch = this.whole): void {
    const intent = { part: part.name, redo: redo as (now: unknown) => unknown, by, at: this.#now() };
    this.#redo(intent.part, intent.redo);
    this.#intents.push(intent);
  }

  /** Reads something in a part without counting all of the part as read. The same `what` is remembered once. */
  look<V, R>(part: Part<V>, what: string, see: (value: V) => R, same: (then: R, now: R) => boolean): R {
    this.#saw(`${part.name}/${what}`, {
      part: part.name,
      holds: (then, now) => then === now || same(see(then as V), see(now as V)),
    });
    return see(this.#current(part));
  }

  /** A part's value, without counting it as read. Only for what `look` has just covered. */
  peek<V>(part: Part<V>): V {
    return this.#current(part);
  }

  /** The part with this name, if the state has one. */
  part(name: string): AnyPart | undefined {
    return this.#parts.get(name);
  }

  /** A stretch inside another begins. */
  stretch(around: Stretch): Stretch {
    return { around, opened: this.#now(), takenBack: [] };
  }

  savepoint(of: Stretch = this.whole): Savepoint {
    return { of, at: this.#now(), changes: this.#intents.length, values: new Map(this.#values) };
  }

  /**
   * Forgets what its stretch, and those inside it, changed since, but for logs, which tell what was tried. What was read
   * stays read, because it may have decided what came after. Throws when what stays cannot do without what went.
   */
  rollbackTo(savepoint: Savepoint): void {
    const { of, at, changes, values } = savepoint;
    of.takenBack.push({ from: at, to: this.#now() });
    const goes = (intent: Intent) => isSince(savepoint, intent.by, intent.at) && !this.#isLog(intent.part);
    const changed = new Set(this.#intents.filter(goes).map(({ part }) => part));
    this.#intents = this.#intents.filter((intent) => !goes(intent));
    // What was true at the savepoint may have gone since, with another stretch: then all that stays is done again.
    const holds = this.#intents.filter((intent) => intent.at < at).length === changes;
    for (const part of changed) {
      if (holds && values.has(part)) this.#values.set(part, values.get(part));
      else this.#values.delete(part);
    }
    for (const { part, redo, at: moment } of this.#intents)
      if (changed.has(part) && (moment > at || !holds)) this.#redo(part, redo);
  }

  /** Whether a savepoint lies in what was taken back: what it would return to is gone. */
  isVoid({ of, at }: Savepoint): boolean {
    let moment = at;
    for (let stretch: Stretch | undefined = of; stretch !== undefined; stretch = stretch.around) {
      if (stretch.takenBack.some(({ from, to }) => from < moment && moment < to)) return true;
      moment = stretch.opened;
    }
    return false;
  }

  /** Forgets everything that was changed since, logs included. */
  returnTo({ at, values }: Savepoint): void {
    this.#intents = this.#intents.filter((intent) => intent.at < at);
    this.#values = new Map(values);
  }

  /** Forgets everything that was changed, except logs. */
  discard(): void {
    this.#intents = this.#intents.filter(({ part }) => this.#isLog(part));
    this.#values = new Map([...this.#values].filter(([part]) => this.#isLog(part)));
  }

  /** Forgets everything that was changed, logs included: for when a log's own reducer is at fault. */
  forgetAll(): void {
    this.#intents = [];
    this.#values = new Map();
  }

  /** What this branch has read and is different in a newer root. Empty when it may be committed there. */
  conflictsWith(newest: Root): readonly string[] {
    if (newest === this.base) return [];
    return [...(this.#sights ?? [])]
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

  #redo(part: string, redo: Intent["redo"]): void {
    this.#values.set(
      part,
      redone(part, () => redo(this.#valueOf(part))),
    );
  }

  #current<V>(part: Part<V>): V {
    return this.#valueOf(part.name) as V;
  }

  #valueOf(part: string): unknown {
    if (this.#values.has(part)) return this.#values.get(part);
    if (!this.base.has(part)) throw new HoldfastError("SLICE_UNKNOWN", { slice: part });
    return this.base.get(part);
  }

  #saw(what: string, sight: Sight): void {
    this.#sights ??= new Map();
    this.#sights.set(what, sight);
  }

  #now(): number {
    this.#moment += 1;
    return this.#moment;
  }

  #isLog(part: string): boolean {
    return this.#partNamed(part).policy === "log";
  }

  #partNamed(name: string): AnyPart {
    const part = this.#parts.get(name);
    if (part === undefined) throw new HoldfastError("SLICE_UNKNOWN", { slice: name });
    return part;
  }
}

/** Whether what a stretch did at a moment belongs to a savepoint's own stretch, and came after it. */
export function isSince(savepoint: Savepoint, by: Stretch, moment: number): boolean {
  if (by === savepoint.of) return moment > savepoint.at;
  return by.around !== undefined && isSince(savepoint, by.around, by.opened);
}

/** A reducer that throws fails the call: skipping it would commit half of what was meant. */
function redone<T>(part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    throw new HoldfastError("REDUCER_FAILED", { slice: part, error: inWords(error) }, { cause: error });
  }
}
