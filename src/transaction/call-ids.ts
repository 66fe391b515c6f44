import { HoldfastError } from "../base/errors.ts";

/** Which call an id stands for. A second one of the same id would answer for what the first did, and undo its effects. */
export class CallIds {
  readonly #hasEnded: (id: string) => boolean;
  /** Each open call's outermost: the one it runs inside, or itself. */
  readonly #outermost = new Map<string, string>();
  readonly #inside = new Map<string, string[]>();

  /** `hasEnded`: whether a call of that id has ended, and is still answered for. */
  constructor(hasEnded: (id: string) => boolean = () => false) {
    this.#hasEnded = hasEnded;
  }

  take(id: string): void {
    // Kept, half a character becomes another one: nobody would find the call again by its id.
    if (typeof id !== "string" || id === "" || !id.isWellFormed())
      throw new HoldfastError("CALL_BAD_ID", { call: String(id).slice(0, 80).toWellFormed() });
    if (this.#outermost.has(id)) throw new HoldfastError("CALL_OPEN", { call: id });
    if (this.#hasEnded(id)) throw new HoldfastError("CALL_ENDED", { call: id });
    this.#outermost.set(id, id);
  }

  /** `a.1` for the first call inside `a`; the next one where a host has called a call of its own so. */
  takeInside(outermost: string, nth: number): string {
    const id = `${outermost}.${nth}`;
    if (this.#outermost.has(id) || this.#hasEnded(id)) return this.takeInside(outermost, nth + 1);
    this.#outermost.set(id, outermost);
    this.#inside.set(outermost, [...(this.#inside.get(outermost) ?? []), id]);
    return id;
  }

  outermost(id: string): string {
    return this.#outermost.get(id) ?? id;
  }

  /** The call is over, and so are those inside it. */
  free(id: string): void {
    for (const inner of this.#inside.get(id) ?? []) this.#outermost.delete(inner);
    this.#inside.delete(id);
    this.#outermost.delete(id);
  }
}
