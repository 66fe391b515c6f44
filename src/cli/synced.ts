import { closeSync, fsyncSync, openSync } from "node:fs";

/** Returns when what a file holds would survive a loss of power. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The same for the names in a folder. */
export function syncFolder(path: string): void {
  try {
    syncPath(path);
  } catch (error) {
    // Some systems cannot open a folder: there nothing more can be done than to rename.
    if (!["EISDIR", "EPERM", "EACCES", "EINVAL"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}
