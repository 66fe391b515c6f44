import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Clock, SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type Random, SystemRandom } from "../../base/random.ts";
import { fileError } from "../../blobs/files/failures.ts";
import { makeFolder, syncFolder } from "../../blobs/files/folders.ts";
import { realFiles } from "../../blobs/files/port.ts";
import { fileBlobs } from "../../blobs/files/store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { HeldLock } from "../../contracts/lock.ts";
import type { Store } from "../../contracts/store.ts";
import { toOwnerId } from "../../records/ids.ts";
import { type ConnectOptions, closeQuietly, connectWriter, engineIsSafe, mustBeOurs } from "./connect.ts";
import { storeError } from "./failures.ts";
import { FileLocks } from "./lock.ts";
import { type NetworkPolicy, networkFileSystemAt, placeState, publish } from "./place.ts";
import { SCHEMA } from "./schema.ts";
import { SqliteStore } from "./store.ts";
import { nodeSqlite, type SqliteDriver } from "./vendor.ts";
import { readWal } from "./wal.ts";

export interface SqliteOptions {
  /** What an acknowledged write survives. Default `power`. */
  readonly durability?: "power" | "process";
  /** Make the store when there is none. Default true. */
  readonly create?: boolean;
  /** On a network file system: refuse, or use the slower rollback journal. */
  readonly network?: NetworkPolicy;
  /** Default: `node:sqlite`. */
  readonly driver?: SqliteDriver;
  /** Default: a folder beside the file. */
  readonly blobs?: BlobStore;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How long to wait for another process's transaction, in milliseconds. */
  readonly busyLimit?: number;
  /** Names the file system at a path, as `statfs` numbers it; for tests. */
  readonly fileSystemAt?: (path: string) => number;
}

/** A day: nobody takes that long between making a lock file and locking it. */
const LEFTOVER_AGE = 86_400_000;

/** Opens or creates the embedded store. Everything that could lose data later is refused now. */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<Store> {
  if (file === "" || file.includes("\0")) throw new HoldfastError("BAD_OPTION", { option: "path", value: file });
  const path = resolve(file);
  const driver = options.driver ?? (await nodeSqlite());
  try {
    return await open(driver, path, options);
  } catch (error) {
    throw fileError(storeError(driver, error, path), path);
  }
}

async function open(driver: SqliteDriver, path: string, options: SqliteOptions): Promise<Store> {
  const { clock = new SystemClock(), random = new SystemRandom(), durability = "power", busyLimit = 10_000 } = options;
  const folder = dirname(path);
  const absent = placeState(path) === "absent";
  if (absent && options.create === false) throw new HoldfastError("STORE_UNREACHABLE", { path, found: "nothing" });
  await makeFolder(realFiles, folder);
  const connect: ConnectOptions = { driver, path, durability, journal: journalFor(folder, options) };
  const locks = new FileLocks(driver, `${path}.locks`);

  if (absent) await createStore(connect, random);
  else if (durability === "power") await syncFolder(realFiles, folder); // whoever made the store may have died before
  const written = mustBeOurs(driver, path);
  await refuseDamagedLog(path, written.durability, random);
  const writer = connectWriter(connect);
  let alone: HeldLock | undefined;
  try {
    if (!engineIsSafe(writer.connection)) {
      alone = await locks.tryAcquire("alone");
      if (alone === undefined) throw new HoldfastError("STORE_ENGINE_TOO_OLD", { path });
    }
    if (durability === "process") writer.tables.setMeta("durability", "process");
    locks.forgetDead(clock.now() - LEFTOVER_AGE);
    const owner = toOwnerId(random.hex(16));
    const ownerLock = await locks.tryAcquire(owner);
    if (ownerLock === undefined) throw new HoldfastError("LOCK_HELD", { lock: owner });
    const blobs = options.blobs ?? fileBlobs(join(folder, "blobs"), { clock, random, sync: durability === "power" });
    return new SqliteStore({ connect, blobs, locks, owner, ownerLock, alone, clock, random, busyLimit }, writer);
  } catch (error) {
    closeQuietly(writer.connection);
    await alone?.release();
    throw error;
  }
}

/**
 * SQLite recovers a log up to the first bad frame and drops the rest without a word. One transaction beyond it is what a
 * power cut leaves of a write that was never acknowledged; more, in the `power` class, were synced one by one and are damage.
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
    const handle = openSync(temporary, "r");
    fsyncSync(handle);
    closeSync(handle);
    await publish(temporary, connect.path);
  } finally {
    removeLeftovers(temporary);
  }
}

function removeLeftovers(temporary: string): void {
  try {
    for (const leftover of [temporary, `${temporary}-wal`, `${temporary}-shm`]) rmSync(leftover, { force: true });
  } catch {
    // A disk that cannot even remove has failed before, and that failure is the one to report.
  }
}

function writeSchema(connect: ConnectOptions): void {
  const { connection, tables } = connectWriter(connect);
  try {
    connection.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
    tables.setMeta("durability", connect.durability);
    tables.setMeta("segments", "0");
    connection.exec("COMMIT");
  } finally {
    connection.close();
  }
}
