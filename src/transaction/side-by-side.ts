import type { Stretch } from "../state/branch.ts";

/**
 * Parts of a call that are under way at the same time. A resource that cannot branch is put back as a whole, and what each
 * of them made of it cannot be told apart: put back for one, it would lose what another had made of it.
 */
export class SideBySide {
  readonly #open = new Set<Stretch>();
  readonly #mixed = new WeakSet<Stretch>();

  begin(stretch: Stretch): void {
    if (this.#meet(stretch)) this.#mixed.add(stretch);
    this.#open.add(stretch);
  }

  end(stretch: Stretch): void {
    this.#open.delete(stretch);
  }

  /** A resource is used in a stretch. */
  use(stretch: Stretch): void {
    this.#meet(stretch);
  }

  isMixed(stretch: Stretch): boolean {
    return this.#mixed.has(stretch);
  }

  #meet(stretch: Stretch): boolean {
    const others = [...this.#open].filter((other) => !isInside(stretch, other));
    for (const other of others) this.#mixed.add(other);
    return others.length > 0;
  }
}

function isInside(stretch: Stretch | undefined, other: Stretch): boolean {
  return stretch !== undefined && (stretch === other || isInside(stretch.around, other));
}
