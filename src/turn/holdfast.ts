import { SystemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { BOOLEAN, checkOptions } from "../base/options.ts";
import { SystemRandom } from "../base/random.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { Mode } from "../catalog/tool.ts";
import type { DamagedRow, SessionRow, Store } from "../contracts/store.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import { type Binding, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import { type ImportedBundle, type ImportOptions, importBundle } from "../journal/bundle/import.ts";
import type { BundleSource } from "../journal/bundle/read.ts";
import { abandonedImports, removeAbandonedImports } from "../journal/bundle/abandoned.ts";
import {
  type Deleted,
  deleteIf,
  deleteSession,
  type Forgotten,
  forgetDamaged,
  planDeletion,
  planForgetting,
} from "../journal/delete.ts";
import { forkRow } from "../journal/fork.ts";
import { isImporting } from "../journal/importing.ts";
import { appendReserved, type JournalDeps } from "../journal/journal.ts";
import type { Fold } from "../journal/seal-batch.ts";
import { type OpenOptions, openJournal } from "../journal/open.ts";
import { rowOf } from "../journal/read.ts";
import { type RetentionBounds, type Retained, retain } from "../journal/retention.ts";
import { SWEEP_OPTIONS, type SweepOptions, type SweepReport, sweep } from "../journal/sweep.ts";
import { sessionRows, type VerifyOptions, type VerifyReport, verify } from "../journal/verify.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import { Redactor, type Secret } from "../records/redact.ts";
import { boundariesKept, isAgentSessionOf } from "./agent-names.ts";
import { type ExportOptions, exportBundle } from "./bundle.ts";
import { type DroppedSecrets, dropSecrets } from "./drop-secrets.ts";
import { type SessionFold, sessionFold } from "./fold.ts";
import { type Family, OpenSessions, type Standing } from "./open-sessions.ts";
import { lookAt, type SessionLook } from "./look.ts";
import { comparedWith, copyFor, entriesAt, type ForkWorkspace, layOver } from "./fork-files.ts";
import { FORK_OPTIONS, HOLDFAST_OPTIONS, type HoldfastOptions } from "./holdfast-options.ts";
import { refuseReserved } from "./reserved.ts";
import { type Around, resumeSession, type SessionOptions } from "./resume.ts";
import type { Session } from "./session.ts";
import { SessionsInUse } from "./sessions-in-use.ts";
import { OPENING_OPTIONS } from "./session-options.ts";
import type { ForkOptions } from "./session-parts.ts";
import { isShelf, refuseShelfId, Shelves } from "./shelves.ts";
import { Teller } from "./teller.ts";
import { refuseInsideCommit } from "./fork-point.ts";
import { forkMark, isUnfinishedFork } from "./unfinished-fork.ts";
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

/** How long who makes a fork of the same name is given to see that it is another's. */
const MOMENT_MS = 20;
const MOST_ATTEMPTS = 100;

/** Sessions over one store. */
export class Holdfast implements AsyncDisposable {
  readonly store: Store;
  readonly #deps: JournalDeps;
  readonly #options: SessionOptions;
  readonly #workspaces: Workspaces;
  readonly #redactor: Redactor;
  readonly #openSessions: OpenSessions;
  readonly #inUse = new SessionsInUse();

  constructor(deps: JournalDeps, options: SessionOptions = {}) {
    this.#redactor = deps.redactor ?? new Redactor();
    this.#deps = { ...deps, redactor: this.#redactor };
    this.#options = options;
    this.store = deps.store;
    this.#openSessions = OpenSessions.over(deps.store);
    this.#workspaces = new Workspaces(deps);
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
    if (recent === undefined) return this.#inUse.given(session);
    try {
      await session.prune({ keep: recent });
      return this.#inUse.given(session);
    } catch (error) {
      await session.close({ leave: "staged" });
      throw error;
    }
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
    return this.#inUse.given(await this.#openSessions.making(options.as, () => this.#fork(from, options)));
  }

  async #fork(from: string, { workspace, as, after }: ForkOptions & { readonly after?: number }): Promise<Session> {
    const made = await this.#begin(from, as, after);
    let session: Session | undefined;
    try {
      const point = made.head.seq - 1;
      const mode = workspace === "memory" ? "memory" : "read-only";
      session = await this.#openMade(made, this.#options, mode);
      await refuseDropped(session);
      // The point may be older than the mode, and than whom the origin works for: going on from it opens nothing up.
      const origin = await this.#standingOf(from);
      if (origin?.isPlanning !== false) await session.setMode("plan", "it was forked from a session in plan mode");
      await session.catalog.join(origin?.parent);
      session = await this.#withFiles(session, toSessionId(from), made, workspace);
      await appendReserved(session.journal, forkMark(from, point, true));
      return session;
    } catch (error) {
      await this.#abandon(made, session, error);
      throw error;
    }
  }

  /** Another process may have taken it for one that was left, and have made its own under the name. */
  async #openMade(made: SessionRow, options: SessionOptions, mode: Binding["mode"]): Promise<Session> {
    const session = await this.#whileThere(made, () => this.#openWith(made.id, options, mode, { create: false }));
    if (await this.#isThere(made)) return session;
    await session.close({ leave: "staged" });
    throw new HoldfastError("SESSION_EXISTS", { session: made.id });
  }

  /**
   * Work on what was made. Who makes one of the same name holds it for a moment, to take it away or to see whose it is: then
   * it is gone, and the name theirs, or it is free again.
   */
  async #whileThere<T>(made: SessionRow, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1)
      try {
        return await work();
      } catch (error) {
        if (!HoldfastError.is(error, "SESSION_BUSY") && !HoldfastError.is(error, "SESSION_UNKNOWN")) throw error;
        if (!(await this.#isThere(made)))
          throw new HoldfastError("SESSION_EXISTS", { session: made.id }, { cause: error });
        if (attempt === MOST_ATTEMPTS) throw error;
        await this.#deps.clock.sleep(MOMENT_MS, undefined, "keep-alive");
      }
  }

  /** Whether the session of that name is this one: no two have the same record. */
  async #isThere({ id, head: { seq, hash } }: SessionRow): Promise<boolean> {
    return this.store.reading(async (read) => {
      const row = await read.session(id);
      const [record] = row === undefined ? [] : await read.records(row, { from: seq, to: seq, limit: 1 });
      return record?.hash === hash;
    });
  }

  /** A fork of this name whose maker died before it was whole is made anew. */
  async #begin(from: string, as: string, after: number | undefined): Promise<SessionRow> {
    const { anchor, head } = await rowOf(this.store, toSessionId(from));
    // Its records begin after the anchor, with all that is true in the first: at the anchor itself nobody knows what was.
    if (anchor.seq > 0 && after === anchor.seq)
      throw new HoldfastError("FORK_POINT_UNKNOWN", { session: from, after, oldest: after + 1, newest: head.seq });
    if (after !== undefined && Number.isSafeInteger(after) && after > 0)
      await refuseInsideCommit(this.store, toSessionId(from), after);
    const note = (point: number) => forkMark(from, point, false);
    const how = { as, note, ...(after === undefined ? {} : { after }) };
    try {
      return await forkRow(this.#deps, from, how);
    } catch (error) {
      if (!HoldfastError.is(error, "SESSION_EXISTS") || !(await this.#takeAwayLeft(toSessionId(as)))) throw error;
      return forkRow(this.#deps, from, how);
    }
  }

  /** Answers whether there was one that its maker had left. One that somebody holds is being made. */
  async #takeAwayLeft(id: SessionId): Promise<boolean> {
    const isLeft = () => isUnfinishedFork(this.store, id);
    try {
      return (await isLeft()) && (await deleteIf(this.#deps, id, isLeft));
    } catch (error) {
      if (HoldfastError.is(error, "SESSION_BUSY")) return false;
      if (HoldfastError.is(error, "SESSION_UNKNOWN")) return true; // somebody else was quicker, and the name is free
      throw error;
    }
  }

  /** Nobody asked for half a fork. When it cannot be taken away, both failures are told. */
  async #abandon(made: SessionRow, session: Session | undefined, failure: unknown): Promise<void> {
    try {
      await session?.close({ leave: "staged" });
      const isThere = () => this.#isThere(made);
      if (await isThere()) await this.#whileThere(made, () => deleteIf(this.#deps, made.id, isThere));
    } catch (error) {
      if (HoldfastError.is(error, "SESSION_EXISTS")) return; // somebody else has taken it away
      throw new HoldfastError(
        "FORK_LEFT_BEHIND",
        { session: made.id },
        { cause: new AggregateError([failure, error]) },
      );
    }
  }

  /** Gives a fork the files as they were where it begins. */
  async #withFiles(fork: Session, origin: SessionId, made: SessionRow, workspace: ForkWorkspace): Promise<Session> {
    const part = fork.filesPart;
    if (part === undefined) return fork;
    const then = fork.state.root.get(WORKSPACE_PART) as WorkspaceValue;
    const { disk } = part.host;
    const compared = await comparedWith(this.store, disk, await entriesAt(this.store, origin, made.head.seq - 1, then));
    if (workspace === undefined || workspace === "memory") {
      await layOver(fork.state, part, compared);
      return fork;
    }
    const { left, reowned, takeAway } = await copyFor(this.store, disk, workspace, compared);
    try {
      for (const [fault, paths] of [["files-not-copied", left] as const, ["owners-not-kept", reowned] as const])
        if (paths.length > 0)
          await fork.append({ kind: "fault-raised", fault, detail: { paths: paths.slice(0, 50), all: paths.length } });
      await fork.close();
      // With the bounds of the origin's workspace: a fork without them would take what its origin refuses.
      const given = this.#options.workspace;
      const bounds = typeof given === "object" ? given : {};
      return await this.#openMade(made, { ...this.#options, workspace: { ...bounds, root: workspace } }, "host");
    } catch (error) {
      return takeAway(error);
    }
  }

  /** Whether a session plans or works for one that does, by its name alone. Nothing where that cannot be told. */
  async #standingOf(id: string, below: readonly string[] = []): Promise<Standing | undefined> {
    const open = this.#openSessions.find(id);
    const kept = open === undefined ? await this.#keptOf(id) : undefined;
    const parent = open === undefined ? kept?.parent : open.own.parent;
    const told = parent === undefined ? {} : { parent };
    if (open !== undefined) return { isPlanning: open.isPlanning, ...told };
    if (kept === undefined) return undefined;
    if (kept.mode === "plan" || parent === undefined || below.includes(parent))
      return { isPlanning: kept.mode === "plan", ...told };
    const above = await this.#standingOf(parent, [...below, id]);
    return above === undefined ? undefined : { isPlanning: above.isPlanning, ...told };
  }

  async #keptOf(id: string): Promise<{ readonly mode: Mode; readonly parent: string | undefined } | undefined> {
    try {
      const look = await this.look(id);
      return { mode: await look.mode(), parent: await look.parent() };
    } catch (error) {
      if (HoldfastError.is(error)) return undefined; // unknown, lost or damaged: whoever asks takes it for planning
      throw error;
    }
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
      const standingOf = (other: string) => this.#standingOf(other);
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
      if (isAgentSessionOf(id, other) && (await this.#keptOf(other))?.parent === id) needed.add(other);
    return [...needed];
  }

  retain(session: Session, bounds: RetentionBounds): Promise<Retained> {
    const { counter = estimateCounter } = this.#options.context ?? {};
    return retain({ ...this.#deps, counter }, session.journal, bounds);
  }

  /** From now on this value is hidden in everything that is kept. What was kept before: see `dropSecrets`. */
  registerSecret(secret: Secret): void {
    this.#redactor.register(secret);
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
    yield* exportBundle({ ...this.#deps, redactor: this.#redactor }, await this.look(id), options);
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

/** A state without a change that was dropped on purpose never was: nobody goes on from it. */
async function refuseDropped({ recovered: { skippedChanges = [] }, journal }: Session): Promise<void> {
  for (const seq of skippedChanges)
    for await (const { kind } of journal.read({ from: seq, to: seq }))
      if (kind === "dropped") throw new HoldfastError("CHECKPOINT_UNKNOWN", { record: seq });
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
