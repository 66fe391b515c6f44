import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { systemError } from "./failures.ts";

/**
 * The files a store stands on. Whoever removes or replaces one of them while it is open leaves its connections writing into
 * files that have no name any more: every write would be acknowledged, and gone with the process.
 */
export class Footing {
  readonly #path: string;
  readonly #folder: Folder;
  readonly #logged: boolean;
  readonly #file: string;
  /** Of the log, since the connection that writes has used it. */
  #log: string | undefined;
  #gone: HoldfastError | undefined;

  constructor(path: string, journal: "wal" | "delete", clock: Clock) {
    this.#path = path;
    this.#folder = new Folder(dirname(path), clock);
    this.#logged = journal === "wal";
    this.#file = identityOf(path);
  }

  /** Before a connection is made: it would open whatever has the name now. */
  beforeConnecting(): void {
    this.check();
    this.#log = undefined;
    this.#folder.forget();
  }

  /**
   * After a commit, before anybody is told of it. Where nothing has come or gone in the folder, the files are those they
   * were, and are not asked: Linux gives a file whose times were looked at new ones at the next write, and every sync of
   * the log would have to write them down, too.
   */
  afterCommit(): void {
    if (this.#gone === undefined && this.#folder.isAsItWas()) return;
    this.check();
    if (!this.#logged) return;
    const log = identityOf(`${this.#path}-wal`);
    this.#log ??= log;
    if (log !== this.#log || log === NOTHING) this.#refuse("log");
  }

  /** Why a write failed, when that is why. Where the system does not even let us look, the write has its own reason. */
  get lost(): HoldfastError | undefined {
    try {
      this.check();
      return undefined;
    } catch (error) {
      return HoldfastError.is(error, "STORE_GONE") ? error : undefined;
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

/** A folder and when something last came or went in it. */
class Folder {
  readonly #path: string;
  readonly #clock: Clock;
  #stamp: Pick<Stats, "dev" | "ino" | "ctimeMs"> | undefined;
  /** When the stamp was first seen, and whether it was seen again when the tick that made it was certainly over. */
  #since = 0;
  #settled = false;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  forget(): void {
    this.#stamp = undefined;
  }

  /**
   * Whether nothing has come or gone since this was last asked. In doubt not: all that happens within one tick of the
   * clock that stamps folders leaves the same stamp.
   */
  isAsItWas(): boolean {
    const found = lookAt(this.#path);
    const last = this.#stamp;
    const same = found?.ino === last?.ino && found?.ctimeMs === last?.ctimeMs && found?.dev === last?.dev;
    if (found === undefined || !same) {
      this.#stamp = found;
      this.#since = this.#clock.monotonic();
      this.#settled = false;
      return false;
    }
    const wasSettled = this.#settled;
    this.#settled ||= this.#clock.monotonic() - this.#since > tickOf(found.ctimeMs);
    return wasSettled;
  }
}

/** Milliseconds. A time finer than one comes from a system whose ticks last some; others count in twos of seconds. */
function tickOf(time: number): number {
  return Number.isInteger(time) ? 2_500 : 50;
}

const NOTHING = "";

function identityOf(path: string): string {
  const found = lookAt(path);
  return found === undefined ? NOTHING : `${found.dev}:${found.ino}`;
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw systemError(error, path);
  }
}
