import type { Clock } from "../base/clock.ts";
import type { StagedDifference } from "../files/host/aside.ts";
import type { CoverLimits } from "../files/host/manifest.ts";
import type { Uncovered } from "../files/host/walk.ts";
import type { Workspace } from "../files/host/workspace.ts";

/**
 * How commands are protected: on a layer above the files (`overlay`), or on the files themselves, with a copy to go
 * back to (`portable`).
 */
export type DriverName = "overlay" | "portable";

export interface DriverDeps {
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** What the portable driver can take into its care. */
  readonly cover: CoverLimits;
}

/**
 * A way to let commands run on a workspace so that what they change can be kept whole, or undone whole. Both ways answer
 * the same difference for the same command; one law suite holds them to it.
 */
export interface ProtectionDriver {
  readonly name: DriverName;
  /** Before the first command of a call. Throws when it does not work here, with the reason in the message. */
  open(deps: DriverDeps, id: string): Promise<Enclosure>;
}

/** Where the commands of one call run. */
export interface Enclosure {
  readonly id: string;
  readonly driver: DriverName;
  /** What is known, before any command, not to be covered. */
  readonly uncovered: readonly Uncovered[];
  /** The tree as the commands see it, as a path that we can use. */
  readonly inside: string;
  /** Hears that files in there are about to be changed. */
  changing?(): void;
  /** What starts a program in there. */
  argv(program: readonly string[]): readonly string[];
  /** Hears of every program that was started in there. */
  started?(pid: number): void;
  /** Asks all that commands have started to end. The newest one's group is given. */
  ask(group: number): Promise<void> | void;
  /** Ends what commands have left running. Answers how many processes that were. */
  endStrays(): Promise<number>;
  /** Everything that is otherwise than before the first command, durable if it is to be. */
  difference(): Promise<StagedDifference>;
  /** Everything is as it was before the first command. */
  drop(): Promise<void>;
  /** The work is kept: what is left of the enclosure goes. */
  leave(): Promise<void>;
}
