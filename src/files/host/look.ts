import { HoldfastError } from "../../base/errors.ts";
import { type Disk, diskIn } from "./disk.ts";
import { HostRoot } from "./folders.ts";
import { type GivenUp, planGivingUp } from "./given-up.ts";
import { guardedRoot, type Stored } from "./guard.ts";
import type { Intent } from "./intent.ts";
import { closePlaces, openPlaces, PLACES, workspaceId } from "./meta.ts";
import type { WorkspaceOptions } from "./options.ts";
import { realHost } from "./port.ts";
import { Slots } from "./slots.ts";

/** A workspace as it lies there. No lock is taken and nothing is finished: somebody may be working in it. */
export interface LookedWorkspace {
  readonly id: string;
  readonly disk: Disk;
  /** Commits that are written down there and may not be in place yet. */
  readonly unfinished: readonly Intent[];
  /** What giving one of them up comes to. */
  planGivingUp(intent: Intent): GivenUp;
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
      const unfinished = new Slots(port, places)
        .read()
        .flatMap(({ state, intent }) => (state === "prepared" ? [intent] : []));
      return {
        id,
        disk: diskIn(root, store),
        unfinished,
        planGivingUp: (intent) => planGivingUp(root, intent),
        close: () => root.close(),
      };
    } finally {
      closePlaces(places);
    }
  } catch (error) {
    root.close();
    throw error;
  }
}
