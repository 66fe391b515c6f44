import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import { type CatalogChange, type CatalogState, changeCatalog, hashTools, snapshotCatalog } from "../catalog/state.ts";
import { ASK_USER, type CatalogTool, type Mode } from "../catalog/tool.ts";
import { denialOfCall } from "../catalog/may-run.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { Tool } from "../transaction/tool.ts";
import type { Transactions } from "../transaction/transactions.ts";

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

/** Which tools a session offers, and in which mode it is. */
export class SessionCatalog {
  readonly #home: CatalogHome;
  readonly #transactions: Transactions;
  readonly #parent: SessionCatalog | undefined;
  readonly #children = new Set<SessionCatalog>();
  /** Whether it was said since opening if there is somebody to ask. Until then it is so when the tool for it is there. */
  #asksSaid = false;
  readonly #offered = new Map<number, SessionToolCatalogSnapshot>();
  #latest:
    | { readonly of: CatalogState; readonly tools: readonly Tool[]; readonly snapshot: SessionToolCatalogSnapshot }
    | undefined;

  constructor(home: CatalogHome, transactions: Transactions, parent?: SessionCatalog) {
    this.#home = home;
    this.#transactions = transactions;
    this.#parent = parent;
    if (parent !== undefined) parent.#children.add(this);
  }

  /** What is true now. A child of a session in plan mode is in plan mode, whatever it says of itself. */
  get state(): CatalogState {
    const { state } = this.#home;
    return state.mode === "act" && this.#parent?.mode === "plan" ? { ...state, mode: "plan" } : state;
  }

  /** What is written down of it, whatever its parent says. */
  get own(): CatalogState {
    return this.#home.state;
  }

  get mode(): Mode {
    return this.#parent?.mode === "plan" ? "plan" : this.#home.state.mode;
  }

  /** What is offered now. The same object until something changes. */
  snapshot(): SessionToolCatalogSnapshot {
    const { tools } = this.#transactions;
    const { state } = this;
    const latest = this.#latest;
    if (latest !== undefined && sameState(latest.of, state) && sameTools(latest.tools, tools)) return latest.snapshot;
    const snapshot = snapshotCatalog(state, tools.map(asOffered));
    this.#latest = { of: state, tools, snapshot };
    return snapshot;
  }

  /** Notes that a request offers this snapshot: its calls will refer to it. */
  offer(snapshot: SessionToolCatalogSnapshot): void {
    this.#offered.set(snapshot.epoch, snapshot);
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > KEPT && oldest !== undefined) this.#offered.delete(oldest);
  }

  /** Why a call may not start now, in words for the model, or nothing. `epoch`: of the request that offered it. */
  denial({
    name,
    input,
    epoch,
  }: {
    readonly name: string;
    readonly input: unknown;
    readonly epoch?: number;
  }): string | undefined {
    const tool = this.#transactions.tool(name);
    const attempt = { tool: tool === undefined ? undefined : asOffered(tool), name, input, live: this.snapshot() };
    if (epoch === undefined) return denialOfCall(attempt);
    const offeredBy = this.#offered.get(epoch);
    if (offeredBy === undefined) return `${name} was offered too long ago, so it did not run. Ask for it again.`;
    return denialOfCall({ ...attempt, offeredBy });
  }

  /** Flips the mode, here and in every child that is open. Twice is once; durable when it resolves. */
  async setMode(mode: Mode, reason = `${mode} mode was asked for`): Promise<CatalogState> {
    if (mode === "act" && this.#parent?.mode === "plan") throw new HoldfastError("MODE_INHERITED", { mode: "plan" });
    await this.change({ mode }, reason);
    if (mode === "plan")
      for (const child of this.#children) await child.setMode("plan", "the parent session is in plan mode");
    return this.state;
  }

  /** Whether there is somebody to ask. */
  async setRequestUserInput(
    enabled: boolean,
    reason = enabled ? "the user can be asked" : "nobody can be asked",
  ): Promise<void> {
    this.#asksSaid = true;
    await this.change({ requestUserInputEnabled: enabled }, reason);
  }

  /** Offers further tools, or others under the same names. Calls of the running request keep what it offered. */
  async add(tools: readonly Tool[], reason = "tools were added"): Promise<void> {
    this.#transactions.add(tools);
    await this.sync(reason);
  }

  async remove(names: readonly string[], reason = "tools were removed"): Promise<void> {
    this.#transactions.remove(names);
    await this.sync(reason);
  }

  /** Writes down which tools there are, if that is not what the journal says. */
  sync(reason = "the session was opened with these tools"): Promise<void> {
    const tools = hashTools(this.#transactions.tools.map(asOffered));
    const asks = this.#asksSaid ? {} : { requestUserInputEnabled: this.#transactions.tool(ASK_USER) !== undefined };
    return this.change({ tools, ...asks }, reason);
  }

  async change(change: CatalogChange, reason: string): Promise<void> {
    // Looked at without waiting first: nearly always there is nothing to do.
    if (changeCatalog(this.#home.state, change, reason) === this.#home.state) return;
    await this.#home.change((now) => {
      const to = changeCatalog(now, change, reason);
      return { to, drafts: this.draftsOf(now, to) };
    });
  }

  /** What the journal is told of a change. */
  draftsOf(now: CatalogState, to: CatalogState): readonly RecordDraft[] {
    if (now === to) return [];
    const { version, epoch, reason, requestUserInputEnabled } = to;
    const snapshot = snapshotCatalog(to, this.#transactions.tools.map(asOffered));
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
    return now.mode === to.mode ? [changed] : [{ kind: "mode-changed", mode: to.mode }, changed];
  }

  /** A session that is closed no longer follows its parent. */
  leave(): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
  }
}

const reaching = new WeakMap<Tool, CatalogTool>();

/** A tool that declares effects outside reaches there, whatever it says of its access. */
function asOffered(tool: Tool): CatalogTool {
  if (tool.access !== "read" || Object.keys(tool.effects).length === 0) return tool;
  const known = reaching.get(tool) ?? { ...tool, access: "external" };
  reaching.set(tool, known);
  return known;
}

function sameState(a: CatalogState, b: CatalogState): boolean {
  return a === b || (a.epoch === b.epoch && a.mode === b.mode);
}

function sameTools(a: readonly Tool[], b: readonly Tool[]): boolean {
  return a.length === b.length && a.every((tool, index) => tool === b[index]);
}
