import { HoldfastError } from "../base/errors.ts";
import type { SessionRow } from "../contracts/store.ts";
import { type Binding, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { deleteIf } from "../journal/delete.ts";
import { forkRow } from "../journal/fork.ts";
import { appendReserved, type JournalDeps } from "../journal/journal.ts";
import { rowOf } from "../journal/read.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import { untoldCut } from "./fork-cut.ts";
import { comparedWith, copyFor, entriesAt, type ForkWorkspace, layOver } from "./fork-files.ts";
import { refuseInsideCommit } from "./fork-point.ts";
import type { Family } from "./open-sessions.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import type { Session } from "./session.ts";
import type { ForkOptions } from "./session-parts.ts";
import { forkMark, isUnfinishedFork } from "./unfinished-fork.ts";

/** What a kernel does for the forks that are made in it. */
interface AroundForks extends Pick<Family, "standingOf"> {
  /** Opens a session that is there. */
  readonly open: (id: string, options: SessionOptions, as: Binding["mode"]) => Promise<Session>;
}

/** How long who makes a fork of the same name is given to see that it is another's. */
const MOMENT_MS = 20;
const MOST_ATTEMPTS = 100;

/** Makes forks: each is whole, with its mode and its files, or there is none. */
export class ForkMaker {
  readonly #deps: JournalDeps;
  readonly #options: SessionOptions;
  readonly #around: AroundForks;

  constructor(deps: JournalDeps, options: SessionOptions, around: AroundForks) {
    this.#deps = deps;
    this.#options = options;
    this.#around = around;
  }

  async make(from: string, { workspace, as, after }: ForkOptions & { readonly after?: number }): Promise<Session> {
    const made = await this.#begin(from, as, after);
    let session: Session | undefined;
    try {
      const point = made.head.seq - 1;
      const mode = workspace === "memory" ? "memory" : "read-only";
      session = await this.#openMade(made, this.#options, mode);
      await refuseDropped(session);
      const cut = await untoldCut(this.#deps.store, toSessionId(from), session.journal, { anchor: made.anchor, point });
      if (cut !== undefined) await appendReserved(session.journal, cut);
      // The point may be older than the mode, and than whom the origin works for: going on from it opens nothing up.
      const origin = await this.#around.standingOf(from);
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
    const session = await this.#whileThere(made, () => this.#around.open(made.id, options, mode));
    try {
      if (await this.#isThere(made)) return session;
      throw new HoldfastError("SESSION_EXISTS", { session: made.id });
    } catch (error) {
      await session.close({ leave: "staged" }); // nobody else has it, and open it would keep its name
      throw error;
    }
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
    return this.#deps.store.reading(async (read) => {
      const row = await read.session(id);
      const [record] = row === undefined ? [] : await read.records(row, { from: seq, to: seq, limit: 1 });
      return record?.hash === hash;
    });
  }

  /** A fork of this name whose maker died before it was whole is made anew. */
  async #begin(from: string, as: string, after: number | undefined): Promise<SessionRow> {
    const { anchor, head } = await rowOf(this.#deps.store, toSessionId(from));
    // Its records begin after the anchor, with all that is true in the first: at the anchor itself nobody knows what was.
    if (anchor.seq > 0 && after === anchor.seq)
      throw new HoldfastError("FORK_POINT_UNKNOWN", { session: from, after, oldest: after + 1, newest: head.seq });
    if (after !== undefined && Number.isSafeInteger(after) && after > 0)
      await refuseInsideCommit(this.#deps.store, toSessionId(from), after);
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
    const isLeft = () => isUnfinishedFork(this.#deps.store, id);
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
    const compared = await comparedWith(
      this.#deps.store,
      disk,
      await entriesAt(this.#deps.store, origin, made.head.seq - 1, then),
    );
    if (workspace === undefined || workspace === "memory") {
      await layOver(fork.state, part, compared);
      return fork;
    }
    const { left, reowned, takeAway } = await copyFor(this.#deps.store, disk, workspace, compared);
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
}

/** A state without a change that was dropped on purpose never was: nobody goes on from it. */
async function refuseDropped({ recovered: { skippedChanges = [] }, journal }: Session): Promise<void> {
  for (const seq of skippedChanges)
    for await (const { kind } of journal.read({ from: seq, to: seq }))
      if (kind === "dropped") throw new HoldfastError("CHECKPOINT_UNKNOWN", { record: seq });
}
