export interface Fault {
  readonly error: string;
  /** Instead of the call, or after it was done: then it succeeded and says it did not. */
  readonly when: "before" | "after";
}

/** Where a fault can strike: the database, the files of content, the workspace. */
export type FaultyPort = "sqlite" | "files" | "host";

/** One fault: at the n-th call of a port, once or from there on. Also counts the calls, so that a rig knows how many there are. */
export class FaultPlan {
  readonly calls: Record<FaultyPort, string[]> = { sqlite: [], files: [], host: [] };
  /** How often it struck. */
  struck = 0;
  readonly #port: FaultyPort;
  readonly #at: number;
  readonly #fault: Fault;
  readonly #forever: boolean;
  #armed = true;

  constructor(port: FaultyPort, at: number, fault: Fault, forever: boolean) {
    this.#port = port;
    this.#at = at;
    this.#fault = fault;
    this.#forever = forever;
  }

  static none(): FaultPlan {
    return new FaultPlan("sqlite", Number.POSITIVE_INFINITY, { error: "none", when: "before" }, false);
  }

  /** The fault clears. */
  disarm(): void {
    this.#armed = false;
  }

  next(port: FaultyPort, what: string): Fault | undefined {
    if (!this.#armed) return undefined;
    const at = this.calls[port].push(what) - 1;
    if (port !== this.#port || at < this.#at || (at > this.#at && !this.#forever)) return undefined;
    this.struck += 1;
    return this.#fault;
  }
}
