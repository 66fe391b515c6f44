import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Store } from "../../contracts/store.ts";
import { isAt, isOwn, type OwnPlace } from "./own.ts";
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

/** A store, by where it and its content lie. */
export type Stored = Pick<Store, "place" | "beside"> & { readonly blobs: Pick<BlobStore, "place"> };

/**
 * Where a store lies in the workspace, and where its content does, as far as that is not in our own folder. Each is named
 * once: content lies beside its store unless somebody says otherwise.
 */
export function placesIn(root: string, { place, beside: ends = [], blobs }: Stored): readonly OwnPlace[] {
  const found: OwnPlace[] = [];
  const add = (path: string | undefined, about: Omit<OwnPlace, "path">) => {
    const inside = path === undefined ? undefined : placeIn(root, path);
    if (inside !== undefined && !isOwn(inside.split("/"), found)) found.push({ path: inside, ...about });
  };
  const folder = { beside: false, coming: [""] };
  add(place, { beside: true, coming: ends });
  add(blobs.place, folder);
  if (blobs.place !== undefined) add(realOf(blobs.place), folder); // a folder may itself be a link, within the workspace
  return found.filter((one) => !found.some((other) => other !== one && isAt(one.path, other)));
}

/**
 * Where a path of ours lies in the workspace, or undefined when it lies outside. The root is known by its real path, and
 * this one may lead through a link: taken for outside, a store would be a file like any other.
 */
function placeIn(root: string, path: string): string | undefined {
  const real = join(realOf(dirname(resolve(path))), basename(path));
  const inside = relative(root, real).split(sep).join("/");
  return inside === "" || /^\.\.(\/|$)/.test(inside) ? undefined : inside;
}

function isAbove(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Of what is not there yet, as far as there is something. */
function realOf(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync.native(whole);
  } catch (error) {
    if (!isSystem(error, "ENOENT", "ENOTDIR", "EACCES")) throw error;
    return whole === dirname(whole) ? whole : join(realOf(dirname(whole)), basename(whole));
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
