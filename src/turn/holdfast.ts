import { SystemClock } from "../base/clock.ts";
import { eachOf, HoldfastError } from "../base/errors.ts";
import { BOOLEAN, checkOptions } from "../base/options.ts";
import { SystemRandom } from "../base/random.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { DamagedRow, SessionRow, Store } from "../contracts/store.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import type { GivenUp } from "../files/host/given-up.ts";
import type { Binding } from "../files/host/part.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import { type ImportedBundle, type ImportOptions, importBundle } from "../journal/bundle/import.ts";
import type { BundleSource } from "../journal/bundle/read.ts";
import { abandonedImports, removeAbandonedImports } from "../journal/bundle/abandoned.ts";
import {
  type Deleted,
  deleteSession,
  type Forgotten,
  forgetDamaged,
  planDeletion,
  planForgetting,
} from "../journal/delete.ts";
import { isImporting } from "../journal/importing.ts";
import type { JournalDeps } from "../journal/journal.ts";
import type { Fold } from "../journal/seal-batch.ts";
import { type OpenOptions, openJournal } from "../journal/open.ts";
import { type RetentionBounds, type Retained, retain } from "../journal/retention.ts";
import { SWEEP_OPTIONS, type SweepOptions, type SweepReport, sweep } from "../journal/sweep.ts";
import { sessionRows, type VerifyOptions, type VerifyReport, verify } from "../journal/verify.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import { Redactor, type Secret } from "../records/redact.ts";
import { boundariesKept, isAgentSessionOf } from "./agent-names.ts";
import { type ExportOptions, exportBundle } from "./bundle.ts";
import { type DroppedSecrets, dropSecrets } from "./drop-secrets.ts";
import { type SessionFold, sessionFold } from "./fold.ts";
import { ForkMaker } from "./fork-maker.ts";
import { type Family, OpenSessions } from "./open-sessions.ts";
import { lookAt, type SessionLook } from "./look.ts";
import { FORK_OPTIONS, HOLDFAST_OPTIONS, type HoldfastOptions, type SessionOptions } from "./holdfast-options.ts";
import { refuseReserved } from "./reserved.ts";
import { type Around, resumeSession } from "./resume.ts";
import type { Session } from "./session.ts";
import { SessionsInUse } from "./sessions-in-use.ts";
import { OPENING_OPTIONS } from "./session-options.ts";
import type { ForkOptions } from "./session-parts.ts";
import { isShelf, refuseShelfId, Shelves } from "./shelves.ts";
import { Standings } from "./standings.ts";
import { Teller } from "./teller.ts";
import { isUnfinishedFork } from "./unfinished-fork.ts";
import { Workspaces } from "./workspaces.ts";

/** Options of `holdfast.open`. */
export interface SessionOpening extends Omit<OpenOptions, "fold" | "written"> {
  /** The session that this one works for. This one is in plan mode whenever its parent is. */
  readonly parent?: Session;
  /**
   * Prunes at opening: requests show this many of the newest groups, and one pointer to the rest. Nothing is deleted.
   */
  readonly recent?: number;
}

type Opening = Omit<SessionOpening, "parent" | "recent"> & { readonly parent?: Family["parent"] };

/** A session whose own entry in the store is damaged. Unless it can be mended, opening it fails with this code. */
export interface DamagedSession extends DamagedRow {
  readonly code: "SESSION_DAMAGED";
}

/** Opens, looks at and looks after the sessions of one store. Made by `createHoldfast`. */
export class Holdfast implements AsyncDisposable {
  readonly store: Store;
  readonly #deps: JournalDeps & { readonly redactor: Redactor };
  readonly #options: SessionOptions;
  readonly #workspaces: Workspaces;
  readonly #openSessions: OpenSessions;
  readonly #standings: Standings;
  readonly #forks: ForkMaker;
  readonly #inUse = new SessionsInUse();

  constructor(deps: JournalDeps, options: SessionOptions = {}) {
    this.#deps = { ...deps, redactor: deps.redactor ?? new Redactor() };
    this.#options = options;
    this.store = deps.store;
    this.#openSessions = OpenSessions.over(deps.store);
    this.#workspaces = new Workspaces(deps);
    this.#standings = new Standings(this.#openSessions, (id) => lookAt(deps, id, options));
    this.#forks = new ForkMaker(this.#deps, options, {
      open: (id, how, as) => this.#openWith(id, how, as, { create: false }),
      standingOf: (id) => this.#standings.of(id),
    });
  }

  /**
   * Opens a session for writing, and creates it if there is none. `session.recovered` says what a crash left to repair.
   */
  async open(id: string, options: SessionOpening = {}): Promise<Session> {
    checkOptions(options, OPENING_OPTIONS);
    const { recent, ...opening } = options;
    if (await isUnfinishedFork(this.store, toSessionId(id)))
      throw new HoldfastError("FORK_UNFINISHED", { session: id });
    // Nobody makes a shelf by opening it.
    const how = isShelf(id) ? { ...opening, create: false } : opening;
    const session = await this.#openWith(id, this.#options, undefined, how);
    try {
      if (recent !== undefined) await session.prune({ keep: recent });
    } catch (error) {
      await session.close({ leave: "staged" });
      throw error;
    }
    return this.#inUse.given(session);
  }

  /** Reads a session as it stands: no lease is taken and nothing is changed, so it works while somebody writes it. */
  look(id: string): Promise<SessionLook> {
    return lookAt(this.#deps, id, this.#options, (other) => this.#standings.of(other));
  }

  /** Makes and opens a new session, `options.as`, that shares `from`'s records up to number `after` (default: all). */
  async fork(from: string, options: ForkOptions & { readonly after?: number }): Promise<Session> {
    checkOptions(options, FORK_OPTIONS);
    if (options.workspace !== undefined && this.#options.workspace === undefined)
      throw new HoldfastError("BAD_OPTION", { option: "workspace", value: "the session has none to fork" });
    refuseShelfId(options.as);
    return this.#inUse.given(await this.#openSessions.making(options.as, () => this.#forks.make(from, options)));
  }

  async #openWith(
    id: string,
    sessionOptions: SessionOptions,
    as: Binding["mode"] | undefined,
    { parent, ...options }: Opening = {},
  ): Promise<Session> {
    let opened: Session | undefined;
    const fold: Fold<SessionFold> = {
      ...sessionFold(boundariesKept(id, sessionOptions.checkpoints?.limit)),
      reserve: (now, drafts, how) => refuseReserved(now, drafts, how, opened?.transactions.pending ?? []),
    };
    const teller = new Teller(toSessionId(id), this.#deps.clock, sessionOptions.telemetry);
    const journal = await openJournal(this.#deps, id, { ...options, fold, written: teller.written });
    try {
      const { prompt: _prompt, agents: _agents, ...shared } = sessionOptions;
      const around: Around = {
        workspaces: this.#workspaces,
        shelves: new Shelves({ ...this.#deps, open: (shelf) => this.#openWith(shelf, {}, undefined) }),
        teller,
        fork: (after, { as, workspace }) =>
          this.fork(id, { as, after, ...(workspace === undefined ? {} : { workspace }) }),
        left: () => this.#inUse.closed(opened),
        child: (name, tools, catalog) => this.#openWith(name, { ...shared, tools }, as, { parent: { id, catalog } }),
      };
      const standingOf = (other: string) => this.#standings.of(other);
      const how = { ...sessionOptions, family: { id, openSessions: this.#openSessions, standingOf, parent } };
      const session = await resumeSession(this.#deps, journal, how, around, as);
      opened = session;
      teller.hasTool = (name) => session.transactions.tool(name) !== undefined;
      // Before anything of it is read: whoever asks the model next sees what is kept, and nothing else.
      const { retention } = sessionOptions;
      if (retention === undefined) return session;
      await this.retain(session, retention).catch(async (error: unknown) => {
        await session.close();
        throw error;
      });
      return session;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /**
   * Every session, damaged ones included. Shelves and unfinished imports are left out. Opening a damaged session mends
   * what can be proven.
   */
  async *sessions(): AsyncIterable<SessionRow | DamagedSession> {
    for await (const row of sessionRows(this.store))
      if (!isShelf(row.id) && !isImporting(row.id)) yield "damaged" in row ? { ...row, code: "SESSION_DAMAGED" } : row;
  }

  /**
   * Deletes a session for good; with `dryRun`, only reports what would be deleted. Forks keep the records they share
   * with it; `sweep` frees the space. Refused while somebody writes the session or a sub-agent's session works for it.
   */
  async delete(id: string, options: { readonly dryRun?: boolean } = {}): Promise<Deleted> {
    checkOptions(options, { dryRun: BOOLEAN });
    const plan = await planDeletion(this.#deps, id);
    const needed = await this.#workingFor(plan.session);
    if (needed.length > 0) throw new HoldfastError("SESSION_NEEDED", { session: id, by: needed });
    if (options.dryRun === true) return plan;
    const bound = this.#options.workspace !== undefined && !(await isUnfinishedFork(this.store, plan.session));
    if (bound) await this.#finishFiles(id);
    await deleteSession(this.#deps, id);
    return plan;
  }

  /**
   * Gives up a damaged session, or a damaged shelf, that cannot be mended; with `dryRun`, only reports what is wrong
   * with it. Until you do, a sweep removes nothing from the store. The next sweep then removes its records, except
   * those that forks share, so salvage them first. Refused while it can be mended, or while anybody else has the store
   * open.
   */
  async forgetDamaged(id: string, options: { readonly dryRun?: boolean } = {}): Promise<Forgotten> {
    checkOptions(options, { dryRun: BOOLEAN });
    const plan = await planForgetting(this.#deps, id);
    if (this.#openSessions.find(plan.session) !== undefined)
      throw new HoldfastError("SESSION_BUSY", { session: id, writer: this.store.owner });
    if (options.dryRun !== true) await forgetDamaged(this.#deps, id);
    return plan;
  }

  /**
   * Gives up what a session that this store does not know left unfinished in the workspace, so that other sessions can
   * work there; with `dryRun`, only reports it. Files stay as they are, and new content that was not in place yet goes to
   * rescue. For when the session's own store is gone: opening the session there finishes the change instead.
   */
  async forgetUnfinished(id: string, options: { readonly dryRun?: boolean } = {}): Promise<GivenUp> {
    checkOptions(options, { dryRun: BOOLEAN });
    const session = toSessionId(id);
    const { workspace } = this.#options;
    if (workspace === undefined) throw new HoldfastError("WORKSPACE_NEEDED", { session });
    return this.#workspaces.giveUp(workspace, session, options.dryRun === true);
  }

  /** What it had decided about files may still wait to be put in place, and only opening it can tell. */
  async #finishFiles(id: string): Promise<void> {
    try {
      await (await this.open(id, { create: false })).close({ leave: "staged" });
    } catch (error) {
      if (!LOST.some((code) => HoldfastError.is(error, code))) throw error;
      // Nobody can tell any more, and it would stay for ever.
    }
  }

  /** Sessions that this one's sub-agents left, and those that are open and work for it. */
  async #workingFor(id: SessionId): Promise<string[]> {
    if (isShelf(id)) return ["every session that shares these pages"];
    const needed = new Set(this.#openSessions.namesOfChildren(id));
    for await (const { id: other } of this.sessions())
      if (isAgentSessionOf(id, other) && (await this.#standings.kept(other))?.parent === id) needed.add(other);
    return [...needed];
  }

  /** Applies these bounds to a session now, and reports what was cut off. */
  retain(session: Session, bounds: RetentionBounds): Promise<Retained> {
    const { counter = estimateCounter } = this.#options.context ?? {};
    return retain({ ...this.#deps, counter }, session.journal, bounds);
  }

  /** Hides this value in everything kept from now on. For what was kept before, see `dropSecrets`. */
  registerSecret(secret: Secret): void {
    this.#deps.redactor.register(secret);
  }

  /** Removes for good what a session has kept of secrets known by now. The session must not be open. */
  async dropSecrets(id: string): Promise<DroppedSecrets> {
    const session = await this.open(id, { create: false });
    try {
      return await dropSecrets(this.store, session);
    } finally {
      await session.close();
    }
  }

  /** Exports a session as one archive that can be checked and read elsewhere: see `verifyBundle` and `importBundle`. */
  async *exportBundle(id: string, options?: ExportOptions): AsyncIterable<Bytes> {
    yield* exportBundle(this.#deps, await this.look(id), options);
  }

  /** Imports a bundle into this store, under its own name or another one: all of it or nothing. */
  importBundle(source: BundleSource, options?: ImportOptions): Promise<ImportedBundle> {
    return importBundle(this.#deps, source, options);
  }

  /** What killed imports left behind. `sweep` removes it. */
  abandonedImports(): AsyncIterable<SessionRow> {
    return abandonedImports(this.#deps);
  }

  /** Removes what no session can reach, and what killed imports left behind; reports how much of each. */
  async sweep(options: SweepOptions = {}): Promise<SweepReport & { readonly imports: number }> {
    checkOptions(options, SWEEP_OPTIONS);
    const imports = await removeAbandonedImports(this.#deps);
    return { ...(await sweep(this.#deps, options)), imports };
  }

  /** Checks the records and the content in the store, and reports all damage. Changes nothing. */
  verify(options?: VerifyOptions): Promise<VerifyReport> {
    return verify(this.store, options);
  }

  /**
   * Closes the store and every session that is still open, as `session.close()` does. Dirty changes that cannot be
   * committed are left to the next opening. Refused from inside a call of one of the sessions; then nothing is closed.
   */
  async close(): Promise<void> {
    this.#inUse.refuseInside();
    await eachOf([() => this.#inUse.closeAll(), () => this.#workspaces.close(), () => this.store.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** What it is made of is gone, so that it can never be opened again. */
const LOST = ["SESSION_DAMAGED", "BLOB_MISSING", "BLOB_CORRUPT"] as const;

/** Opens the store and returns the kernel over it. Close it with `close()`, or hold it with `await using`. */
export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  checkOptions(options, HOLDFAST_OPTIONS, ["store"]);
  const clock = options.clock ?? new SystemClock();
  const random = options.random ?? new SystemRandom();
  const redactor = new Redactor(options.secrets ?? []);
  const store = await storeOf(options.store, { clock, random });
  return new Holdfast({ store, clock, random, redactor }, options);
}

async function storeOf(given: Store | StoreSource, deps: Parameters<StoreSource["open"]>[0]): Promise<Store> {
  return "commit" in given ? given : given.open(deps);
}
