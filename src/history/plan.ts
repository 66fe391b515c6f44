import { appendTo } from "../base/append-to.ts";
import { deniedWords } from "../wire/denial.ts";
import type { ApprovalRequestItem, CallItem, Item, OutputItem, ToolCallId } from "../wire/item.ts";
import { unreachable } from "../base/unreachable.ts";
import type { Batch } from "./batch.ts";
import { MadeItems } from "./made-items.ts";
import type { Resolved } from "./resolve.ts";
import { derivedCallId, goneNote, lateNote, syntheticOutput } from "./synthetic.ts";

/** What repair did about a fault. */
export type RepairAction = "answered" | "left-out" | "moved" | "renamed" | "corrected" | "detached" | "noted";

export interface Decision {
  readonly finding: Resolved;
  readonly action: RepairAction;
  /** What now stands in the projection because of it. */
  readonly item?: Item;
}

/** The edits of one repair, by position in the history that they were planned for. */
export interface Plan {
  readonly drops: ReadonlySet<number>;
  readonly replacements: ReadonlyMap<number, Item>;
  /** Items to insert before a position, in order. */
  readonly insertions: ReadonlyMap<number, readonly Item[]>;
  /** Notes to insert near a position, after the outputs around it: between two outputs a note would split a batch. */
  readonly notes: ReadonlyMap<number, readonly Item[]>;
  readonly decisions: readonly Decision[];
  /** Calls that are sent under another id than the one they had. */
  readonly renamed: ReadonlyMap<number, ToolCallId>;
}

interface Placed {
  readonly before: number;
  readonly ordinal: number;
  readonly item: Item;
}

/** Decides every fault, once, the same for all providers. `made`: what earlier repairs of this log made, to be used again. */
export function planRepair(items: readonly Item[], found: readonly Resolved[], made = new MadeItems()): Plan {
  const planner = new Planner(items, made);
  planner.prepare(found);
  // Whole pairs go first: nothing may be moved next to a call that leaves.
  for (const finding of found) if (finding.kind === "unknown-tool") planner.decide(finding);
  for (const finding of found) if (finding.kind !== "unknown-tool") planner.decide(finding);
  planner.keepBonds();
  return planner.plan();
}

class Planner {
  readonly #items: readonly Item[];
  readonly #made: MadeItems;
  readonly #drops = new Set<number>();
  readonly #replacements = new Map<number, Item>();
  readonly #placed: Placed[] = [];
  readonly #notes = new Map<number, Item[]>();
  readonly #decisions: Decision[] = [];
  readonly #renamed = new Map<number, ToolCallId>();
  /** Calls whose output stands before them, and where. */
  readonly #early = new Map<number, number>();
  /** Calls that were denied, and why. */
  readonly #denied = new Map<number, string | undefined>();
  /** Stopgaps that a real output replaces, and where that stands. */
  readonly #better = new Map<number, number>();
  /** Answers that lost a call: their reasoning may have lost what it belonged to. */
  readonly #torn = new Set<Batch>();
  readonly #approvals = new Map<Batch, Approvals>();

  constructor(items: readonly Item[], made: MadeItems) {
    this.#items = items;
    this.#made = made;
  }

  /** Ids first: whatever moves or is made afterwards is written under the id its call is sent with. */
  prepare(found: readonly Resolved[]): void {
    const uses = new Map<string, number>();
    let taken: Set<ToolCallId | undefined> | undefined; // most histories have nothing to rename
    for (const { kind, at, call, output, reason, because } of found) {
      if (reason === "denied") this.#denied.set(at, because);
      if (kind === "output-before-call") this.#early.set(call as number, at);
      if (kind === "duplicate-output" && output !== undefined) this.#better.set(at, output);
      const item = this.#items[at] as Item;
      if ((kind !== "duplicate-call-id" && kind !== "invalid-id") || item.kind !== "call") continue;
      const key = `${item.callKind} ${item.callId ?? ""} ${item.callId ? "" : item.name}`;
      taken ??= new Set(this.#items.map((one) => (one.kind === "call" ? one.callId : undefined)));
      let nth = (uses.get(key) ?? 0) + 1;
      // What was repaired before and written down has such an id already.
      while (taken.has(derivedCallId(item, nth))) nth += 1;
      uses.set(key, nth);
      this.#renamed.set(at, derivedCallId(item, nth));
    }
  }

  decide(finding: Resolved): void {
    switch (finding.kind) {
      case "missing-output":
        return this.#missing(finding);
      case "orphan-output":
        return this.#leaveOut(finding);
      case "duplicate-output":
        return this.#duplicate(finding);
      case "output-before-call":
      case "displaced-output":
        return this.#displaced(finding);
      case "duplicate-call-id":
        return this.#rename(finding);
      case "invalid-id":
        return this.#items[finding.at]?.kind === "call" ? this.#rename(finding) : this.#leaveOut(finding);
      case "wrong-name":
        return this.#correct(finding);
      case "partial-call":
        return this.#remove(finding);
      case "broken-bond":
        return this.#unbind(finding);
      case "unknown-tool":
        return this.#note(finding);
      default:
        return unreachable(finding.kind);
    }
  }

  /** A thought goes with the last thing it led to; an approval with its call. */
  keepBonds(): void {
    for (const batch of this.#torn) {
      let followed = false;
      for (let at = batch.lastModel; at >= batch.start; at -= 1) {
        const item = this.#items[at] as Item;
        if (this.#drops.has(at)) continue;
        if (item.kind === "reasoning" && !followed) this.#leaveOut({ kind: "broken-bond", at, bond: "reasoning" });
        else if (item.kind === "approval-request" && this.#isGone(batch.askedBy(at, item.callId))) {
          this.#unask(batch, item.approvalId, at);
        } else if (leadsFrom(item)) followed = true;
      }
    }
  }

  #isGone(call: number | undefined): boolean {
    return call !== undefined && this.#drops.has(call);
  }

  #unask(batch: Batch, approvalId: string, request: number): void {
    this.#leaveOut({ kind: "broken-bond", at: request, bond: "approval" });
    const answer = this.#approvalsOf(batch).answers.get(approvalId);
    if (answer !== undefined) this.#leaveOut({ kind: "broken-bond", at: answer, bond: "approval" });
  }

  #approvalsOf(batch: Batch): Approvals {
    let approvals = this.#approvals.get(batch);
    if (approvals === undefined) this.#approvals.set(batch, (approvals = approvalsOf(this.#items, batch)));
    return approvals;
  }

  plan(): Plan {
    return {
      drops: this.#drops,
      replacements: this.#replacements,
      insertions: inOrder(this.#placed),
      notes: this.#notes,
      decisions: this.#decisions,
      renamed: this.#renamed,
    };
  }

  #missing(finding: Resolved): void {
    const call = this.#callOf(finding);
    if (call.server === true) return this.#remove(finding); // only the provider could have answered it
    if (this.#drops.has(finding.at)) return this.#decided(finding, "left-out"); // noted as a tool that is gone
    const end = {
      status: finding.status ?? "canceled",
      reason: finding.reason ?? "interrupted",
      ...(finding.because === undefined ? {} : { because: finding.because }),
      ...this.#sentAs(finding.at),
    } as const;
    const output = this.#made.once(call, `answered ${JSON.stringify(end)}`, () => syntheticOutput(call, end));
    this.#place(finding, output);
    this.#decided(finding, "answered", output);
  }

  #displaced(finding: Resolved): void {
    const position = finding.call as number;
    this.#drops.add(finding.at);
    if (this.#drops.has(position)) return this.#decided(finding, "left-out");
    const moved = this.#fit(this.#items[this.#better.get(finding.at) ?? finding.at] as OutputItem, position);
    this.#place(finding, moved);
    this.#decided(finding, "moved", moved);
  }

  #duplicate(finding: Resolved): void {
    if (finding.late === true) return this.#tellLate(finding);
    if (finding.output === undefined) return this.#leaveOut(finding);
    this.#drops.add(finding.output);
    const kept = this.#fit(this.#items[finding.output] as OutputItem, finding.call as number);
    if (this.#drops.has(finding.at)) return this.#decided(finding, "moved", kept); // its place was elsewhere, too
    this.#replacements.set(finding.at, kept);
    this.#decided(finding, "moved", kept);
  }

  /** The stopgap was read: changing it would rewrite a prefix the provider has cached. The result is told as news. */
  #tellLate(finding: Resolved): void {
    const call = this.#callOf(finding);
    const output = this.#items[finding.at] as OutputItem;
    const note = this.#made.once(output, "late", () => lateNote(call, output), call);
    this.#drops.add(finding.at);
    appendTo(this.#notes, finding.at, note);
    this.#decided(finding, "noted", note);
  }

  #rename(finding: Resolved): void {
    const call = this.#callOf(finding);
    const callId = this.#renamed.get(finding.at) as ToolCallId;
    if (this.#drops.has(finding.at)) return this.#decided(finding, "left-out");
    const renamed = this.#made.once(call, `renamed ${callId}`, (): CallItem => ({ ...call, callId }));
    this.#replacements.set(finding.at, renamed);
    const answer = finding.batch?.answers[finding.ordinal as number] ?? -1;
    if (answer !== -1 && !this.#drops.has(answer)) this.#refit(answer, finding.at);
    if (finding.batch !== undefined && finding.batch.asks > 0) this.#renameAsked(finding.batch, finding.at, callId);
    this.#decided(finding, "renamed", renamed);
  }

  #renameAsked(batch: Batch, call: number, callId: ToolCallId): void {
    for (const at of this.#approvalsOf(batch).requests.get(call) ?? []) {
      const request = this.#items[at] as ApprovalRequestItem;
      const renamed = this.#made.once(request, `asked ${callId}`, (): ApprovalRequestItem => ({ ...request, callId }));
      this.#replacements.set(at, renamed);
    }
  }

  #correct(finding: Resolved): void {
    // A moved or left-out output was fitted, or went, where that was decided.
    if (!this.#drops.has(finding.at)) this.#refit(finding.at, finding.call as number);
    this.#decided(finding, "corrected", this.#replacements.get(finding.at));
  }

  /** A call that never ran, or that only the provider could answer, goes with whatever stopgap it was given. */
  #remove(finding: Resolved): void {
    this.#drops.add(finding.at);
    if (finding.output !== undefined) this.#drops.add(finding.output);
    if (finding.batch !== undefined) this.#torn.add(finding.batch);
    this.#decided(finding, "left-out");
  }

  #unbind(finding: Resolved): void {
    const item = this.#items[finding.at] as Item;
    if (finding.batch !== undefined) this.#torn.add(finding.batch);
    if (item.kind !== "call" && item.kind !== "assistant") return this.#leaveOut(finding);
    // The provider asks for the thought by the item's id; without the id it takes the item as new.
    const bound = this.#now(finding.at);
    const free = this.#made.once(bound, "detached", () => detached(bound));
    this.#replacements.set(finding.at, free);
    this.#decided(finding, "detached", free);
  }

  #note(finding: Resolved): void {
    const batch = finding.batch as Batch;
    const answer = this.#early.get(finding.at) ?? batch.answers[finding.ordinal as number] ?? -1;
    const output = answer === -1 ? undefined : (this.#items[answer] as OutputItem);
    this.#drops.add(finding.at);
    if (answer !== -1) this.#drops.add(answer);
    this.#torn.add(batch);
    const denial = this.#denied.has(finding.at) ? deniedWords(this.#denied.get(finding.at)) : undefined;
    const call = this.#callOf(finding);
    const note = this.#made.once(call, `gone ${denial ?? ""}`, () => goneNote(call, output, denial), output);
    appendTo(this.#notes, Math.max(answer, batch.lastModel), note);
    this.#decided(finding, "noted", note);
  }

  #leaveOut(finding: Resolved): void {
    this.#drops.add(finding.at);
    this.#decided(finding, "left-out");
  }

  #decided(finding: Resolved, action: RepairAction, item?: Item): void {
    this.#decisions.push(item === undefined ? { finding, action } : { finding, action, item });
  }

  #callOf(finding: Resolved): CallItem {
    return this.#items[finding.call ?? finding.at] as CallItem;
  }

  #sentAs(call: number): { readonly callId?: ToolCallId } {
    const callId = this.#renamed.get(call);
    return callId === undefined ? {} : { callId };
  }

  #now(at: number): Item {
    return this.#replacements.get(at) ?? (this.#items[at] as Item);
  }

  #refit(output: number, call: number): void {
    const before = this.#now(output) as OutputItem;
    const after = this.#fit(before, call);
    if (after !== before) this.#replacements.set(output, after);
  }

  /** The output as its call is sent: same id, same name. */
  #fit(output: OutputItem, position: number): OutputItem {
    const call = this.#items[position] as CallItem;
    const callId = this.#renamed.get(position) ?? call.callId;
    const name = output.name === undefined ? undefined : call.name;
    if (output.callId === callId && output.name === name) return output;
    const fitted = { ...(callId === undefined ? {} : { callId }), ...(name === undefined ? {} : { name }) };
    return this.#made.once(output, `fitted ${JSON.stringify(fitted)}`, (): OutputItem => ({ ...output, ...fitted }));
  }

  /** Among the outputs of its answer, in call order, without moving one that already stands there. */
  #place({ batch, ordinal = 0 }: Resolved, item: Item): void {
    this.#placed.push({ before: (batch as Batch).placeOf(ordinal), ordinal, item });
  }
}

/** Whether a thought may have led to it: to a request of a call it did with the call, and a result came from elsewhere. */
function leadsFrom(item: Item): boolean {
  return item.kind === "approval-request" ? item.callId === undefined : item.kind !== "output";
}

function detached(item: Item): Item {
  const { id: _id, reasoningId: _reasoningId, ...free } = item as CallItem;
  return free;
}

/** The approvals an answer asks for. */
interface Approvals {
  /** By the position of the call they speak of. */
  readonly requests: ReadonlyMap<number, readonly number[]>;
  /** Where the consent to each stands. */
  readonly answers: ReadonlyMap<string, number>;
}

/** Read once for an answer: looked for again at each of its calls they would cost their square. */
function approvalsOf(items: readonly Item[], batch: Batch): Approvals {
  const requests = new Map<number, number[]>();
  const answers = new Map<string, number>();
  for (let at = batch.start; at <= batch.lastModel; at += 1) {
    const item = items[at] as Item;
    const call = item.kind === "approval-request" ? batch.askedBy(at, item.callId) : undefined;
    if (call !== undefined) appendTo(requests, call, at);
  }
  for (let at = batch.lastModel + 1; at < items.length; at += 1) {
    const item = items[at] as Item;
    if (item.kind !== "output" && item.kind !== "approval-answer") break;
    if (item.kind === "approval-answer" && !answers.has(item.approvalId)) answers.set(item.approvalId, at);
  }
  return { requests, answers };
}

function inOrder(placed: readonly Placed[]): ReadonlyMap<number, readonly Item[]> {
  const insertions = new Map<number, Item[]>();
  const sorted = placed.toSorted((a, b) => a.before - b.before || a.ordinal - b.ordinal);
  for (const { before, item } of sorted) appendTo(insertions, before, item);
  return insertions;
}
