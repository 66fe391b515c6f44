import { type HostPort, isSystem } from "./port.ts";

/** Gives back what was taken out of the way and turned out to be theirs. False when yet another thing of theirs has come. */
export function putBack(port: HostPort, from: string, to: string): boolean {
  return port.stat(from)?.kind === "folder" ? folderBack(port, from, to) : fileBack(port, from, to);
}

/** Takes the place of nothing, and of an empty folder. */
function folderBack(port: HostPort, from: string, to: string): boolean {
  try {
    port.rename(from, to);
    return true;
  } catch (error) {
    if (isSystem(error, "EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR")) return false;
    throw error;
  }
}

/**
 * By a second name, which takes nobody's place. Where another user's file gets none (`fs.protected_hardlinks`), by its only
 * one, when nobody is there at this moment: it would be missing where they left it, and nothing more could be committed.
 */
function fileBack(port: HostPort, from: string, to: string): boolean {
  try {
    port.linkAs(from, to);
  } catch (error) {
    if (isSystem(error, "EEXIST")) return false;
    if (!isSystem(error, "EPERM")) throw error;
    if (port.stat(to) !== undefined) return false;
    port.rename(from, to);
    return true;
  }
  port.unlink(from);
  return true;
}
