import { HoldfastError } from "../base/errors.ts";

/** What is known of calls that are not open here. */
interface ElsewhereKnown {
  /** Written down as opened, and waiting for somebody: nobody else is to begin it. */
  readonly waits: (id: string) => boolean;
  /** It has ended, and is still answered for. */
  readonly hasEnded: (id: string) => boolean;
}

interface NamedCall {
  readonly id: string;
  /** It was made just now, and stands for no other. */
  readonly isNew?: boolean;
  /** Its opening is written down already. */
  readonly announced?: boolean;
}

const NOTHING_KNOWN: ElsewhereKnown = { waits: () => false, hasEnded: () => false };

/** Which call an id stands for. A second one of the same id would answer for what the first did, and undo its effects. */
export class CallIds {
  readonly #known: ElsewhereKnown;
  /** Each open call's outermost: the one it runs inside, or itself. */
  readonly #outermost = new Map<string, string>();
  readonly #inside = new Map<string, string[]>();

  constructor(known = NOTHING_KNOWN) {
    this.#known = known;
  }

  take({ id, isNew, announced }: NamedCall): void {
    // Kept, half a character becomes another one: nobody would find the call again by its id.
    if (typeof id !== "string" || id === "" || !id.isWellFormed())
      throw new HoldfastError("CALL_BAD_ID", { call: String(id).slice(0, 80).toWellFormed() });
    if (this.#outermost.has(id)) throw new HoldfastError("CALL_OPEN", { call: id });
    if (isNew !== true) this.#refuseKnown(id, announced === true);
    this.#outermost.set(id, id);
  }

  /** `a.1` for the first call inside `a`; the next one where a host has called a call of its own so. */
  takeInside(outermost: string, nth: number): string {
    const id = `${outermost}.${nth}`;
    if (this.#outermost.has(id) || this.#known.hasEnded(id)) return this.takeInside(outermost, nth + 1);
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

  #refuseKnown(id: string, announced: boolean): void {
    if (!announced && this.#known.waits(id)) throw new HoldfastError("CALL_OPEN", { call: id });
    if (this.#known.hasEnded(id)) throw new HoldfastError("CALL_ENDED", { call: id });
  }
}
