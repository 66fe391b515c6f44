import { readFileSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import { SystemRandom } from "../../base/random.ts";
import { isCode } from "../../blobs/files/port.ts";
import { type OwnerId, toOwnerId } from "../../records/ids.ts";
import type { FileLocks } from "./lock.ts";
import { engineOf, type SqliteDriver } from "./vendor.ts";

/**
 * The system's locks belong to the process: two copies of SQLite in it do not see each other's, and the one that closes a
 * file frees what the other holds. So every owner's name says which process it lives in and which copy it uses, where all
 * threads and all copies of this package can read it: in the name of its lock file.
 */
export function ownerName(driver: SqliteDriver, unique: string): OwnerId {
  return toOwnerId(`${unique}.${processMark()}.${engineOf(driver)}`);
}

/** To be asked when one's own lock file is there: of two that open at once, at least one then sees the other. */
export function refuseOtherEngine(locks: FileLocks, owner: OwnerId, path: string): void {
  const [, process, engine] = owner.split(".");
  for (const other of locks.names(toOwnerId(""))) {
    const [, theirs, used] = other.split(".");
    if (theirs === process && used !== engine)
      throw new HoldfastError("STORE_OTHER_ENGINE", { path, engine: used ?? "unknown" });
  }
}

const MARK = Symbol.for("holdfast.process");

/** The same in every thread of a process and in no other process, where the system tells; else the same in this thread. */
function processMark(): string {
  const here = globalThis as { [MARK]?: string };
  here[MARK] ??= systemsMark() ?? `t${new SystemRandom().hex(8)}`;
  return here[MARK];
}

const STARTED_AT = 19;

/** Its number and when it began: numbers are given again. */
function systemsMark(): string | undefined {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `p${stat.slice(0, stat.indexOf(" "))}-${fields[STARTED_AT]}`;
  } catch (error) {
    if (isCode(error, "ENOENT", "EACCES")) return undefined;
    throw error;
  }
}
