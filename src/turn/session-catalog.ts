import { HoldfastError } from "../base/errors.ts";
import type { Sha256 } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { badOption } from "../base/options.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import { type CatalogChange, type CatalogState, changeCatalog, hashTools, snapshotCatalog } from "../catalog/state.ts";
import { ASK_USER, type Mode } from "../catalog/tool.ts";
import { denialOfCall } from "../catalog/may-run.ts";
import { definitionHash } from "../catalog/offer.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Gate, gatesAround } from "../state/gate.ts";
import type { Tool } from "../transaction/tool.ts";
import type { Transactions } from "../transaction/transactions.ts";
import type { Family, Relative } from "./open-sessions.ts";

/** Where the state of a catalog lies, and how it changes: written down first, true afterwards. */
export interface CatalogHome {
  readonly state: CatalogState;
  /** `next` gets what is true when its turn comes, and may return it unchanged. */
  change(
    next: (now: CatalogState) => { readonly to: CatalogState; readonly drafts: readonly RecordDraft[] },
  ): Promise<void>;
}

/** Snapshots that calls may still refer to: a call that was offered by an older one than these is not run. */
const KEPT = 32;

/** The tools that a session offers, and its mode. */
export class SessionCatalog implements Relative {
  readonly #home: CatalogHome;
  readonly #transactions: Transactions;
  readonly #family: Family | undefined;
  readonly #reserved: readonly string[];
  /** Whether it was said since opening if there is somebody to ask. Until then it is so when the tool for it is there. */
  #asksSaid = false;
  readonly #offered = new Map<number, SessionToolCatalogSnapshot>();
  #hashed: { readonly of: readonly Tool[]; readonly hashes: CatalogState["tools"] } | undefined;
  #latest:
    | { readonly of: CatalogState; readonly tools: readonly Tool[]; readonly snapshot: SessionToolCatalogSnapshot }
    | undefined;

  constructor(
    home: CatalogHome,
    transactions: Transactions,
    family?: Family,
    /** Names of the kernel's own tools. */
    reserved: readonly string[] = [],
  ) {
    this.#reserved = reserved;
    catalogs.set(transactions.state.truth.gate, this);
    this.#home = home;
    this.#transactions = transactions;
    this.#family = family;
  }

  /** A flip of the mode is a boundary: what is dirty is committed first. */
  beforeFlip: () => Promise<void> = async () => {};

  /** The catalog as it is now. A session that works for one in plan mode is in plan mode, too. */
  get state(): CatalogState {
    const { parentPlans: _, ...state } = this.#home.state;
    return state.mode === "act" && this.#parentPlans ? { ...state, mode: "plan" } : state;
  }

  /** The session's own catalog as the journal has it, without its parent's mode. */
  get own(): CatalogState {
    return this.#home.state;
  }

  /** The current mode, `act` or `plan`. */
  get mode(): Mode {
    return this.state.mode;
  }

  /** What requests are checked against. A change of tools that is not in the journal yet counts as the next epoch. */
  get live(): CatalogState {
    const { state } = this;
    return this.isWritten ? state : { ...state, epoch: state.epoch + 1 };
  }

  /** Whether the journal has the current tools. */
  get isWritten(): boolean {
    const { state } = this.#home;
    const isSame = changeCatalog(state, this.#present(), "") === state;
    // The next look compares the two by reference, not name by name.
    if (isSame && this.#hashed !== undefined) this.#hashed = { of: this.#hashed.of, hashes: state.tools };
    return isSame;
  }

  /** What is offered now. Returns the same object until something changes. */
  snapshot(): SessionToolCatalogSnapshot {
    const { tools } = this.#transactions;
    const { state } = this;
    const latest = this.#latest;
    if (latest !== undefined && sameState(latest.of, state) && sameTools(latest.tools, tools)) return latest.snapshot;
    const snapshot = snapshotCatalog(state, tools);
    this.#latest = { of: state, tools, snapshot };
    return snapshot;
  }

  /** Notes that a request offers this snapshot. Calls of its answer will name the snapshot's epoch. */
  offer(snapshot: SessionToolCatalogSnapshot): void {
    this.#offered.set(snapshot.epoch, snapshot);
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > KEPT && oldest !== undefined) this.#offered.delete(oldest);
  }

  /** Hashes everything about a tool that is data. */
  definition(tool: Tool): Sha256 {
    return definitionHash(tool);
  }

  /**
   * Why a call may not start now, in words for the model, or undefined. `epoch`: that of the request that offered it.
   */
  denial(call: { readonly tool: Tool; readonly input: unknown; readonly epoch?: number }): string | undefined {
    const { tool, input, epoch } = call;
    const { name } = tool;
    if (epoch === undefined && this.mode === "act") return undefined;
    // A host's own tool is offered by the host: what the mode allows of it is asked as if it were offered here.
    const live = this.#transactions.isHosted(tool) ? snapshotCatalog(this.state, [tool]) : this.snapshot();
    const attempt = { tool, name, input, live };
    if (epoch === undefined) return denialOfCall(attempt);
    const offeredBy = this.#offered.get(epoch);
    if (offeredBy === undefined) return `${name} was offered too long ago, so it did not run. Ask for it again.`;
    return denialOfCall({ ...attempt, offeredBy });
  }

  /**
   * Sets the mode, here and in every open child. Durable when it resolves; setting the same mode twice changes nothing.
   */
  async setMode(mode: Mode, reason = `${mode} mode was asked for`): Promise<CatalogState> {
    if (!MODES.includes(mode)) throw badOption("mode", mode, MODES.join(" or "));
    if (mode === "act" && this.#parentPlans) throw new HoldfastError("MODE_INHERITED", { mode: "plan" });
    // Waited for only where there is somebody to ask: of two words said at once, the second must not be the faster one.
    if (this.#parentAway !== undefined && (await this.#keptParent()) === "plan" && mode === "act")
      throw new HoldfastError("MODE_INHERITED", { mode: "plan" });
    await this.beforeFlip(); // always: of two words said at once, neither may overtake the other
    await this.#change(() => ({ mode }), reason);
    if (mode === "act") return this.state;
    // They plan already; now it is written down for them, too.
    const children = this.#family === undefined ? [] : this.#family.openSessions.childrenOf(this.#family.id);
    const told = children.map((child) => child.setMode("plan", PARENT_PLANS));
    for (const one of await Promise.allSettled(told)) if (one.status === "rejected") throw one.reason;
    return this.state;
  }

  /** Says whether there is somebody to ask: only then is `ask_user` offered. Default: when that tool is there. */
  async setRequestUserInput(
    enabled: boolean,
    reason = enabled ? "the user can be asked" : "nobody can be asked",
  ): Promise<void> {
    this.#asksSaid = true;
    await this.#change(() => ({ requestUserInputEnabled: enabled }), reason);
  }

  /** Adds tools, or replaces those with the same names. Calls of the running request keep what it offered. */
  async add(tools: readonly Tool[], reason = "tools were added"): Promise<void> {
    await this.swap([], tools, reason);
  }

  /** Removes tools by name. */
  async remove(names: readonly string[], reason = "tools were removed"): Promise<void> {
    await this.swap(names, [], reason);
  }

  /** Removes tools and adds others, as one change. */
  async swap(gone: readonly string[], tools: readonly Tool[], reason = "tools were changed"): Promise<void> {
    this.refuseReserved(tools);
    this.#transactions.remove(gone);
    this.#transactions.add(tools);
    await this.sync(reason);
  }

  /** Throws TOOL_NAME_TAKEN for tools that have the name of a built-in one. */
  refuseReserved(tools: readonly Tool[]): void {
    const taken = tools.find(({ name }) => this.#reserved.includes(name));
    if (taken !== undefined) throw new HoldfastError("TOOL_NAME_TAKEN", { tool: taken.name, by: "the kernel" });
  }

  /** Writes the current tools to the journal, if it does not have them yet. */
  async sync(reason = "the session was opened with these tools"): Promise<void> {
    if (this.own.mode === "act" && this.#parentAway !== undefined && (await this.#keptParent()) === "plan")
      await this.setMode("plan", PARENT_PLANS);
    // Looked at without waiting first: nearly always there is nothing to do.
    if (!this.isWritten) await this.#change(() => this.#present(), reason);
  }

  /** What the journal is told of a change. */
  draftsOf(now: CatalogState, to: CatalogState): readonly RecordDraft[] {
    if (now.epoch === to.epoch) return [];
    const { version, epoch, reason, requestUserInputEnabled } = to;
    const snapshot = snapshotCatalog(to, this.#transactions.tools);
    const tools = (snapshot.tools ?? []).map(({ name, description = "", input }) => ({ name, description, input }));
    const changed: RecordDraft = {
      kind: "catalog-changed",
      version,
      epoch,
      reason,
      requestUserInputEnabled,
      contentHash: snapshot.contentHash,
      tools: tools as Json,
    };
    if (now.mode === to.mode) return [changed];
    return [{ kind: "boundary-crossed", boundary: "mode-flip" }, { kind: "mode-changed", mode: to.mode }, changed];
  }

  /** In the order in which it was asked for: the last word of a user is the one that stays. With the tools of its moment. */
  #change(change: () => CatalogChange, reason: string): Promise<void> {
    return this.#home.change((now) => {
      const to = changeCatalog(now, { tools: this.#hashes(), ...change() }, reason);
      return { to, drafts: this.draftsOf(now, to) };
    });
  }

  /** The tools of this process, and whether it can ask somebody. */
  #present(): CatalogChange {
    const tools = this.#hashes();
    // An epoch of its own: what is offered while somebody plans is not what was offered before under the same number.
    const parentPlans = this.own.mode === "act" && this.#parentPlans;
    if (this.#asksSaid) return { tools, parentPlans };
    return { tools, parentPlans, requestUserInputEnabled: this.#transactions.tool(ASK_USER) !== undefined };
  }

  /** Of the tools there are. The same object until they change: asked before every request. */
  #hashes(): CatalogState["tools"] {
    const { tools } = this.#transactions;
    if (this.#hashed?.of === tools) return this.#hashed.hashes;
    const hashes = hashTools(tools);
    this.#hashed = { of: tools, hashes };
    return hashes;
  }

  /** By its parent, or by the session in one of whose calls this code is running: sub-agents need not say whose they are. */
  get #parentPlans(): boolean {
    // Asked several times for each request, and nearly always alone: no list is made for it.
    for (const gate of gatesAround()) {
      const around = catalogs.get(gate);
      if (around !== undefined && around !== this && around.isPlanning) return true;
    }
    const parent = this.#parent;
    return parent !== undefined && parent !== this && parent.isPlanning;
  }

  get isPlanning(): boolean {
    return this.own.mode === "plan" || this.#parent?.isPlanning === true;
  }

  /** The parent as it is open now; closed, as it was handed in. */
  get #parent(): Relative | undefined {
    const { parent } = this.own;
    if (parent === undefined) return undefined;
    const given = this.#family?.parent;
    return this.#family?.openSessions.find(parent) ?? (given?.id === parent ? given.catalog : undefined);
  }

  /** The name of a parent that is not open here: only the store can tell what it is at. */
  get #parentAway(): string | undefined {
    const { parent } = this.own;
    return parent === undefined || this.#family?.openSessions.find(parent) !== undefined ? undefined : parent;
  }

  async #keptParent(): Promise<"act" | "plan" | "unknown" | undefined> {
    const away = this.#parentAway;
    if (away === undefined || this.#family === undefined) return undefined;
    const standing = await this.#family.standingOf(away);
    return standing === undefined ? "unknown" : standing.isPlanning ? "plan" : "act";
  }

  /**
   * Takes its place among the open sessions: remembers by name whom it works for, and is in plan mode when they are. A
   * parent that cannot be found may be planning, so it counts as if it were.
   */
  async join(parent: string | undefined = this.#family?.parent?.id): Promise<void> {
    if (this.own.mode === "act") {
      const kept = await this.#keptParent();
      if (kept === "plan") await this.setMode("plan", PARENT_PLANS);
      if (kept === "unknown") await this.setMode("plan", "the session that it works for cannot be found");
    }
    if (parent !== undefined && parent !== this.own.parent)
      await this.#home.change((now) => ({ to: { ...now, parent }, drafts: [] }));
    this.#family?.openSessions.enter(this.#family.id, this);
    if (this.own.mode === "act" && this.#parent?.isPlanning === true) await this.setMode("plan", PARENT_PLANS);
  }

  /** A session that is closed is found no more. */
  leave(): void {
    this.#family?.openSessions.leave(this.#family.id, this);
  }
}

const PARENT_PLANS = "the parent session is in plan mode";
const MODES: readonly Mode[] = ["act", "plan"];
const catalogs = new WeakMap<Gate, SessionCatalog>();

function sameState(a: CatalogState, b: CatalogState): boolean {
  return a === b || (a.epoch === b.epoch && a.mode === b.mode);
}

function sameTools(a: readonly Tool[], b: readonly Tool[]): boolean {
  return a === b || (a.length === b.length && a.every((tool, index) => tool === b[index]));
}
