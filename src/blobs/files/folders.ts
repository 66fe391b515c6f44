import { platform } from "node:os";
import { dirname } from "node:path";
import { type FilePort, isCode } from "./port.ts";

/** Makes a private folder and every missing one above it. */
export async function makeFolder(files: FilePort, folder: string, sync = true): Promise<void> {
  if (files.existsSync(folder)) return;
  const parent = dirname(folder);
  await makeFolder(files, parent, sync);
  try {
    await files.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  }
  if (sync) await syncFolder(files, parent); // an unsynced folder is lost with everything in it
}

/**
 * Makes folders, each synced into its parent once by this process. Finding one is not enough: whoever made it may have
 * died, or be about to lose power, before its own sync.
 */
export function folderMaker(files: FilePort, sync: boolean): (folder: string) => Promise<void> {
  const made = new Map<string, Promise<void>>();
  const make = async (folder: string) => {
    const found = files.existsSync(folder);
    await makeFolder(files, folder, sync);
    if (found && sync) await syncFolder(files, dirname(folder));
  };
  return (folder) => {
    const known = made.get(folder);
    if (known !== undefined && files.existsSync(folder)) return known;
    const making = make(folder);
    made.set(folder, making);
    making.catch(() => made.delete(folder));
    return making;
  };
}

export async function syncFolder(files: FilePort, folder: string): Promise<void> {
  if (platform() === "win32") return; // a folder cannot be opened there; NTFS keeps a journal of its own
  const handle = await files.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
