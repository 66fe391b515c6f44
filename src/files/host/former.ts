import type { Disk } from "./disk.ts";
import { sameEntry } from "./entry.ts";
import type { Folder, HostRoot } from "./folders.ts";
import type { PlannedStep } from "./intent.ts";
import type { Places } from "./meta.ts";
import { HELD } from "./read-file.ts";
import { type Rescue, unlinkIfThere } from "./rescue.ts";

export interface FormerGround {
  readonly root: HostRoot;
  readonly places: Places;
  readonly disk: Disk;
  readonly rescue: Rescue;
  /** What is put back was last written now: whatever was built from what lay there meanwhile is out of date. */
  readonly now: () => number;
}

/**
 * The very file that a call took out of the way of this path gets a second name, where new content waits; answers its
 * handle. It has everything that a copy would lack, and the disk is spared a new file. In rescue it stays until it is in place:
 * whatever comes between, it is where it was. Undefined when it is no longer what it was.
 */
export async function linkFormer(
  { root, places, disk, rescue, now }: FormerGround,
  { path, to, former }: PlannedStep,
  folder: Folder,
  name: string,
): Promise<number | undefined> {
  if (former === undefined || to.kind !== "file") return undefined;
  // Whatever is wrong with it: the same content is kept beside the journal.
  const found = await disk.fileIn(places.rescue, former, HELD).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.entry.digest !== to.digest) rescue.keepLate({ name: former, path, whose: "theirs" });
  if (!sameEntry(found.entry, to) || found.stat.links > 1) return undefined; // nobody knows whose its other name is
  try {
    rescue.nameAlso(former, folder.at(name));
    const handle = opened(root, folder.at(name), now());
    rescue.touched(former);
    return handle;
  } catch {
    // The same: its content is kept elsewhere, too.
    unlinkIfThere(root.port, folder.at(name));
    return undefined;
  }
}

function opened({ port }: HostRoot, path: string, now: number): number {
  const handle = port.openFile(path, "read");
  try {
    port.written(handle, BigInt(Math.trunc(now)) * 1_000_000n);
    return handle;
  } catch (error) {
    port.close(handle);
    throw error;
  }
}
