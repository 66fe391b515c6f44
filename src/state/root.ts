/** In a place that holds nothing: undefined could be a value. */
const ABSENT: unique symbol = Symbol("absent");

/**
 * The values of all parts at one moment, by name. It is immutable, so a reference to it is a snapshot. A changed copy
 * costs one flat copy of references.
 */
export class Root implements Iterable<readonly [name: string, value: unknown]> {
  /** Where each name's value lies: one table for all roots of a state. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #values: readonly unknown[];

  private constructor(places: ReadonlyMap<string, number>, values: readonly unknown[]) {
    this.#places = places;
    this.#values = values;
  }

  /** A root with these values. */
  static of(entries: Iterable<readonly [name: string, value: unknown]>): Root {
    const values = new Map(entries);
    return new Root(new Map([...values.keys()].map((name, place) => [name, place])), [...values.values()]);
  }

  /** The value of a part; undefined if there is none. */
  get(name: string): unknown {
    const value = this.#at(name);
    return value === ABSENT ? undefined : value;
  }

  /** Whether there is a value for this part. */
  has(name: string): boolean {
    return this.#at(name) !== ABSENT;
  }

  /** The names of the parts. */
  *keys(): Iterable<string> {
    for (const [name] of this) yield name;
  }

  *[Symbol.iterator](): Iterator<readonly [name: string, value: unknown]> {
    for (const [name, place] of this.#places) {
      const value = this.#values[place];
      if (value !== ABSENT) yield [name, value];
    }
  }

  /** A copy with these values changed or added. */
  with(changes: Iterable<readonly [name: string, value: unknown]>): Root {
    const values = this.#values.slice();
    const fresh: (readonly [string, unknown])[] = [];
    for (const change of changes) {
      const place = this.#places.get(change[0]);
      if (place === undefined) fresh.push(change);
      else values[place] = change[1];
    }
    const root = new Root(this.#places, values);
    return fresh.length === 0 ? root : Root.of([...root, ...fresh]);
  }

  /** A copy without these parts. */
  without(names: Iterable<string>): Root {
    const values = this.#values.slice();
    for (const name of names) {
      const place = this.#places.get(name);
      if (place !== undefined) values[place] = ABSENT;
    }
    return new Root(this.#places, values);
  }

  /** The other's values where they are not this one's, undefined for those that the other lacks. */
  unlike(other: Root): readonly (readonly [name: string, theirs: unknown])[] {
    const differences: (readonly [string, unknown])[] = [];
    for (const [name, place] of this.#places) {
      const theirs = other.#places === this.#places ? other.#values[place] : other.#at(name);
      if (theirs !== this.#values[place]) differences.push([name, theirs === ABSENT ? undefined : theirs]);
    }
    return differences;
  }

  #at(name: string): unknown {
    const place = this.#places.get(name);
    return place === undefined ? ABSENT : this.#values[place];
  }
}
