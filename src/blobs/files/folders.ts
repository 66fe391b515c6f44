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
 * Folders whose names are known to be on the disk. A folder that is merely there is not: whoever made it may have died,
 * or failed, before its name was synced.
 */
export class DurableFolders {
  readonly #files: FilePort;
  readonly #sync: boolean;
  readonly #known = new Set<string>();

  constructor(files: FilePort, sync: boolean) {
    this.#files = files;
    this.#sync = sync;
  }

  async make(folder: string): Promise<void> {
    if (this.#known.has(folder) && this.#files.existsSync(folder)) return;
    const there = this.#files.existsSync(folder);
    await makeFolder(this.#files, folder, this.#sync);
    if (there && this.#sync) await syncFolder(this.#files, dirname(folder));
    this.#known.add(folder);
  }
}

export const syncFolder: (files: FilePort, folder: string) => Promise<void> = syncFile;

export async function syncFile(files: FilePort, path: string): Promise<void> {
  const handle = await files.open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
