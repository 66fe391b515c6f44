/**
 * A map as a value: whoever holds one sees what it held, and another with an entry more or less shares nearly all of it.
 * Copied whole for each entry, a map of thousands would cost the square of them.
 */
export class SharedMap<K, V> implements ReadonlyMap<K, V> {
  readonly size: number;
  readonly #base: ReadonlyMap<K, V>;
  /** What is otherwise than in the base. It becomes one with it when copying it costs more. */
  readonly #since: ReadonlyMap<K, V | typeof GONE>;

  private constructor(base: ReadonlyMap<K, V>, since: ReadonlyMap<K, V | typeof GONE>, size: number) {
    this.#base = base;
    this.#since = since;
    this.size = size;
  }

  static of<K, V>(map: ReadonlyMap<K, V>): SharedMap<K, V> {
    return map instanceof SharedMap ? (map as SharedMap<K, V>) : new SharedMap(map, new Map(), map.size);
  }

  get(key: K): V | undefined {
    const since = this.#since.get(key);
    if (since === GONE) return undefined;
    return since === undefined ? this.#base.get(key) : since;
  }

  has(key: K): boolean {
    return this.#since.has(key) ? this.#since.get(key) !== GONE : this.#base.has(key);
  }

  with(entries: Iterable<readonly [K, V]>): SharedMap<K, V> {
    const since = new Map(this.#since);
    let { size } = this;
    for (const [key, value] of entries) {
      const isThere = since.has(key) ? since.get(key) !== GONE : this.#base.has(key);
      if (!isThere) size += 1;
      since.set(key, value);
    }
    return this.#next(since, size);
  }

  without(key: K): SharedMap<K, V> {
    if (!this.has(key)) return this;
    return this.#next(new Map(this.#since).set(key, GONE), this.size - 1);
  }

  *entries(): MapIterator<[K, V]> {
    for (const [key, value] of this.#base) {
      const since = this.#since.get(key);
      if (since !== GONE) yield [key, since === undefined ? value : since];
    }
    for (const [key, value] of this.#since) if (value !== GONE && !this.#base.has(key)) yield [key, value];
  }

  *keys(): MapIterator<K> {
    for (const [key] of this) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  forEach(use: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) use(value, key, this);
  }

  #next(since: ReadonlyMap<K, V | typeof GONE>, size: number): SharedMap<K, V> {
    const next = new SharedMap(this.#base, since, size);
    return since.size ** 2 <= this.#base.size + FEW ? next : SharedMap.of(new Map(next));
  }
}

const GONE = Symbol("gone");
const FEW = 256;
