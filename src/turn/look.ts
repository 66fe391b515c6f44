import { HoldfastError } from "../base/errors.ts";
import { randomIds } from "../base/ids.ts";
import { checkOptions, whole } from "../base/options.ts";
import type { JsonObject } from "../base/json.ts";
import type { CatalogState } from "../catalog/state.ts";
import type { Mode } from "../catalog/tool.ts";
import type { SessionRow } from "../contracts/store.ts";
import { type LookedWorkspace, lookAtWorkspace } from "../files/host/look.ts";
import { workspaceAt } from "../files/host/options.ts";
import { WORKSPACE_LIMITS } from "../files/host/limits.ts";
import { type Binding, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { hostPart } from "../files/host/session.ts";
import type { PairedHistory } from "../history/paired.ts";
import { readBlob, stageBlob } from "../journal/blobs.ts";
import type { JournalDeps } from "../journal/journal.ts";
import { verifyTail } from "../journal/open.ts";
import type { JournalEntry } from "../journal/prove.ts";
import { type ReadOptions, readEntries, rowOf } from "../journal/read.ts";
import { type CallId, type SessionId, toSessionId } from "../records/ids.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { AnyPart } from "../state/part.ts";
import type { EffectReport } from "../transaction/effect.ts";
import { Transactions } from "../transaction/transactions.ts";
import { boundariesKept } from "./agent-names.ts";
import { catalogPart } from "./catalog-part.ts";
import { SessionCheckpoints } from "./checkpoints.ts";
import { conversationOf } from "./conversation.ts";
import { type SessionFold, sessionFold } from "./fold.ts";
import { forkPoint } from "./fork-point.ts";
import type { ToolBoundary } from "./tool-boundaries.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import { isDefault, partsOf } from "./kernel-parts.ts";
import { type LookedView, lookAtView } from "./look-view.ts";
import type { Family } from "./open-sessions.ts";
import { PartBlobs } from "./part-blobs.ts";
import { isDamage, type JournalReading, type Rebuilt, rebuildNewest, stateAt } from "./rebuild.ts";
import { closingsOf, danglingIn } from "./recover.ts";
import { planRewind, type RewindOptions, type RewindReport, type RewindTarget } from "./rewind.ts";
import type { WaitingCall } from "./waiting.ts";

/** Who has the session: nobody, a process that is writing it, or one that died or fell silent without closing it. */
export type WriterState = "closed" | "held" | "died" | "silent";

/** What a rewind would do, as far as can be said without opening the session. */
export interface LookedRewind extends RewindReport {
  /**
   * A commit may not be in place in the workspace yet. Opening the session finishes that first, so the plan may change.
   */
  readonly unfinished?: true;
}

/**
 * A session as it stands, for reading only: no lease, no lock, no record. It works while another process writes the
 * session, and where its tools and slices are not known: slices that the journal has introduced are read as data.
 */
export class SessionLook {
  readonly id: SessionId;
  readonly row: SessionRow;
  readonly writer: WriterState;
  readonly #deps: JournalDeps;
  readonly #options: SessionOptions;
  readonly #journal: JournalReading;
  readonly #blobs: PartBlobs;
  readonly #standingOf: Family["standingOf"] | undefined;
  #rebuilt: Promise<Rebuilt> | undefined;

  /** Without `standingOf` it knows only what is written down of the session itself. */
  constructor(
    deps: JournalDeps,
    row: SessionRow,
    tail: readonly JournalEntry[],
    options: SessionOptions,
    standingOf?: Family["standingOf"],
  ) {
    this.#standingOf = standingOf;
    this.#deps = deps;
    this.#options = options;
    this.id = row.id;
    this.row = row;
    this.writer = writerOf(deps, row);
    const { store } = deps;
    const read = (asked: ReadOptions = {}) => readEntries(store, row.id, { ...asked, to: within(row, asked) });
    this.#journal = {
      opened: { previousWriter: "none", tail },
      folded: foldFor(row, options).start(tail),
      head: row.head,
      read,
    };
    this.#blobs = new PartBlobs(
      {
        readBlob: (name, range, signal) => readBlob(store, name, range, signal),
        stageBlob: (source, signal) => stageBlob(store, source, signal),
      },
      { mayLack: true },
    );
  }

  /** Tool boundaries, oldest first. Those that a rewind took back are marked `rewound`. */
  get boundaries(): readonly ToolBoundary[] {
    return this.#fold.boundaries;
  }

  /** Calls that wait for somebody's consent or answer. */
  get waiting(): readonly WaitingCall[] {
    return [...this.#fold.waiting.values()];
  }

  /** Calls that are running, or were cut off by a crash: opening the session closes those. */
  get openCalls(): readonly { readonly callId: CallId; readonly tool: string }[] {
    return [...danglingIn(this.#fold)].map(([callId, tool]) => ({ callId, tool }));
  }

  /** Effects still to be undone, because a process was cut off while undoing them. */
  get undoing(): readonly EffectReport[] {
    return this.#fold.effects
      .values()
      .flatMap(({ entry: { tool, name, key }, standing }): EffectReport[] =>
        standing.is === "undoing" ? [{ tool, name, key, is: "unknown", detail: "it is still to be undone" }] : [],
      );
  }

  /** Reads the entries up to where the session stood when you called `look`. */
  read(options: ReadOptions = {}): AsyncIterable<JournalEntry> {
    return this.#journal.read(options);
  }

  /** The conversation: paired, and without what a rewind took back. */
  conversation(): Promise<PairedHistory> {
    return conversationOf(this.read());
  }

  /**
   * The mode in which opening would find the session. `plan` also when the session that it works for plans or cannot be
   * found, and when damage may hide that plan mode was begun.
   */
  async mode(): Promise<Mode> {
    try {
      const { root, modeInDoubt } = await this.#state();
      const { mode, parent } = root.get(catalogPart.name) as CatalogState;
      if (modeInDoubt) return "plan";
      if (parent === undefined || this.#standingOf === undefined || mode === "plan") return mode;
      return (await this.#standingOf(parent))?.isPlanning === false ? "act" : "plan";
    } catch (error) {
      if (!HoldfastError.is(error, "SESSION_DAMAGED")) throw error;
      return "plan";
    }
  }

  /** The id of the session that this one works for, if any. */
  async parent(): Promise<string | undefined> {
    return ((await this.#state()).root.get(catalogPart.name) as CatalogState).parent;
  }

  /** The state now, or as it was after record `after`: data by part name. Files are in it only by their digests. */
  async state(after?: number): Promise<JsonObject> {
    const known = partsOf(this.#options);
    const { root, parts } =
      after === undefined ? await this.#state() : await stateAt(this.#journal, after, known, this.#blobs);
    return Object.fromEntries([...parts].map(([name, part]) => [name, part.encode(root.get(name) as never)]));
  }

  /** How the session is bound to a workspace, if it is. */
  async binding(): Promise<Binding | undefined> {
    return ((await this.#state()).root.get(WORKSPACE_PART) as WorkspaceValue | undefined)?.binding;
  }

  /**
   * Sequence numbers of state changes that cannot be applied here: something they build on is lost, or they belong to a
   * part that only the program which wrote them knows.
   */
  async skippedChanges(): Promise<readonly number[]> {
    return (await this.#state()).skipped;
  }

  /** The record after which a fork from this boundary begins. `before` may name a call that is still open. */
  placeOf(target: RewindTarget): Promise<number> {
    const checkpoints = new SessionCheckpoints(this.#journal, this.#execution([]), this.#blobs);
    return forkPoint(target, { openCalls: this.#fold.openCalls, checkpoints, read: (how) => this.read(how) });
  }

  /** What a rewind would do now; for files, too, if `workspace` is set in the options. */
  async planRewind(target: RewindOptions): Promise<LookedRewind> {
    const { root, parts, skipped } = await this.#state();
    if (skipped.length > 0) throw new HoldfastError("SESSION_NOT_FOLLOWED", { session: this.id, records: skipped });
    const value = root.get(WORKSPACE_PART) as WorkspaceValue | undefined;
    const workspace = this.#workspace(value?.binding);
    try {
      const host = workspace === undefined ? undefined : this.#hostPart(workspace, value?.binding?.mode ?? "host");
      const known = [...parts.values()].map((part) =>
        host !== undefined && part.name === WORKSPACE_PART ? host : part,
      );
      const state = this.#execution(known, root);
      state.knowResources(); // without it, one that was first used after the boundary would stay as it is
      const transactions = new Transactions(state, { tools: this.#options.tools ?? [] });
      const folded = this.#onceOpened();
      for (const { entry, standing, owners } of folded.effects.values())
        transactions.effects.recall(entry, standing, owners, folded.inside);
      const checkpoints = new SessionCheckpoints({ ...this.#journal, folded }, state, this.#blobs);
      const plan = await planRewind({ state, transactions, checkpoints }, target);
      return workspace !== undefined && workspace.unfinished.length > 0 ? { ...plan, unfinished: true } : plan;
    } finally {
      workspace?.close();
    }
  }

  /**
   * What the model saw in its newest request, or in an earlier one (`turn`). Undefined when there was no such request.
   */
  async view(options: { readonly turn?: number } = {}): Promise<LookedView | undefined> {
    checkOptions(options, { turn: whole(0) });
    const { root, parts } = await this.#state();
    return lookAtView(this.read(), this.#execution([...parts.values()], root), {
      ...options,
      context: this.#options.context ?? {},
      stateAt: (seq) => this.#stateAt(seq),
    });
  }

  /** The state as it was after a record; nothing when that is no longer kept. */
  async #stateAt(seq: number): Promise<ExecutionState | undefined> {
    try {
      const { root, parts } = await stateAt(this.#journal, seq, partsOf(this.#options), this.#blobs);
      return this.#execution([...parts.values()], root);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }

  get #fold(): SessionFold {
    return this.#journal.folded;
  }

  /** As opening it leaves it: a call that was cut off is closed first, and then goes with those that are taken back. */
  #onceOpened(): SessionFold {
    const fold = foldFor(this.row, this.#options);
    const next = this.row.head.seq + 1;
    return closingsOf(this.#fold).reduce((now, draft, nth) => fold.step(now, draft, next + nth), this.#fold);
  }

  #state(): Promise<Rebuilt> {
    this.#rebuilt ??= rebuildNewest(this.#journal, partsOf(this.#options), this.#blobs);
    return this.#rebuilt;
  }

  /** A state that nothing is written from. */
  #execution(parts: readonly AnyPart[], root?: Rebuilt["root"]): ExecutionState {
    const { clock, random } = this.#deps;
    return ExecutionState.create({
      parts: parts.filter((part) => !isDefault(part.name)),
      clock,
      random,
      ids: this.#options.ids ?? randomIds(random),
      resources: this.#options.resources?.() ?? [],
      ...(root === undefined ? {} : { root }),
    });
  }

  #workspace(binding: Binding | undefined): LookedWorkspace | undefined {
    const { workspace } = this.#options;
    if (workspace === undefined || binding === undefined) return undefined;
    const { store } = this.#deps;
    const looked = lookAtWorkspace(workspaceAt(workspace), store);
    if (looked.id === binding.workspace) return looked;
    looked.close();
    throw new HoldfastError("WORKSPACE_FOREIGN", { session: this.id, root: looked.disk.root.path });
  }

  #hostPart({ disk }: LookedWorkspace, mode: Binding["mode"]): AnyPart {
    const { store } = this.#deps;
    const never = () => {
      throw new HoldfastError("FILES_READ_ONLY", { session: this.id });
    };
    return hostPart({
      disk,
      mode,
      limits: WORKSPACE_LIMITS,
      pending: new Set(),
      content: ({ digest }, _, range) => readBlob(store, digest, range),
      keep: never,
      kept: never,
      letGo: never,
    });
  }
}

/** Looks at a session. Throws SESSION_UNKNOWN, and what opening would throw when acknowledged records are lost. */
export async function lookAt(
  deps: JournalDeps,
  id: string,
  options: SessionOptions = {},
  standingOf?: Family["standingOf"],
): Promise<SessionLook> {
  const row = await rowOf(deps.store, toSessionId(id));
  return new SessionLook(deps, row, await verifyTail(deps.store, row), options, standingOf);
}

function writerOf({ store, clock }: Pick<JournalDeps, "store" | "clock">, row: SessionRow): WriterState {
  if (row.owner === null) return "closed";
  if (store.isDead(row.owner)) return "died";
  return row.leaseUntil > clock.now() ? "held" : "silent";
}

function foldFor({ id }: SessionRow, { checkpoints }: SessionOptions) {
  return sessionFold(boundariesKept(id, checkpoints?.limit));
}

function within({ head }: SessionRow, { to = head.seq }: ReadOptions): number {
  return Math.min(to, head.seq);
}
