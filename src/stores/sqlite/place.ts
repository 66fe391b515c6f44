import { lstatSync, statfsSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { syncFolder } from "../../blobs/files/folders.ts";
import { isCode, realFiles } from "../../blobs/files/port.ts";

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

/** Looks without opening: closing a second handle on the file would drop the locks that SQLite holds in this process. */
export function placeState(path: string): PlaceState {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return "absent";
  if (!entry.isFile())
    throw new HoldfastError("STORE_FOREIGN_FILE", { path, found: entry.isDirectory() ? "folder" : "special file" });
  if (entry.size === 0) throw new HoldfastError("STORE_EMPTY_FILE", { path });
  return "present";
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
