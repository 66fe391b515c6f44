import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { OsLocks } from "../../contracts/lock.ts";
import type { Intent } from "./intent.ts";
import type { RescueBounds, WorkspaceLimits } from "./limits.ts";
import type { HostPort } from "./port.ts";

export interface WorkspaceOptions {
  readonly root: string;
  /** Take the folder whatever it is: a home folder, or one of millions of files. */
  readonly anyRoot?: boolean;
  readonly limits?: Partial<WorkspaceLimits>;
  readonly rescue?: Partial<RescueBounds>;
  /** The system, or one that behaves otherwise; for tests. */
  readonly port?: HostPort;
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
  /** Where the store lies, if it lies in a file. */
  readonly store?: string;
  /** What it may make beside itself, by what follows its name. */
  readonly besideStore?: readonly string[];
  /** Whether a plan that was found had been decided. Throws WORKSPACE_FOREIGN when it cannot be known here. */
  readonly decided: (intent: Intent) => Promise<boolean>;
  /** Ends what is left of the commands that ran in a folder of this name. `held`: what their starter held open. */
  readonly endStrays?: (exec: string, held: ReadonlySet<string>) => Promise<unknown>;
}
