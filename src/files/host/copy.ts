import { copyFileSync, constants } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import { namesIn } from "../path.ts";
import type { Disk } from "./disk.ts";
import type { HostEntry } from "./entry.ts";
import { type Folder, HostRoot } from "./folders.ts";
import { writeAll } from "./meta.ts";
import { type HostPort, isSystem } from "./port.ts";

type ContentOf = (entry: HostEntry & { readonly kind: "file" }, path: string) => AsyncIterable<Bytes>;

/**
 * A copy of the workspace in a folder of its own, with some paths as they were at another time. What cannot be copied
 * (pipes, sockets, devices, names that are no text) is told.
 */
export async function copyWorkspace(
  disk: Disk,
  target: string,
  at: ReadonlyMap<string, HostEntry>,
  content: ContentOf,
): Promise<readonly string[]> {
  const { port } = disk.root;
  makeEmpty(port, target);
  const root = new HostRoot(port, target);
  try {
    return await copyInto(disk, root, at, content);
  } finally {
    root.close();
  }
}

async function copyInto(
  disk: Disk,
  root: HostRoot,
  at: ReadonlyMap<string, HostEntry>,
  content: ContentOf,
): Promise<readonly string[]> {
  const left: string[] = [];
  const copy = async (folder: readonly string[]): Promise<void> => {
    if (disk.hidden(folder) > (folder.length === 0 ? 1 : 0)) left.push([...folder, "…"].join("/"));
    for (const { name } of disk.list(folder)) {
      const names = [...folder, name];
      const path = names.join("/");
      if (at.has(path) || `${disk.root.path}/${path}` === root.path) continue;
      if (!place(disk, root, names)) left.push(path);
      if (disk.stat(names)?.kind === "folder") await copy(names);
    }
  };
  await copy([]);
  for (const [path, entry] of [...at].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await put(root, namesIn(path), entry, content);
  return left;
}

/** Copies one thing; false for what cannot be. */
function place(disk: Disk, root: HostRoot, names: readonly string[]): boolean {
  const parent = names.slice(0, -1);
  const placed = disk.root.within(parent, (from) =>
    root.inside(parent, (to) => placeIn(root.port, from, to, names.at(-1) ?? "")),
  );
  return placed ?? true; // gone meanwhile
}

function placeIn(port: HostPort, from: Folder, to: Folder, name: string): boolean {
  const stat = port.stat(from.at(name));
  if (stat === undefined) return true; // gone meanwhile
  if (stat.kind === "other") return false;
  if (stat.kind === "folder") port.makeFolder(to.at(name), stat.mode);
  else if (stat.kind === "link") port.makeLink(port.readLink(from.at(name)), to.at(name));
  // Shared with the original until one of them changes, where the file system can.
  else copyFileSync(from.at(name), to.at(name), constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  return true;
}

async function put(root: HostRoot, names: readonly string[], entry: HostEntry, content: ContentOf): Promise<void> {
  if (entry.kind === "absent") return;
  await root.inside(names.slice(0, -1), (folder) =>
    putIn(root.port, folder, names.at(-1) ?? "", entry, content, names.join("/")),
  );
}

async function putIn(
  port: HostPort,
  folder: Folder,
  name: string,
  entry: Exclude<HostEntry, { readonly kind: "absent" }>,
  content: ContentOf,
  path: string,
): Promise<void> {
  if (entry.kind === "folder") return port.makeFolder(folder.at(name), entry.mode);
  if (entry.kind === "link") return port.makeLink(entry.target, folder.at(name));
  const handle = port.openFile(folder.at(name), "create");
  try {
    let written = 0;
    for await (const piece of content(entry, path)) {
      writeAll(port, handle, piece, written);
      written += piece.length;
    }
    port.mode(handle, entry.mode);
  } finally {
    port.close(handle);
  }
}

/** A folder that is not there yet, or holds nothing: nobody's files are mixed with a copy. */
function makeEmpty(port: HostPort, target: string): void {
  try {
    port.makeFolder(target, 0o755);
  } catch (error) {
    if (!isSystem(error, "EEXIST")) throw error;
    if (port.stat(target)?.kind !== "folder" || port.names(target).length > 0)
      throw new HoldfastError("FILE_EXISTS", { path: target });
  }
}
