import { HoldfastError } from "../../base/errors.ts";
import { Disk } from "./disk.ts";
import { HostRoot } from "./folders.ts";
import { guardedRoot, placesIn, type Stored } from "./guard.ts";
import { closePlaces, openPlaces, PLACES, workspaceId } from "./meta.ts";
import type { WorkspaceOptions } from "./options.ts";
import { OWN_FOLDER } from "./own.ts";
import { realHost } from "./port.ts";
import { Slots } from "./slots.ts";

/** A workspace as it lies there. No lock is taken and nothing is finished: somebody may be working in it. */
export interface LookedWorkspace {
  readonly id: string;
  readonly disk: Disk;
  /** A commit is written down there that may not be in place yet. */
  readonly unfinished: boolean;
  close(): void;
}

export function lookAtWorkspace(options: WorkspaceOptions, store: Stored): LookedWorkspace {
  const port = options.port ?? realHost;
  const path = guardedRoot(port, options.root, { anyRoot: true }); // it was refused when it was made, or never
  if (port.stat(`${path}/${PLACES.home.join("/")}`)?.kind !== "folder")
    throw new HoldfastError("WORKSPACE_FOREIGN", { root: path, found: "no workspace of any session" });
  const root = new HostRoot(port, path);
  try {
    const places = openPlaces(root);
    try {
      const missing = () => {
        throw new HoldfastError("WORKSPACE_FOREIGN", { root: path, found: "a workspace without its name" });
      };
      const id = workspaceId(port, places, missing);
      const unfinished = new Slots(port, places).read().some(({ state }) => state === "prepared");
      const caseMatters = port.stat(`${path}/${OWN_FOLDER.toUpperCase()}`) === undefined;
      const disk = new Disk(root, placesIn(path, store), { caseMatters });
      return { id, disk, unfinished, close: () => root.close() };
    } finally {
      closePlaces(places);
    }
  } catch (error) {
    root.close();
    throw error;
  }
}
