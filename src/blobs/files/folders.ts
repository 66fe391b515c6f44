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

export async function syncFolder(files: FilePort, folder: string): Promise<void> {
  const handle = await files.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
