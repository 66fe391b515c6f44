import { closeSync, lstatSync, openSync, readSync, statfsSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { syncFolder } from "../../blobs/files/folders.ts";
import { isCode, realFiles } from "../../blobs/files/port.ts";
import { APPLICATION_ID, STORE_VERSION } from "./schema.ts";

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

export type PlaceState = "absent" | "present";

/** Looks at what lies there without opening it. */
export function placeState(path: string): PlaceState {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return "absent";
  if (!entry.isFile())
    throw new HoldfastError("STORE_FOREIGN_FILE", { path, found: entry.isDirectory() ? "folder" : "special file" });
  if (entry.size === 0) throw new HoldfastError("STORE_EMPTY_FILE", { path });
  return "present";
}

/** Store files that this process has open, by device and inode, and how often. */
const openHere = new Map<string, number>();

/**
 * Refuses a file by its first bytes, before SQLite sees it: even a read-only connection leaves a log beside somebody
 * else's database. The system's locks belong to the process and go when any handle on the file is closed, so a file that
 * this process has open already, which therefore is ours, is not opened here. Answers what to call when it is closed.
 */
export function enterPlace(path: string): () => void {
  const { dev, ino } = lstatSync(path);
  const key = `${dev}:${ino}`;
  if (!openHere.has(key)) refuseForeign(path);
  openHere.set(key, (openHere.get(key) ?? 0) + 1);
  return () => {
    const left = (openHere.get(key) ?? 1) - 1;
    if (left === 0) openHere.delete(key);
    else openHere.set(key, left);
  };
}

const MAGIC = "SQLite format 3\0";
const HEADER_BYTES = 100;
const VERSION_AT = 60;
const APPLICATION_AT = 68;

function refuseForeign(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(path, "r");
  let read = 0;
  try {
    read = readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  const ours =
    header.toString("latin1", 0, MAGIC.length) === MAGIC && header.readUInt32BE(APPLICATION_AT) === APPLICATION_ID;
  if (read < HEADER_BYTES || !ours) throw new HoldfastError("STORE_FOREIGN_FILE", { path });
  const version = header.readUInt32BE(VERSION_AT);
  if (version > STORE_VERSION) throw new HoldfastError("STORE_TOO_NEW", { path, version, known: STORE_VERSION });
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
