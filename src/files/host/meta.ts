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
  /** One folder for each call that runs commands, as long as it does. */
  exec: [...HOME, "exec"],
  /** What files held before a command that changes them in place. */
  images: [...HOME, "images"],
} as const;

const ID = "id";
const IGNORE = ".gitignore";

/** Our folders, held open as long as the workspace is. */
export interface Places {
  readonly home: Folder;
  readonly temporary: Folder;
  readonly rescue: Folder;
}

/** Makes our folders where they are missing. Nothing else of the workspace is touched. */
export function makePlaces(root: HostRoot): void {
  for (const place of [[OWN_FOLDER], PLACES.home, PLACES.temporary, PLACES.rescue]) makePlace(root, place);
  // Ours, and no part of the user's repository: said here, so that nothing of theirs has to be edited.
  root.inside([OWN_FOLDER], (own) => {
    const said = root.port.stat(own.at(IGNORE));
    if (said !== undefined && said.size > 0) return;
    if (said !== undefined) root.port.unlink(own.at(IGNORE)); // from when the disk was full: whatever is in rescue would be committed
    writeNamed(root.port, own, IGNORE, Buffer.from("*\n"));
  });
}

/** Makes one folder of ours where it is missing. */
export function makePlace(root: HostRoot, place: readonly string[]): void {
  root.insideParent(place, (parent, name) => {
    try {
      root.port.makeFolder(parent.at(name), PRIVATE_FOLDER);
    } catch (error) {
      if (!isSystem(error, "EEXIST")) throw error;
    }
  });
}

/** Removes a folder of ours with everything in it, whatever a command made of it. */
export function removePlace(root: HostRoot, place: readonly string[]): void {
  root.withinParent(place, (parent, name) => {
    const path = parent.at(name);
    if (root.port.stat(path) !== undefined) root.port.removeTree(path);
  });
}

export function openPlaces(root: HostRoot): Places {
  const opened: Folder[] = [];
  try {
    for (const place of [PLACES.home, PLACES.temporary, PLACES.rescue]) opened.push(root.mustHave(place));
  } catch (error) {
    for (const folder of opened) folder.close();
    throw error;
  }
  const [home, temporary, rescue] = opened as [Folder, Folder, Folder];
  return { home, temporary, rescue };
}

export function closePlaces({ home, temporary, rescue }: Places): void {
  for (const folder of [home, temporary, rescue]) folder.close();
}

/** The workspace's own name, made once: its path may change. */
export function workspaceId(port: HostPort, { home }: Places, fresh: () => string): string {
  const found = port.stat(home.at(ID)) === undefined ? undefined : readNamed(port, home, ID).toString("utf8");
  if (found !== undefined && /^[0-9a-f]{32}$/.test(found)) return found;
  const id = fresh();
  if (found !== undefined) port.unlink(home.at(ID));
  writeNamed(port, home, ID, Buffer.from(id));
  return id;
}

const WITHOUT_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Whether a file can have a second name here: new content gets its own by one, because a link replaces nobody's file. */
export function hasLinks(port: HostPort, { home, temporary }: Places): boolean {
  try {
    port.linkAs(home.at(ID), temporary.at(ID));
  } catch (error) {
    return !isSystem(error, ...WITHOUT_LINKS);
  }
  port.unlink(temporary.at(ID));
  return true;
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
