import type { Disk } from "./disk.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import type { Folder, HostRoot } from "./folders.ts";
import type { PlannedStep } from "./intent.ts";
import { isSystem } from "./port.ts";
import type { Rescue } from "./rescue.ts";

export interface FormerGround {
  readonly root: HostRoot;
  readonly disk: Disk;
  readonly rescue: Rescue;
  /** What is put back was last written now: whatever was built from what lay there meanwhile is out of date. */
  readonly now: () => number;
}

/**
 * The very file that a call took out of the way of this path, moved to where new content waits; answers its handle. It has
 * everything that a copy would lack, and a disk is spared a new file. Undefined when it is no longer what it was.
 */
export async function takeFormer(
  { root, disk, rescue, now }: FormerGround,
  { path, to, former }: PlannedStep,
  folder: Folder,
  name: string,
): Promise<number | undefined> {
  if (former === undefined || to.kind !== "file" || !rescue.lend(former, to.size, folder.at(name))) return undefined;
  let found: HostEntry | undefined;
  try {
    found = (await disk.file([...folder.names, name], HELD))?.entry;
    if (found !== undefined && sameEntry(found, to)) return opened(root, folder.at(name), now());
  } catch {
    // Whatever is wrong with it: the same content is kept beside the journal.
  }
  rescue.takeBack(former, to.size, folder.at(name));
  const isWritten = found?.kind === "file" && found.digest !== to.digest;
  if (isWritten) rescue.note(former, { path, whose: "theirs" }); // by a program that had it open
  return undefined;
}

/** A larger file is not held while it is looked at. */
const HELD = 1024 * 1024;

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

/** Takes back what was laid where new content waits: a file that was lent goes where it came from. */
export function takeAway({ port }: HostRoot, rescue: Folder, place: string, former: string | undefined): void {
  try {
    if (former !== undefined && port.stat(rescue.at(former)) === undefined) port.rename(place, rescue.at(former));
    else port.unlink(place);
  } catch (error) {
    if (!isSystem(error, "ENOENT")) throw error;
  }
}
