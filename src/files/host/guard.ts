import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { type HostPort, isSystem, nameText } from "./port.ts";

/** More names than this below a folder are no project but a disk. Counted once, when a folder first becomes a workspace. */
const MOST_NAMES = 1_000_000;

/** The folder's real path. Refused when it is none, or when taking it for a workspace is more likely a slip. */
export function guardedRoot(port: HostPort, given: string, options: { readonly anyRoot?: boolean }): string {
  if (typeof given !== "string" || given === "" || given.includes("\0"))
    throw new HoldfastError("BAD_OPTION", { option: "workspace", value: String(given).slice(0, 80) });
  const root = realOf(given);
  if (port.stat(root)?.kind !== "folder") throw new HoldfastError("WORKSPACE_UNUSABLE", { root, found: "no folder" });
  if (options.anyRoot === true) return root;
  const home = realOf(port.home);
  if (root === dirname(root)) throw new HoldfastError("WORKSPACE_ROOT_REFUSED", { root, is: "a file system's root" });
  if (root === home || isAbove(root, home))
    throw new HoldfastError("WORKSPACE_ROOT_REFUSED", { root, is: root === home ? "home" : "above home" });
  return root;
}

/** Refuses a folder of millions of names. Only the first time: who said yes once is not asked again. */
export function refuseHuge(port: HostPort, root: string, most: number = MOST_NAMES): void {
  const folders = [root];
  let names = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of namesIn(port, folder)) {
      names += 1;
      if (names > most)
        throw new HoldfastError("WORKSPACE_ROOT_REFUSED", { root, is: `a folder of more than ${most} names` });
      const path = `${folder}/${nameText(name)}`;
      if (port.stat(path)?.kind === "folder") folders.push(path);
    }
  }
}

/**
 * Where a path of ours lies in the workspace, or undefined when it lies outside. The root is known by its real path, and
 * this one may lead through a link: taken for outside, a store would be a file like any other.
 */
export function placeIn(root: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const real = join(realOf(dirname(resolve(path))), basename(path)); // it may not be there yet
  const inside = relative(root, real).split(sep).join("/");
  return inside === "" || /^\.\.(\/|$)/.test(inside) ? undefined : inside;
}

function isAbove(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(resolve(path));
  } catch (error) {
    if (isSystem(error, "ENOENT", "ENOTDIR", "EACCES")) return resolve(path);
    throw error;
  }
}

function namesIn(port: HostPort, folder: string): readonly Uint8Array[] {
  try {
    return port.names(folder);
  } catch (error) {
    if (isSystem(error, "ENOENT", "ENOTDIR", "EACCES")) return []; // gone, or not to be counted by us
    throw error;
  }
}
