import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { OsLocks } from "../../contracts/lock.ts";
import type { Stored } from "./guard.ts";
import type { Intent } from "./intent.ts";
import type { RescueBounds, WorkspaceLimits } from "./limits.ts";
import type { HostPort } from "./port.ts";

/** Which folder is the workspace, and its limits. */
export interface WorkspaceOptions {
  /** The folder of the workspace. */
  readonly root: string;
  /** Accept any folder, even a home folder or one with millions of files. Default `false`. */
  readonly anyRoot?: boolean;
  /** Limits of files and calls. Defaults are at `WorkspaceLimits`. */
  readonly limits?: Partial<WorkspaceLimits>;
  /** How much rescue keeps. Defaults are at `RescueBounds`. */
  readonly rescue?: Partial<RescueBounds>;
  /** The operating system's functions; for tests. */
  readonly port?: HostPort;
}

/** A path alone is its folder. */
export function workspaceAt(given: string | WorkspaceOptions): WorkspaceOptions {
  return typeof given === "string" ? { root: given } : given;
}

export interface WorkspaceDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Locks that go with the process that holds them, in a folder. */
  readonly locks: (folder: string) => OsLocks;
  /** False when acknowledged work need not survive a loss of power. */
  readonly sync: boolean;
  /** Everything on the file system of a path is durable afterwards. Without it everything is synced one by one. */
  readonly syncDisk?: (path: string) => Promise<void>;
  /** What may lie in the workspace without being a part of it. */
  readonly store: Stored;
  /** Whether a plan that was found had been decided. Throws WORKSPACE_UNFINISHED when it cannot be known here. */
  readonly decided: (intent: Intent) => Promise<boolean>;
  /** Whether a plan that was found is given up instead, without asking whether it was decided. Default: none is. */
  readonly givenUp?: (intent: Intent) => boolean;
  /** Ends what is left of the commands that ran in a folder of this name. `held`: what their starter held open. */
  readonly endStrays?: (exec: string, held: ReadonlySet<string>) => Promise<unknown>;
}
