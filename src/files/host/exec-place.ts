import type { Disk } from "./disk.ts";
import type { HostRoot } from "./folders.ts";
import type { Images } from "./images.ts";
import type { KeptManifest } from "./manifest.ts";
import { makePlace, PLACES, type Places, removePlace, writeAll } from "./meta.ts";
import { nameText } from "./port.ts";
import type { Rescue } from "./rescue.ts";
import type { WalkThread } from "./walk-thread.ts";

/** What commands need of the workspace they run in. */
export interface ExecGround {
  readonly root: HostRoot;
  readonly disk: Disk;
  readonly places: Places;
  readonly rescue: Rescue;
  /** What was learned of the tree, for the next time. */
  readonly known: { images?: Images; kept?: KeptManifest | undefined; second?: WalkThread };
}

/** A folder of ours for the commands of one call. */
export function makeExecPlace({ root }: Pick<ExecGround, "root">, id: string): string {
  makePlace(root, PLACES.exec);
  makePlace(root, [...PLACES.exec, id]);
  return `${root.path}/${PLACES.exec.join("/")}/${id}`;
}

export function removeExecPlace({ root }: Pick<ExecGround, "root">, id: string): void {
  removePlace(root, [...PLACES.exec, id]);
}

/** Folders that were left, by calls that are over. */
export function execPlaces({ root }: Pick<ExecGround, "root">): readonly string[] {
  return root.within(PLACES.exec, (folder) => root.port.names(folder.at()).map(nameText)) ?? [];
}

/** The file system's own time: its clock is not ours, and it ticks more slowly. */
export function fileTime({ root, places }: Pick<ExecGround, "root" | "places">): bigint {
  const { port } = root;
  const handle = port.openFile(places.home.at("clock"), "update");
  try {
    writeAll(port, handle, Buffer.from("."));
    return port.statOpen(handle).mtimeNs;
  } finally {
    port.close(handle);
  }
}
