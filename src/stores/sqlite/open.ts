import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { AMOUNT, BOOLEAN, checkOptions, FUNCTION, OBJECT, type OptionRules, oneOf } from "../../base/options.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import { makeFolder, syncFolder } from "../../blobs/files/folders.ts";
import { realFiles } from "../../blobs/files/port.ts";
import { fileBlobs } from "../../blobs/files/store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { HeldLock } from "../../contracts/lock.ts";
import type { Store } from "../../contracts/store.ts";
import { type OwnerId, toOwnerId } from "../../records/ids.ts";
import {
  type Connected,
  type ConnectOptions,
  closeQuietly,
  connectWriter,
  engineIsSafe,
  mustBeOurs,
} from "./connect.ts";
import { storeError } from "./failures.ts";
import { FileLocks } from "./lock.ts";
import { type Patience, patiently } from "./patience.ts";
import { ownerName, refuseOtherEngine } from "./engines.ts";
import {
  type NetworkPolicy,
  networkFileSystemAt,
  placeState,
  publish,
  refuseBadPath,
  refuseForeign,
  wholePath,
} from "./place.ts";
import { SCHEMA } from "./schema.ts";
import { SqliteStore } from "./store.ts";
import { nodeSqlite, type SqliteConnection, type SqliteDriver } from "./vendor.ts";
import { readWal } from "./wal.ts";

/** Options of `sqlite` and `openSqlite`. */
export interface SqliteOptions {
  /**
   * What an acknowledged write survives. Default `power`. `kept` takes the class that the store was created with; use
   * it to look at a store.
   */
  readonly durability?: "power" | "process" | "kept";
  /** Whether to create the store if there is none. Default `true`. */
  readonly create?: boolean;
  /** What to do on a network file system: `refuse`, or use the slower `rollback-journal`. Default `refuse`. */
  readonly network?: NetworkPolicy;
  /** Default: `node:sqlite`. */
  readonly driver?: SqliteDriver;
  /**
   * Where large content is kept. Default: the folder `<file>.blobs`. A store deletes blobs that it does not name, so
   * two stores must never share one place.
   */
  readonly blobs?: BlobStore;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How long to wait for another process's transaction, in milliseconds. Default 10 000. */
  readonly busyLimit?: number;
  /** Returns the type of the file system at a path, as `statfs` numbers it; for tests. */
  readonly fileSystemAt?: (path: string) => number;
}

/** A day: nobody takes that long between making a lock file and locking it. */
const LEFTOVER_AGE = 86_400_000;

/**
 * Opens or creates the SQLite store. Anything that could lose data later is refused now, with an error that says why.
 */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Store> {
  refuseBadOptions(file, options);
  const driver = options.driver ?? (await nodeSqlite());
  try {
    return await openAt(wholePath(file), driver, options);
  } catch (error) {
    throw storeError(driver, error, file);
  }
}

async function openAt(path: string, driver: SqliteDriver, options: SqliteOptions): Promise<Store> {
  const { clock = new SystemClock(), random = new SystemRandom(), busyLimit = 10_000 } = options;
  const { durability: asked = "power" } = options;
  const patience: Patience = { clock, random, busyLimit };
  const folder = dirname(path);
  const absent = placeState(path) === "absent";
  if (absent && options.create === false) throw new HoldfastError("STORE_UNREACHABLE", { path, found: "nothing" });
  await makeFolder(realFiles, folder);
  const journal = journalFor(folder, options);
  if (absent) await createStore({ driver, path, journal, durability: asked === "kept" ? "power" : asked }, random);
  else if (asked === "power") await syncFolder(realFiles, folder); // whoever made the store may have died before

  const locks = new FileLocks(driver, `${path}.locks`);
  const held: HeldLock[] = [];
  refuseForeign(driver, path);
  const owner = ownerName(driver, random.hex(16));
  let writer: Connected | undefined;
  let turn: HeldLock | undefined;
  try {
    held.push(await beOwner(locks, owner));
    refuseOtherEngine(locks, owner, path);
    // One opener at a time, so that "nobody has it open" stays true while the log is examined.
    turn = await patiently(patience, () => takeTurn(locks));
    const written = await patiently(patience, () => mustBeOurs(driver, path));
    const alone = locks.isFree(USERS);
    if (alone) await refuseDamagedLog(path, written.durability, random);
    const durability = asked === "kept" ? written.durability : asked;
    const connect: ConnectOptions = { driver, path, durability, journal };
    const connected = await patiently(patience, () => connectWriter(connect));
    writer = connected;
    held.unshift(await beAmongUsers(locks, connect, connected.connection)); // the owner's is given up last
    // Beside somebody who does not sync, a log that a power cut leaves behind may lack more than its end.
    if (alone || durability === "process") await patiently(patience, () => noteDurability(connect, connected));
    locks.forgetDead(toOwnerId(""), clock.now() - LEFTOVER_AGE);
    const blobs = options.blobs ?? fileBlobs(`${path}.blobs`, { clock, random, sync: durability === "power" });
    return new SqliteStore({ ...patience, connect, blobs, locks, owner, held }, connected);
  } catch (error) {
    closeQuietly(writer?.connection);
    for (const lock of held) await lock.release();
    locks.forget(owner);
    throw error;
  } finally {
    await turn?.release();
  }
}

/** Held for as long as this store is open: whoever finds it free knows that its owner is dead. */
async function beOwner(locks: FileLocks, owner: OwnerId): Promise<HeldLock> {
  const lock = await locks.tryAcquire(owner);
  if (lock === undefined) throw new HoldfastError("LOCK_HELD", { lock: owner });
  return lock;
}

/** Shared by everybody who has the store open. */
const USERS = "users";

async function takeTurn(locks: FileLocks): Promise<HeldLock> {
  const turn = await locks.tryAcquire("opening");
  if (turn === undefined) throw new HoldfastError("STORE_BUSY", { lock: "opening" });
  return turn;
}

const OPTIONS: OptionRules<SqliteOptions> = {
  durability: oneOf("power", "process", "kept"),
  create: BOOLEAN,
  network: oneOf("refuse", "rollback-journal"),
  driver: OBJECT,
  blobs: OBJECT,
  clock: OBJECT,
  random: OBJECT,
  busyLimit: AMOUNT,
  fileSystemAt: FUNCTION,
};

function refuseBadOptions(file: string, options: SqliteOptions): void {
  checkOptions(options, OPTIONS);
  refuseBadPath(file);
}

/**
 * An engine with the log bug may use a store with a log alone only; the others do so together, and never beside such a
 * one. Where there is no log, there is no bug.
 */
async function beAmongUsers(
  locks: FileLocks,
  { journal, path }: ConnectOptions,
  connection: SqliteConnection,
): Promise<HeldLock> {
  const share = journal === "delete" || engineIsSafe(connection);
  const lock = share ? await locks.tryShare(USERS) : await locks.tryAcquire(USERS);
  if (lock === undefined) throw new HoldfastError("STORE_ENGINE_TOO_OLD", { path });
  return lock;
}

/** The class of whatever is in the log from now on. Written with a sync of that class, which covers what came before. */
function noteDurability({ driver, path, durability }: ConnectOptions, { tables }: Connected): void {
  try {
    if (tables.meta("durability") !== durability) tables.setMeta("durability", durability);
  } catch (error) {
    throw storeError(driver, error, path);
  }
}

/**
 * SQLite recovers a log up to the first bad frame and drops the rest without a word. One transaction beyond it is what a
 * power cut leaves of a write that was never acknowledged; more, in the `power` class, were synced one by one and are damage.
 * Only for a log that nobody uses: in one that is being written, a frame is read half old and half new.
 */
async function refuseDamagedLog(path: string, durability: "power" | "process", random: Random): Promise<void> {
  const { committedBeyondDamage: lost } = readWal(path);
  if (lost === 0) return;
  if (durability === "power" && lost > 1)
    throw new HoldfastError("STORE_DAMAGED", { path: `${path}-wal`, transactionsBeyondDamage: lost });
  await copyFile(`${path}-wal`, `${path}-wal.suspect-${random.hex(4)}`);
}

function journalFor(folder: string, options: SqliteOptions): "wal" | "delete" {
  const network = networkFileSystemAt(folder, options.fileSystemAt);
  if (network === undefined) return "wal";
  if (options.network === "rollback-journal") return "delete";
  throw new HoldfastError("STORE_ON_NETWORK", { path: folder, fileSystem: network });
}

/** Made whole under another name first: a crash or a full disk while creating must not leave an empty file that looks like a store. */
async function createStore(connect: ConnectOptions, random: Random): Promise<void> {
  const temporary = `${connect.path}.new-${random.hex(8)}`;
  try {
    closeSync(openSync(temporary, "wx", 0o600));
    writeSchema({ ...connect, path: temporary });
    syncFile(temporary);
    await publish(temporary, connect.path);
  } finally {
    removeLeftovers(temporary);
  }
}

function removeLeftovers(temporary: string): void {
  try {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${temporary}${suffix}`, { force: true });
  } catch {
    // A disk that cannot even remove has failed before, and that failure is the one to report.
  }
}

function writeSchema(connect: ConnectOptions): void {
  const { connection, tables } = connectWriter(connect, true);
  try {
    connection.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
    tables.setMeta("durability", connect.durability);
    tables.setMeta("segments", "0");
    connection.exec("COMMIT");
  } finally {
    connection.close();
  }
  // Closing moves the log into the file and says nothing when it cannot: then the file alone would not be a store.
  if (existsSync(`${connect.path}-wal`))
    throw new HoldfastError("STORE_IO", { path: connect.path, log: "left behind" });
}

function syncFile(path: string): void {
  const handle = openSync(path, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
