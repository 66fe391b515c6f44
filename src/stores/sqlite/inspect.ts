import { constants, existsSync, statSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { checkOptions, OBJECT } from "../../base/options.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import { fileBlobs } from "../../blobs/files/store.ts";
import type { Store } from "../../contracts/store.ts";
import { toOwnerId } from "../../records/ids.ts";
import { closeQuietly } from "./connect.ts";
import { storeError } from "./failures.ts";
import { FileLocks } from "./lock.ts";
import { placeState, refuseBadPath, refuseForeign, wholePath } from "./place.ts";
import { readFrom } from "./read.ts";
import { SqliteTables } from "./tables.ts";
import { nodeSqlite, type SqliteConnection, type SqliteDriver } from "./vendor.ts";
import { readWal } from "./wal.ts";

/** Options of `inspectSqlite`. */
export interface InspectOptions {
  /** Default: `node:sqlite`. */
  readonly driver?: SqliteDriver;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Opens a store for reading only. Nothing is created, locked or changed beside it, so it may lie in a folder that
 * cannot be written to, and what a crash left stays for the next process that opens the store. While a writer is alive,
 * its snapshots are read. A store that nobody uses is read as it is; if its log was not merged into the file yet, a
 * copy is read, which is deleted on close.
 */
export async function inspectSqlite(file: string, options: InspectOptions = {}): Promise<Store> {
  checkOptions(options, { driver: OBJECT, clock: OBJECT, random: OBJECT });
  refuseBadPath(file);
  const driver = options.driver ?? (await nodeSqlite());
  try {
    const path = wholePath(file);
    if (placeState(path) === "absent") throw new HoldfastError("STORE_UNREACHABLE", { path, found: "nothing" });
    refuseForeign(driver, path);
    return inspecting(await sightOf(driver, path), driver, path, options);
  } catch (error) {
    throw storeError(driver, error, file);
  }
}

/** How the file is looked at. */
interface Sight {
  readonly connect: () => SqliteConnection;
  /** True when what was seen is one moment of the store. */
  readonly isSteady: () => boolean;
  readonly end: () => Promise<void>;
}

const USERS = "users";

async function sightOf(driver: SqliteDriver, path: string): Promise<Sight> {
  const locks = new FileLocks(driver, `${path}.locks`);
  const beside: Sight = {
    connect: () => driver.open(path, { readOnly: true }),
    isSteady: () => true, // SQLite's own snapshots
    end: async () => {},
  };
  if (existsSync(`${path}.locks`) && !locks.isFree(USERS) && canRead(beside)) return beside;
  const { peek } = driver;
  const seen = marks(path);
  const { frames, committedBeyondDamage } = readWal(path);
  if (peek !== undefined && frames.length === 0 && committedBeyondDamage === 0)
    return { connect: () => peek(path), isSteady: () => marks(path) === seen, end: async () => {} };
  return copied(driver, path, committedBeyondDamage);
}

function canRead({ connect }: Sight): boolean {
  let connection: SqliteConnection | undefined;
  try {
    connection = connect();
    connection.prepare("SELECT count(*) FROM sqlite_schema").get();
    return true;
  } catch {
    return false; // where nothing can be written, SQLite cannot read beside others: the copy tells what is wrong
  } finally {
    closeQuietly(connection);
  }
}

async function copied(driver: SqliteDriver, path: string, lost: number): Promise<Sight> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  const end = () => rm(folder, { recursive: true, force: true });
  const copy = join(folder, "store.db");
  try {
    const seen = marks(path);
    for (const suffix of ["", "-wal"])
      if (existsSync(`${path}${suffix}`))
        await copyFile(`${path}${suffix}`, `${copy}${suffix}`, constants.COPYFILE_FICLONE);
    if (marks(path) !== seen) throw new HoldfastError("STORE_BUSY", { path, why: "it changed while it was copied" });
    const connect = () => driver.open(copy, { readOnly: false });
    refuseLostLog(connect, path, lost);
    return { connect, isSteady: () => true, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The same judgement as at opening: transactions beyond a bad frame were synced one by one, and are damage. */
function refuseLostLog(connect: () => SqliteConnection, path: string, lost: number): void {
  const connection = connect();
  try {
    if (lost > 1 && new SqliteTables(connection).meta("durability") === "power")
      throw new HoldfastError("STORE_DAMAGED", { path: `${path}-wal`, transactionsBeyondDamage: lost });
  } finally {
    connection.close();
  }
}

/** What its acknowledged records survive. A store that is too damaged to tell is told by whoever reads it next. */
function classIn({ connect }: Sight): "power" | "process" {
  let connection: SqliteConnection | undefined;
  try {
    connection = connect();
    return new SqliteTables(connection).meta("durability") === "process" ? "process" : "power";
  } catch {
    return "power";
  } finally {
    closeQuietly(connection);
  }
}

/** What changes when somebody writes. */
function marks(path: string): string {
  return ["", "-wal"]
    .map((suffix) => statSync(`${path}${suffix}`, { throwIfNoEntry: false }))
    .map((found) => (found === undefined ? "none" : `${found.dev}:${found.ino}:${found.size}:${found.mtimeMs}`))
    .join(" ");
}

function inspecting(sight: Sight, driver: SqliteDriver, path: string, options: InspectOptions): Store {
  const { clock = new SystemClock(), random = new SystemRandom() } = options;
  const locks = new FileLocks(driver, `${path}.locks`);
  const refuse = () => Promise.reject(new HoldfastError("STORE_READONLY", { path, opened: "to look at only" }));
  return {
    durability: classIn(sight),
    owner: toOwnerId(`nobody-${random.hex(8)}`),
    blobs: fileBlobs(`${path}.blobs`, { clock, random, sync: false }),
    place: path,
    async reading(use) {
      await nextTurn(); // SQLite works on this thread: timers and signals get their turn between two readings
      const connection = sight.connect();
      try {
        connection.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; BEGIN");
        const result = await use(readFrom(new SqliteTables(connection), { path, driver }));
        if (sight.isSteady()) return result;
      } catch (error) {
        if (sight.isSteady()) throw storeError(driver, error, path);
      } finally {
        closeQuietly(connection);
      }
      throw new HoldfastError("STORE_BUSY", { path, why: "somebody began to write while it was looked at" });
    },
    commit: refuse,
    isDead: (owner) => locks.isFree(owner),
    shrink: refuse,
    close: () => sight.end(),
  };
}
