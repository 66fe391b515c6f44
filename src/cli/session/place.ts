import { existsSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import { createHoldfast, type Holdfast, type SessionLook, type Store, type WorkspaceBinding } from "../../index.ts";
import { inspectSqlite, openSqlite } from "../../stores/sqlite/entry.ts";
import type { ExitCode, Parsed, Terminal } from "../command.ts";
import { type Config, readConfig } from "../config/config.ts";
import { untilInterrupted } from "../interrupted.ts";
import { nearest } from "../../base/nearest.ts";

/** A store that was opened for one command, and the configuration it was found by. */
export interface Place {
  readonly config: Config;
  readonly store: Store;
  readonly path: string;
  /** Aborted when somebody ends the command. */
  readonly signal: AbortSignal;
}

/** Opens the store that is there, and leaves its durability class as it is. */
export async function inStore(
  parsed: Parsed,
  terminal: Terminal,
  work: (place: Place) => Promise<ExitCode>,
  options: {
    /** Whether it takes itself back when it is told that the command was ended. */
    readonly tidies?: boolean;
    /** Whether it may make the store, for whoever has none yet. */
    readonly makes?: boolean;
  } = {},
): Promise<ExitCode> {
  const { tidies = false, makes = false } = options;
  const config = await readConfig(parsed, terminal);
  const path = String(config.values.store);
  const store = await openSqlite(path, { create: makes, durability: "kept" });
  try {
    return await untilInterrupted((signal) => work({ config, store, path, signal }), { tidies });
  } finally {
    await store.close();
  }
}

/** Somebody may begin to write a store that nobody used when it was opened; then it is looked at anew, beside them. */
const LOOKS = 3;

/**
 * Opens the store that is there to look at it: nothing is written, so it may lie where nothing can be, and what a crash
 * left stays for whoever opens it to write. The work may be begun anew, so it says nothing before it has seen everything.
 */
export async function lookingAt(
  parsed: Parsed,
  terminal: Terminal,
  work: (place: Place) => Promise<ExitCode>,
  /** What to say where nobody has made a store yet. One that somebody named must be there. */
  none?: (path: string) => ExitCode,
): Promise<ExitCode> {
  const config = await readConfig(parsed, terminal);
  const path = String(config.values.store);
  if (none !== undefined && config.sources.store.from === "default" && !existsSync(path)) return none(path);
  for (let looks = 1; ; looks += 1) {
    const store = await inspectSqlite(path);
    try {
      return await untilInterrupted((signal) => work({ config, store, path, signal }));
    } catch (error) {
      if (looks === LOOKS || !HoldfastError.is(error, "STORE_BUSY")) throw error;
    } finally {
      await store.close();
    }
  }
}

/** A kernel without anybody's tools and slices: what it does not know it carries. */
export function kernelOn({ store }: Pick<Place, "store">, workspace?: string): Promise<Holdfast> {
  return createHoldfast({ store, ...(workspace === undefined ? {} : { workspace }) });
}

/** Looks at a session; one that is not there is answered with the nearest that is. */
export async function lookIn(place: Place, holdfast: Holdfast, id: string): Promise<SessionLook> {
  try {
    return await holdfast.look(id);
  } catch (error) {
    if (!HoldfastError.is(error, "SESSION_UNKNOWN")) throw error;
    throw await unknownIn(place, holdfast, id);
  }
}

/** What to say of a session that is not there. */
export async function unknownIn(
  { path }: Pick<Place, "path">,
  holdfast: Holdfast,
  session: string,
): Promise<HoldfastError> {
  const known: string[] = [];
  for await (const row of holdfast.sessions()) known.push(row.id);
  const meant = nearest(session, known);
  const hint = meant === undefined ? {} : { didYouMean: meant };
  return new HoldfastError("SESSION_UNKNOWN", { session, store: path, ...hint });
}

/** The folder to give the kernel: a session without one is opened without one. */
export function workspaceFor({ config }: Place, binding: WorkspaceBinding | undefined): string | undefined {
  return binding === undefined ? undefined : config.values.workspace;
}
