import { closeSync, existsSync, lstatSync, openSync, readSync, statfsSync, statSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { badOption } from "../../base/options.ts";
import { syncFolder } from "../../blobs/files/folders.ts";
import { isCode, realFiles } from "../../blobs/files/port.ts";
import { APPLICATION_ID, STORE_VERSION } from "./schema.ts";
import type { SqliteConnection, SqliteDriver } from "./vendor.ts";

export type NetworkPolicy = "refuse" | "rollback-journal";

/** File systems whose shared memory or locks do not reach the other side: SQLite's write-ahead log is not safe there. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x517b, "SMB"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
  [0x65735546, "FUSE"],
  [0x19830326, "BeeGFS"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
]);

export function networkFileSystemAt(
  folder: string,
  typeOf: (path: string) => number = (path) => statfsSync(path).type,
): string | undefined {
  return NETWORK_FILE_SYSTEMS.get(typeOf(folder) >>> 0);
}

/**
 * The whole path of a file. Node shows a folder whose name is not UTF-8 under another name: a relative path would lead from
 * there to somewhere else, where a store would be made.
 */
export function wholePath(file: string): string {
  const path = resolve(file);
  if (isAbsolute(file)) return path;
  const [here, named] = [statSync("."), statSync(resolve("."), { throwIfNoEntry: false })];
  if (here.dev !== named?.dev || here.ino !== named.ino)
    throw badOption("path", file, "an absolute path: the name of the current folder is not UTF-8");
  return path;
}

/**
 * What SQLite itself takes for memory would be a file of that name here, with everything in it. And the system would write a
 * lone surrogate as another character: the store would be made under another name.
 */
export function refuseBadPath(file: string): void {
  if (file === ":memory:") throw badOption("path", file, "the path of a file; memoryStore() keeps sessions in memory");
  const usable = typeof file === "string" && file !== "" && !file.includes("\0") && file.isWellFormed();
  if (!usable) throw badOption("path", file, "the path of a file");
}

export type PlaceState = "absent" | "present";

/** Looks at what lies there without opening it. */
export function placeState(path: string): PlaceState {
  const size = fileSize(path);
  if (size === 0) throw new HoldfastError("STORE_EMPTY_FILE", { path });
  return size === undefined ? "absent" : "present";
}

/** Undefined when there is nothing. What is no file is refused: a pipe would be waited for for ever. */
export function fileSize(path: string): number | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || entry.isFile()) return entry?.size;
  throw new HoldfastError("STORE_FOREIGN_FILE", { path, found: entry.isDirectory() ? "folder" : "special file" });
}

/**
 * Refuses a file by what its header says, before a connection that writes sees it: even one that only reads leaves a log
 * beside somebody else's database. The system frees a process's locks on a file when any handle on it is closed, by
 * whichever thread or copy of this package. SQLite itself waits with closing while it holds locks, so it is asked to look;
 * with a driver that cannot, the file is opened only where no store has ever been opened, and nobody can hold a lock.
 */
export function refuseForeign(driver: SqliteDriver, path: string): void {
  if (driver.peek === undefined && existsSync(`${path}.locks`)) return;
  const marks = driver.peek === undefined ? headerOf(path) : peekAt(driver, driver.peek, path);
  if (marks === undefined) return;
  const { application, version } = marks;
  if (application !== APPLICATION_ID) throw new HoldfastError("STORE_FOREIGN_FILE", { path });
  if (version > STORE_VERSION) throw new HoldfastError("STORE_TOO_NEW", { path, version, known: STORE_VERSION });
}

interface Marks {
  readonly application: number;
  readonly version: number;
}

const NOT_A_DATABASE = 26;

/** Undefined when it cannot be told so: a file that is being written looks torn without its locks, and is looked at again. */
function peekAt(driver: SqliteDriver, peek: NonNullable<SqliteDriver["peek"]>, path: string): Marks | undefined {
  let connection: SqliteConnection | undefined;
  try {
    connection = peek(path);
    const ask = (pragma: string) => Number(connection?.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
    return { application: ask("application_id"), version: ask("user_version") };
  } catch (error) {
    const code = driver.codeOf(error);
    if (code === undefined || code === NOT_A_DATABASE) throw error;
    return undefined;
  } finally {
    connection?.close();
  }
}

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
const VERSION_AT = 60;
const APPLICATION_AT = 68;

/** For files that nobody has open. What is no database has no marks. */
export function headerOf(path: string): Marks {
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(path, "r");
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return { application: 0, version: 0 };
  return { application: header.readUInt32BE(APPLICATION_AT), version: header.readUInt32BE(VERSION_AT) };
}

/** Gives a finished file its name, unless somebody else was first. A file under the final name is therefore always whole. */
export async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (isCode(error, "EPERM", "ENOTSUP", "ENOSYS"))
      await rename(temporary, path); // a file system without hard links
    else if (!isCode(error, "EEXIST")) throw error;
  }
  await syncFolder(realFiles, dirname(path));
}
