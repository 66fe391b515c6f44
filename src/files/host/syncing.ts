import type { HostRoot } from "./folders.ts";
import { isSystem } from "./port.ts";

/** So many are synced one by one; for more, one request to the whole file system costs less. */
const ONE_BY_ONE = 64;

/** Files and folders of a workspace, by their names in it. */
export interface ToSync {
  readonly files: readonly (readonly string[])[];
  readonly folders: Iterable<readonly string[]>;
}

type Whole = (path: string) => Promise<void>;

/**
 * Makes some names of a workspace durable with what they hold. What is gone meanwhile need not be. `whole` syncs the file
 * system: it waits for everybody else's writes too, so it is asked only when there are many.
 */
export async function syncNames(root: HostRoot, { files, folders }: ToSync, whole?: Whole): Promise<void> {
  if (whole !== undefined && files.length > ONE_BY_ONE) return whole(root.path);
  const distinct = new Map([...folders].map((names) => [names.join("/"), names]));
  if (whole !== undefined && files.length + distinct.size > ONE_BY_ONE) return whole(root.path);
  const { port } = root;
  const open: number[] = [];
  const held: (() => void)[] = [];
  try {
    for (const names of files)
      root.withinParent(names, (folder, name) => {
        if (port.stat(folder.at(name))?.kind === "file") open.push(port.openFile(folder.at(name), "read"));
      });
    for (const names of distinct.values()) {
      const folder = root.folder(names);
      if (folder === undefined) continue;
      held.push(() => folder.close());
      open.push(folder.handle);
    }
    await Promise.all(open.map((handle) => port.sync(handle)));
  } catch (error) {
    if (whole === undefined || !isSystem(error, "EACCES", "EPERM")) throw error;
    await whole(root.path); // its owner may not read it
  } finally {
    for (const handle of open.slice(0, open.length - held.length)) port.close(handle);
    for (const letGo of held) letGo();
  }
}

/** Paths with what they hold, and the folders they are named in. */
export function namedBy(paths: readonly string[]): ToSync {
  const files = paths.map((path) => path.split("/"));
  return { files, folders: files.flatMap((names) => [names.slice(0, -1), names]) }; // one of the two, when it is a folder itself
}

/** The folders on the way to files, from one of ours on down. */
export function* foldersTo(files: ToSync["files"], from: number): Iterable<readonly string[]> {
  for (const names of files) for (let depth = from; depth < names.length; depth += 1) yield names.slice(0, depth);
}
