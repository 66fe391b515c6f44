import { statSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";

/**
 * The files a store stands on. Whoever removes or replaces one of them while it is open leaves its connections writing into
 * files that have no name any more: every write would be acknowledged, and gone with the process.
 */
export class Footing {
  readonly #path: string;
  readonly #logged: boolean;
  readonly #file: string;
  /** Of the log, since the connection that writes has used it. */
  #log: string | undefined;
  #gone: HoldfastError | undefined;

  constructor(path: string, journal: "wal" | "delete") {
    this.#path = path;
    this.#logged = journal === "wal";
    this.#file = identityOf(path);
  }

  /** Before a connection is made: it would open whatever has the name now. */
  beforeConnecting(): void {
    this.check();
    this.#log = undefined;
  }

  /** After a commit, before anybody is told of it. */
  afterCommit(): void {
    this.check();
    if (!this.#logged) return;
    const log = identityOf(`${this.#path}-wal`);
    this.#log ??= log;
    if (log !== this.#log || log === NOTHING) this.#refuse("log");
  }

  /** Why a write failed, when that is why. */
  get lost(): HoldfastError | undefined {
    try {
      this.check();
      return undefined;
    } catch (error) {
      if (HoldfastError.is(error, "STORE_GONE")) return error;
      throw error;
    }
  }

  check(): void {
    if (this.#gone !== undefined) throw this.#gone;
    if (identityOf(this.#path) !== this.#file) this.#refuse("file");
  }

  #refuse(what: string): never {
    this.#gone = new HoldfastError("STORE_GONE", { path: this.#path, what });
    throw this.#gone;
  }
}

const NOTHING = "";

function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? NOTHING : `${found.dev}:${found.ino}`;
}
