import { SystemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { BOOLEAN, checkOptions } from "../base/options.ts";
import { SystemRandom } from "../base/random.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { DamagedRow, SessionRow, Store } from "../contracts/store.ts";
import type { StoreSource } from "../contracts/store-source.ts";
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

export interface SessionOpening extends Omit<OpenOptions, "fold" | "written"> {
  /** The session that this one works for. It is in plan mode whenever its parent is. */
  readonly parent?: Session;
  /** Show only so many of the newest groups from here on, and one pointer to the rest. The journal keeps everything. */
  readonly recent?: number;
}

type Opening = Omit<SessionOpening, "parent" | "recent"> & { readonly parent?: Family["parent"] };

/** A session whose own entry in the store is damaged: what opening it would say, unless it can be mended. */
export interface DamagedSession extends DamagedRow {
  readonly code: "SESSION_DAMAGED";
}

/** Sessions over one store. */
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
    this.#standings = new Standings(this.#openSessions, (id) => this.look(id));
    this.#forks = new ForkMaker(this.#deps, options, {
      open: (id, how, as) => this.#openWith(id, how, as, { create: false }),
      standingOf: (id) => this.#standings.of(id),
    });
  }

  /** Creates the session, or recovers it after a crash; `session.recovered` says what was repaired. */
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

  /** The session as it stands, for reading only: it is not taken, recovered or changed, whoever is writing it. */
  look(id: string): Promise<SessionLook> {
    return lookAt(this.#deps, id, this.#options);
  }

  /** A new session that shares `from`'s records up to `after`, and goes its own way. */
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
   * Every session, damaged ones as that; pages that sessions share are none, nor is what is being imported. Opening one
   * mends what can be proven.
   */
  async *sessions(): AsyncIterable<SessionRow | DamagedSession> {
    for await (const row of sessionRows(this.store))
      if (!isShelf(row.id) && !isImporting(row.id)) yield "damaged" in row ? { ...row, code: "SESSION_DAMAGED" } : row;
  }

  /**
   * Deletes a session for good; with `dryRun`, tells what would go. Forks keep what they share with it, and space and content
   * come back with `sweep`. Refused while somebody writes it, or while a sub-agent's session works for it.
   */
  async delete(id: string, options: { readonly dryRun?: boolean } = {}): Promise<Deleted> {
    checkOptions(options, { dryRun: BOOLEAN });
    const plan = await planDeletion(this.#deps, id);
    const needed = await this.#workingFor(plan.session);
    if (needed.length > 0) throw new HoldfastError("SESSION_NEEDED", { session: id, by: needed });
    if (options.dryRun === true) return plan;
    // What it had decided about files may still wait to be put in place, and only opening it can tell.
    const bound = this.#options.workspace !== undefined && !(await isUnfinishedFork(this.store, plan.session));
    if (bound) await (await this.open(id, { create: false })).close({ leave: "staged" });
    await deleteSession(this.#deps, id);
    return plan;
  }

  /**
   * Gives up a session that is damaged and that nothing proves, also what sessions share; with `dryRun`, tells what is wrong
   * with it. Until then a sweep removes nothing from the store; with the next one its records go, but for those that its
   * forks share, so salvage them first. Refused while it can be put right, or anybody else has the store open.
   */
  async forgetDamaged(id: string, options: { readonly dryRun?: boolean } = {}): Promise<Forgotten> {
    checkOptions(options, { dryRun: BOOLEAN });
    const plan = await planForgetting(this.#deps, id);
    if (this.#openSessions.find(plan.session) !== undefined)
      throw new HoldfastError("SESSION_BUSY", { session: id, writer: this.store.owner });
    if (options.dryRun !== true) await forgetDamaged(this.#deps, id);
    return plan;
  }

  /** Sessions that this one's sub-agents left, and those that are open and work for it. */
  async #workingFor(id: SessionId): Promise<string[]> {
    if (isShelf(id)) return ["every session that shares these pages"];
    const needed = new Set(this.#openSessions.namesOfChildren(id));
    for await (const { id: other } of this.sessions())
      if (isAgentSessionOf(id, other) && (await this.#standings.kept(other))?.parent === id) needed.add(other);
    return [...needed];
  }

  retain(session: Session, bounds: RetentionBounds): Promise<Retained> {
    const { counter = estimateCounter } = this.#options.context ?? {};
    return retain({ ...this.#deps, counter }, session.journal, bounds);
  }

  /** From now on this value is hidden in everything that is kept. What was kept before: see `dropSecrets`. */
  registerSecret(secret: Secret): void {
    this.#deps.redactor.register(secret);
  }

  /** Drops, for good, what a closed session kept of secrets that are known by now. */
  async dropSecrets(id: string): Promise<DroppedSecrets> {
    const session = await this.open(id, { create: false });
    try {
      return await dropSecrets(this.store, session);
    } finally {
      await session.close();
    }
  }

  /** A session as one archive, to be looked at elsewhere: see `verifyBundle` and `importBundle`. */
  async *exportBundle(id: string, options?: ExportOptions): AsyncIterable<Bytes> {
    yield* exportBundle(this.#deps, await this.look(id), options);
  }

  /** Takes a bundle into this store, under its own name or another, all of it or nothing. */
  importBundle(source: BundleSource, options?: ImportOptions): Promise<ImportedBundle> {
    return importBundle(this.#deps, source, options);
  }

  /** What importers that were killed had taken in: `sweep` takes it away. */
  abandonedImports(): AsyncIterable<SessionRow> {
    return abandonedImports(this.#deps);
  }

  /** Removes what nothing reachable names, and what importers that were killed had taken in, and tells how many those were. */
  async sweep(options: SweepOptions = {}): Promise<SweepReport & { readonly imports: number }> {
    checkOptions(options, SWEEP_OPTIONS);
    const imports = await removeAbandonedImports(this.#deps);
    return { ...(await sweep(this.#deps, options)), imports };
  }

  verify(options?: VerifyOptions): Promise<VerifyReport> {
    return verify(this.store, options);
  }

  /**
   * Closes the sessions that are still open, as `session.close()` does, and the store. What of them is dirty and cannot be
   * committed is left to the next opening. Refused, with nothing closed, from inside a call of one of them.
   */
  async close(): Promise<void> {
    this.#inUse.refuseInside();
    try {
      await this.#inUse.closeAll();
    } finally {
      try {
        await this.#workspaces.close();
      } finally {
        await this.store.close();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export async function createHoldfast(options: HoldfastOptions): Promise<Holdfast> {
  checkOptions(options, HOLDFAST_OPTIONS, ["store"]);
  const clock = options.clock ?? new SystemClock();
  const random = options.random ?? new SystemRandom();
  const redactor = new Redactor(options.secrets ?? []);
  const store = await storeOf(options.store, { clock, random });
  return new Holdfast({ store, clock, random, redactor }, options);
}

async function storeOf(given: Store | StoreSource, deps: Parameters<StoreSource["open"]>[0]): Promise<Store> {
  return "open" in given ? given.open(deps) : given;
}
