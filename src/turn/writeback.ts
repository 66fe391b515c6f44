import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type CommitPlan, planCommit, type RejectedWriteback } from "../context/writeback/commit.ts";
import { isPageScope, PAGE_SCOPES, type PageScope } from "../context/page.ts";
import {
  type DurablePages,
  keyOf,
  versionOf,
  type Writeback,
  type WritebackTuple,
} from "../context/writeback/tuple.ts";
import {
  isSaid,
  type Principal,
  PRINCIPALS,
  validateWriteback,
  type WritebackPredicate,
  type WritebackRejection,
  type WritebackWorld,
} from "../context/writeback/validate.ts";
import type { SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { Decide } from "./decide.ts";
import type { Shelves } from "./shelves.ts";
import {
  checkStaged,
  DurableState,
  isNumbered,
  StagedWritebacks,
  waitingIn,
  type WantedWriteback,
  WritebackCount,
} from "./writeback-slices.ts";

/** Options of the tool `remember`. */
export interface RememberOptions {
  /** Scopes the model may write to in addition to its session. Its principal must allow them, too. Default: none. */
  readonly scopes?: readonly PageScope[];
}

/** Who may write back, and which checks apply in addition to the built-in ones. */
export interface WritebackOptions {
  /** Who may write back, and to which scopes, in addition to `host` and `model`. */
  readonly principals?: Readonly<Record<string, Principal>>;
  /** Your own checks of a change. Default: none. */
  readonly predicates?: readonly WritebackPredicate[];
  /**
   * Offers the model the tool `remember`, with which it can keep rules, goals and preferences. Default: not offered.
   */
  readonly remember?: true | RememberOptions;
}

export interface WritebackGround {
  readonly id: SessionId;
  readonly state: ExecutionState;
  readonly shelves: Shelves;
  readonly decide: Decide;
  /** Reads what is needed to resolve evidence: after reopening, the pages of the conversation are not made yet. */
  readonly prepare: () => Promise<void>;
  readonly resolves: (evidence: string) => boolean;
}

/** What a flush did: which changes were committed, and which were rejected. */
export interface Flushed {
  readonly committed: readonly Writeback[];
  readonly rejected: CommitPlan["rejected"];
}

/** Changes that are staged, as whoever asks sees them: a call sees its own, too. */
type Waiting = readonly (Writeback | WantedWriteback)[];

/** A store that fails is asked so often in all. */
const ATTEMPTS = 3;

/**
 * Keeps rules, plans and preferences durable: changes are staged, validated and committed, each step in the journal.
 */
export class SessionWriteback {
  readonly #ground: WritebackGround;
  readonly #world: Omit<WritebackWorld, "pages">;
  /** One flush at a time: two would commit the same change twice. */
  #flushing: Promise<unknown> = Promise.resolve();

  constructor(ground: WritebackGround, { principals = {}, predicates = [] }: WritebackOptions = {}) {
    this.#ground = ground;
    const { resolves } = ground;
    this.#world = { principals: { ...PRINCIPALS, ...principals }, predicates, resolves };
  }

  /** The changes that are staged and not committed yet. */
  get pending(): readonly (Writeback | WantedWriteback)[] {
    return waitingIn(this.#ground.state.session.get(StagedWritebacks));
  }

  /** The committed durable pages of a scope. Shared ones are as this session last saw them. */
  pages(scope: PageScope): DurablePages {
    return scope === "session" ? this.#ground.state.session.get(DurableState) : this.#ground.shelves.pages(scope);
  }

  /** The version that `set-with-version` must name to replace a field once the `waiting` changes are committed. */
  version(of: Pick<WritebackTuple, "kind" | "page" | "field" | "scope">, waiting: Waiting = []): string {
    return versionOf(this.#coming(of.scope, waiting)[keyOf(of)]?.fields[of.field]);
  }

  /**
   * Stages a change. It is validated and committed before the next boundary, or by `commit`. Returns undefined when the
   * page already says so. Inside a call, dispatch `StagedWritebacks.wanted` instead.
   */
  stage(tuple: WritebackTuple, by = "host"): Promise<Writeback | undefined> {
    return this.#ground.decide(() => {
      checkStaged(tuple, by);
      const waits = this.pending.some((one) => keyOf(one) === keyOf(tuple) && one.field === tuple.field);
      if (!waits && isSaid(tuple, this.pages(tuple.scope))) return { drafts: [], answer: undefined };
      const numbered = this.#numbered([...this.#wanted, { ...tuple, by }]);
      return { ...staging(numbered, this.#count), answer: numbered.at(-1) };
    });
  }

  /**
   * Predicts what would become of a change, made after the `waiting` ones: undefined when nothing is in its way, the
   * rejection, or "said" when the page already says so.
   */
  check(tuple: WritebackTuple, by = "host", waiting: Waiting = []): WritebackRejection | "said" | undefined {
    const pages = this.#coming(tuple.scope, waiting);
    const wish = { ...tuple, by, id: "", clock: 0 };
    const rejection = validateWriteback(wish, { ...this.#world, pages });
    // Replacing a text by itself destroys nothing.
    const isRefused = rejection !== undefined && rejection.code !== "DESTRUCTIVE_OP";
    return isRefused || !isSaid(tuple, pages) ? rejection : "said";
  }

  /** Rejects a staged change, with a reason. */
  reject(id: string, reason: string): Promise<void> {
    return this.#ground.decide(() => {
      const writeback = this.#staged(id);
      return { drafts: [rejectedDraft(writeback, reason, reason)], events: [settled([writeback])], answer: undefined };
    });
  }

  /** Validates and commits what is staged, or these ids. Throws WRITEBACK_UNREACHABLE if a store keeps failing. */
  commit(ids?: readonly string[]): Promise<Flushed> {
    const turn = this.#flushing.then(
      () => this.#commit(ids),
      () => this.#commit(ids),
    );
    this.#flushing = turn.catch(() => {}); // told to whoever asked for it
    return turn;
  }

  /** Numbers what calls have wanted. The journal hears of it before anything else happens. */
  async number(): Promise<void> {
    if (this.#wanted.length === 0) return;
    await this.#ground.decide(() => ({ ...staging(this.#numbered(this.#wanted), this.#count), answer: undefined }));
  }

  async #commit(ids?: readonly string[]): Promise<Flushed> {
    if (this.pending.length === 0 && ids === undefined) return { committed: [], rejected: [] };
    const committed: Writeback[] = [];
    const rejected: RejectedWriteback[] = [];
    try {
      await again(() => this.number());
      for (const id of ids ?? []) this.#staged(id);
      await this.#ground.prepare();
      for (const scope of PAGE_SCOPES) {
        const staged = this.pending
          .filter(isNumbered)
          .filter((one) => scopeOf(one) === scope && ids?.includes(one.id) !== false);
        if (staged.length === 0) continue;
        const plan = await again(() => this.#commitIn(scope, staged));
        committed.push(...plan.committed);
        rejected.push(...plan.rejected);
      }
    } catch (error) {
      if (HoldfastError.is(error, "WRITEBACK_NOT_STAGED")) throw error;
      const left = this.pending.map((one) => (isNumbered(one) ? one.id : keyOf(one)));
      throw new HoldfastError("WRITEBACK_UNREACHABLE", { staged: left }, { cause: error });
    }
    return { committed, rejected };
  }

  async #commitIn(scope: PageScope, staged: readonly Writeback[]): Promise<CommitPlan> {
    if (scope !== "session") {
      const plan = await this.#ground.shelves.commit(scope, this.#stillWaiting(staged), this.#world);
      await this.#ground.decide(() => ({ ...settling(plan), answer: undefined }));
      return plan;
    }
    return this.#ground.decide(() => {
      const pages = this.pages("session");
      const plan = planCommit(this.#stillWaiting(staged), { ...this.#world, pages });
      const { drafts, events } = settling(plan);
      const changed = plan.pages === pages ? [] : [DurableState.committed(plan.pages)];
      return { drafts, events: [...changed, ...events], answer: plan };
    });
  }

  /** A rewind may have come since: what it took back is not wanted any more. */
  #stillWaiting(staged: readonly Writeback[]): readonly Writeback[] {
    const waiting = new Set(this.pending.filter(isNumbered).map(({ id }) => id));
    return staged.filter(({ id }) => waiting.has(id));
  }

  /** The pages of a scope as they will be when what waits is committed. */
  #coming(scope: PageScope, waiting: Waiting): DurablePages {
    const pages = this.pages(scope);
    const there = waitingIn(waiting).filter((one) => scopeOf(one) === scope);
    if (there.length === 0) return pages;
    const wanted = this.#numbered(there.filter((one) => !isNumbered(one)));
    return planCommit([...there.filter(isNumbered), ...wanted], { ...this.#world, pages }).pages;
  }

  get #wanted(): readonly WantedWriteback[] {
    return this.pending.filter((one) => !isNumbered(one));
  }

  get #count(): number {
    return this.#ground.state.session.get(WritebackCount);
  }

  #numbered(wanted: readonly WantedWriteback[]): readonly Writeback[] {
    return wanted.map((one, nth) => {
      const seen = this.pages(one.scope)[keyOf(one)]?.fields[one.field]?.clock ?? 0;
      return { ...one, id: `${this.#ground.id}.${String(this.#count + nth + 1).padStart(6, "0")}`, clock: seen + 1 };
    });
  }

  #staged(id: string): Writeback {
    const found = this.pending.filter(isNumbered).find((one) => one.id === id);
    if (found === undefined) throw new HoldfastError("WRITEBACK_NOT_STAGED", { id });
    return found;
  }
}

/** Where a change is judged. One that names no scope would be judged by nobody; among the session's own it is rejected. */
function scopeOf({ scope }: Pick<WantedWriteback, "scope">): PageScope {
  return isPageScope(scope) ? scope : "session";
}

function staging(numbered: readonly Writeback[], count: number) {
  const drafts = numbered.map(
    (writeback): RecordDraft => ({ kind: "writeback-staged", page: keyOf(writeback), change: changeOf(writeback) }),
  );
  return {
    drafts,
    events: [StagedWritebacks.staged(numbered), WritebackCount.reached(count + numbered.length)],
  };
}

/** What the journal and the list of what waits are told of a commit. */
function settling({ committed, rejected }: CommitPlan) {
  const drafts = [
    ...committed.map(
      (writeback): RecordDraft => ({
        kind: "writeback-committed",
        page: keyOf(writeback),
        change: changeOf(writeback),
      }),
    ),
    ...rejected.map(({ writeback, rejection }) => rejectedDraft(writeback, rejection.code, rejection.detail)),
  ];
  return { drafts, events: [settled([...committed, ...rejected.map(({ writeback }) => writeback)])] };
}

function rejectedDraft(writeback: Writeback, reason: string, detail: string): RecordDraft {
  const change = { ...(changeOf(writeback) as object), detail } as Json;
  return { kind: "writeback-rejected", page: keyOf(writeback), reason, change };
}

function settled(writebacks: readonly Writeback[]) {
  return StagedWritebacks.settled(writebacks.map(({ id }) => id));
}

function changeOf(writeback: Writeback): Json {
  return writeback as unknown as Json;
}

/** Tries again what a store has refused. Whatever it did half is done by the next attempt, because no change counts twice. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** A store out of reach, which a later attempt may reach. Any other failure is nobody's to wait for, and is thrown on. */
export function outOfReach(error: unknown): HoldfastError {
  if (HoldfastError.is(error, "WRITEBACK_UNREACHABLE")) return error;
  throw error;
}
