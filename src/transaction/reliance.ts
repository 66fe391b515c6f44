/** Something that calls rely on, each with its outermost: the call it runs inside, or itself. */
interface Relied {
  readonly owners: Map<string, string>;
}

/**
 * Which calls rely on what, found by the call. A session may have done thousands of things outside: looking through all of
 * them at the end of every call would make each call slower than the one before it.
 */
export class Reliance<E extends Relied> {
  readonly #byOwner = new Map<string, Set<E>>();
  /** By their outermost, the calls that rely on anything. */
  readonly #inside = new Map<string, Set<string>>();

  add(effect: E, owner: string, outermost: string): void {
    if (effect.owners.has(owner)) return;
    effect.owners.set(owner, outermost);
    this.#index(effect, owner, outermost);
  }

  drop(effect: E, owner: string): void {
    const outermost = effect.owners.get(owner);
    if (outermost === undefined) return;
    effect.owners.delete(owner);
    this.#unindex(effect, owner, outermost);
  }

  /** Found by nobody from here on; it remembers whose it is. */
  hide(effect: E): void {
    for (const [owner, outermost] of effect.owners) this.#unindex(effect, owner, outermost);
  }

  show(effect: E): void {
    for (const [owner, outermost] of effect.owners) this.#index(effect, owner, outermost);
  }

  /** What any of these calls relies on. */
  of(owners: Iterable<string>): ReadonlySet<E> {
    const found = new Set<E>();
    for (const owner of owners) for (const effect of this.#byOwner.get(owner) ?? []) found.add(effect);
    return found;
  }

  has(owner: string): boolean {
    return this.#byOwner.has(owner);
  }

  /** Calls that rely on something; without these, and without those that ran inside them. */
  *owners(except: ReadonlySet<string> = NOBODY): Iterable<string> {
    for (const [outermost, owners] of this.#inside) if (!except.has(outermost)) yield* owners;
  }

  /** Of those, the calls that ran inside this one. */
  inside(outermost: string): Iterable<string> {
    return this.#inside.get(outermost) ?? [];
  }

  #index(effect: E, owner: string, outermost: string): void {
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(effect));
    this.#inside.set(outermost, (this.#inside.get(outermost) ?? new Set()).add(owner));
  }

  #unindex(effect: E, owner: string, outermost: string): void {
    const owned = this.#byOwner.get(owner);
    if (owned?.delete(effect) !== true || owned.size > 0) return;
    this.#byOwner.delete(owner);
    const inside = this.#inside.get(outermost);
    inside?.delete(owner);
    if (inside?.size === 0) this.#inside.delete(outermost);
  }
}

const NOBODY: ReadonlySet<string> = new Set();
