import type { HostRoot, Folder } from "./folders.ts";
import { OWN_FOLDER } from "./own.ts";
import { type HostPort, isSystem } from "./port.ts";

const PRIVATE_FOLDER = 0o700;
const HOME = [OWN_FOLDER, "workspace"] as const;

/** Where what is ours lies in a workspace. Each is reached like any folder: name by name, never through a link. */
export const PLACES = {
  home: HOME,
  /** Content on its way in. */
  temporary: [...HOME, "tmp"],
  /** What was taken out of the way, and what did not get in. */
  rescue: [...HOME, "rescue"],
} as const;

/** Two, used in turn: the one before the newest is written over only when what it tells of has been synced. */
const SLOTS = ["intent-a", "intent-b"] as const;
const ID = "id";
const IGNORE = ".gitignore";

/** Makes our folders where they are missing. Nothing else of the workspace is touched. */
export function makePlaces(root: HostRoot): void {
  for (const place of [[OWN_FOLDER], PLACES.home, PLACES.temporary, PLACES.rescue]) {
    using parent = root.mustHave(place.slice(0, -1));
    const name = place.at(-1) ?? "";
    try {
      root.port.makeFolder(parent.at(name), PRIVATE_FOLDER);
    } catch (error) {
      if (!isSystem(error, "EEXIST")) throw error;
    }
  }
  using own = root.mustHave([OWN_FOLDER]);
  // Ours, and no part of the user's repository: said here, so that nothing of theirs has to be edited.
  if (root.port.stat(own.at(IGNORE)) === undefined) writeNamed(root.port, own, IGNORE, Buffer.from("*\n"));
}

/** The workspace's own name, made once: its path may change. */
export function workspaceId(root: HostRoot, fresh: () => string): string {
  using home = root.mustHave(PLACES.home);
  const found = root.port.stat(home.at(ID)) === undefined ? undefined : readNamed(root.port, home, ID).toString("utf8");
  if (found !== undefined && /^[0-9a-f]{32}$/.test(found)) return found;
  const id = fresh();
  if (found !== undefined) root.port.unlink(home.at(ID));
  writeNamed(root.port, home, ID, Buffer.from(id));
  return id;
}

export type Slot = 0 | 1;

export function readSlot(root: HostRoot, slot: Slot): Buffer | undefined {
  using home = root.mustHave(PLACES.home);
  return root.port.stat(home.at(SLOTS[slot])) === undefined ? undefined : readNamed(root.port, home, SLOTS[slot]);
}

/** Over what was there: the name stays, so that one sync makes it durable. Answers the handle to sync and close. */
export function writeSlot(root: HostRoot, slot: Slot, text: string): number {
  using home = root.mustHave(PLACES.home);
  const handle = root.port.openFile(home.at(SLOTS[slot]), "update");
  try {
    writeAll(root.port, handle, Buffer.from(`${text}\n`));
    return handle;
  } catch (error) {
    root.port.close(handle);
    throw error;
  }
}

export function writeAll(port: HostPort, handle: number, bytes: Uint8Array, position = 0): void {
  for (let at = 0; at < bytes.length; ) {
    const written = port.write(handle, bytes, at, bytes.length - at, position + at);
    if (written === 0) throw Object.assign(new Error("the system wrote nothing"), { code: "EIO" });
    at += written;
  }
}

export function writeNamed(port: HostPort, folder: Folder, name: string, bytes: Uint8Array): void {
  const handle = port.openFile(folder.at(name), "create");
  try {
    writeAll(port, handle, bytes);
  } finally {
    port.close(handle);
  }
}

export function readNamed(port: HostPort, folder: Folder, name: string): Buffer {
  const handle = port.openFile(folder.at(name), "read");
  try {
    const { size } = port.statOpen(handle);
    const bytes = Buffer.alloc(size);
    let at = 0;
    for (let got = 1; got > 0 && at < size; at += got) got = port.read(handle, bytes, at, size - at, at);
    return bytes.subarray(0, at);
  } finally {
    port.close(handle);
  }
}
