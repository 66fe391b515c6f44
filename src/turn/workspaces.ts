import { eachOf, HoldfastError } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import type { GivenUp } from "../files/host/given-up.ts";
import type { Intent } from "../files/host/intent.ts";
import { lookAtWorkspace } from "../files/host/look.ts";
import { type Binding, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import type { WorkspaceDeps, WorkspaceOptions } from "../files/host/options.ts";
import { endBelonging } from "../exec/processes.ts";
import { syncDisk } from "../exec/sync-disk.ts";
import { Workspace } from "../files/host/workspace.ts";
import type { Journal, JournalDeps } from "../journal/journal.ts";
import { readEntries, rowOf } from "../journal/read.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import type { RootDelta } from "../state/part.ts";
import { SessionFiles } from "./session-files.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** Opens the folders that sessions work in. Sessions of one kernel share a folder; other processes wait outside. */
export class Workspaces {
  readonly #deps: JournalDeps;
  readonly #open = new Map<string, Promise<Workspace>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  /** The workspace of a session, in the way that it remembers, or in another: a fork begins in one of its own. */
  async attach(
    options: string | WorkspaceOptions,
    journal: Journal,
    value: WorkspaceValue | undefined,
    as?: Binding["mode"],
  ): Promise<SessionFiles> {
    const workspace = await this.#enter(typeof options === "string" ? { root: options } : options);
    try {
      const bound = value?.binding;
      if (as === undefined && bound !== undefined && bound.workspace !== workspace.id)
        throw new HoldfastError("WORKSPACE_FOREIGN", { session: journal.session, root: workspace.path });
      const files = new SessionFiles(workspace, journal, as ?? bound?.mode ?? "host");
      for (const { diverged, callId } of workspace.finished.splice(0)) await files.tell(diverged, callId);
      return files;
    } catch (error) {
      await this.leave(workspace);
      throw error;
    }
  }

  /** What a session that the store does not know left unfinished in a folder; given up, unless it is a dry run. */
  async giveUp(options: string | WorkspaceOptions, session: SessionId, dryRun: boolean): Promise<GivenUp> {
    const { store } = this.#deps;
    const row = await rowOf(store, session).catch((error: unknown) => {
      if (!HoldfastError.is(error, "SESSION_UNKNOWN")) throw error;
    });
    if (row !== undefined) throw new HoldfastError("SESSION_EXISTS", { session });
    const given = typeof options === "string" ? { root: options } : options;
    const looked = lookAtWorkspace(given, store);
    let found: GivenUp | undefined;
    try {
      const intent = looked.unfinished.find((one) => one.session === session);
      if (intent !== undefined) found = looked.planGivingUp(intent);
    } finally {
      looked.close();
    }
    if (found === undefined) return { session, paths: [] };
    if (!dryRun) await this.leave(await this.#enter(given, (intent) => intent.session === session));
    return found;
  }

  leave(workspace: Workspace): Promise<void> {
    return this.#inTurn(async () => {
      const gone = await workspace.leave().catch((error: unknown) => {
        this.#forget(workspace);
        throw error;
      });
      if (gone) this.#forget(workspace);
    });
  }

  /** Gives every folder free, also those of sessions that nobody closed. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      const opened = [...this.#open.values()];
      this.#open.clear();
      await eachOf(opened.map((folder) => async () => (await folder).close()));
    });
  }

  #enter(options: WorkspaceOptions, givenUp: WorkspaceDeps["givenUp"] = () => false): Promise<Workspace> {
    return this.#inTurn(async () => {
      const { store, clock, random } = this.#deps;
      const { locksIn } = store;
      if (locksIn === undefined) throw new HoldfastError("WORKSPACE_NEEDS_LOCKS", { root: options.root });
      const known = this.#open.get(options.root);
      const opening =
        known ??
        Workspace.open(options, {
          clock,
          random,
          locks: (folder) => locksIn.call(store, folder),
          sync: store.durability === "power",
          syncDisk,
          decided: (intent) => wasDecided(store, intent),
          givenUp,
          endStrays: (mark, coming) =>
            endBelonging({ mark, holds: NOTHING, coming }, () => clock.sleep(5, undefined, "keep-alive")),
          store,
        });
      const workspace = await opening;
      this.#open.set(options.root, opening);
      workspace.enter();
      return workspace;
    });
  }

  #forget(workspace: Workspace): void {
    for (const [root, opened] of this.#open)
      void opened.then((one) => {
        if (one === workspace) this.#open.delete(root);
      });
  }

  /** One at a time: a folder that is being given free must not be entered. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {}); // told to whoever asked for it
    return turn;
  }
}

/**
 * Whether the journal holds the decision of a plan. What was cut or dropped since counts as decided: a session writes
 * nothing more while a plan of its own is in doubt, so whatever followed followed the decision.
 */
async function wasDecided(store: Store, { session, after, tx }: Intent): Promise<boolean> {
  const id = toSessionId(session);
  const row = await rowOf(store, id).catch((error: unknown) => {
    if (HoldfastError.is(error, "SESSION_UNKNOWN")) throw new HoldfastError("WORKSPACE_UNFINISHED", { session });
    throw error;
  });
  if (row.anchor.seq > after) return true;
  for await (const entry of readEntries(store, id, { from: after + 1 })) {
    if (entry.kind === "dropped" && entry.was === "state-changed") return true;
    if (entry.kind !== "state-changed") continue;
    const plan = (entry.delta as RootDelta)[WORKSPACE_PART] as { readonly tx?: string } | undefined;
    if (plan?.tx === tx) return true;
  }
  return false;
}
