import { HoldfastError } from "../base/errors.ts";
import {
  type ApprovalAnswerItem,
  type ApprovalRequestItem,
  type AssistantItem,
  type CallItem,
  type Item,
  type OutputItem,
  type ReasoningItem,
  spaceOf,
  type ToolCallId,
} from "../wire/item.ts";
import { Batch } from "./batch.ts";
import type { Bond, FaultKind } from "./faults.ts";

/** A fault as the scan sees it: positions only. `resolve.ts` gives it names, `plan.ts` decides what to do. */
export interface Finding {
  readonly kind: FaultKind;
  readonly at: number;
  /** Where the call stands. */
  readonly call?: number;
  /** The output that is kept, or that goes with the call. */
  readonly output?: number;
  readonly batch?: Batch;
  readonly ordinal?: number;
  readonly bond?: Bond;
  /** A real result that came after its call had been answered for good. */
  readonly late?: boolean;
}

interface OpenRequest {
  readonly at: number;
  readonly callId: ToolCallId | undefined;
  readonly batch: Batch;
}

/** Where the scan stands: after a host's item, inside a model's answer, or among the outputs that follow it. */
type Phase = "host" | "answer" | "outputs";

/**
 * One linear pass that pairs calls with outputs, one to one, in order, per kind. It can be fed item by item, so an
 * index kept at append costs what is new. The common case compares an output with the calls right before it; only a
 * call's id enters a table, because a repeated id is a fault that no local look can see.
 */
export class PairScan {
  count = 0;
  last: Item | undefined;
  /** Unanswered calls of answers that are over, by position. A later output may still reach them, displaced. */
  readonly open = new Map<number, Batch>();
  /** Outputs no earlier call asked for: orphans, unless a call of the same turn follows them. */
  readonly strays = new Map<number, OutputItem>();
  /** Faults that nothing appended later can mend. */
  readonly settled: Finding[] = [];
  /** Calls whose answer is synthetic or interrupted, and where it stands: a real output replaces it. */
  readonly weak = new Map<number, number>();
  /** Calls whose synthetic output a provider has read: it stays, and a result that comes later is told as news. */
  readonly frozen = new Set<number>();
  /** Calls cut mid-stream that somebody answered with a stopgap: nothing ran, so both go. */
  readonly forged = new Map<number, Finding>();
  /** Where the user's turns begin. */
  readonly turns: number[] = [];
  readonly unpairable: number[] = [];
  readonly unknownStatuses: number[] = [];
  /** Approval requests nobody has answered. */
  readonly requests = new Map<string, OpenRequest>();
  /** Calls that somebody consented to, by position. */
  readonly approved = new Set<number>();
  /** Calls that somebody refused, by position, with the reason where one was given: they never ran. */
  readonly denied = new Map<number, string | undefined>();
  readonly newest: readonly Map<ToolCallId, number>[] = Array.from({ length: 6 }, () => new Map());
  batch = new Batch();
  /** Reasoning that waits for the item it belongs to. */
  pending: number[] = [];
  #reasoningIds: string[] = [];
  readonly #serverCalls = new Map<ToolCallId, number>();
  /** Requests of no call that somebody has answered. */
  readonly #consented = new Set<string>();
  #phase: Phase = "host";
  /** The last item of an answer that is not a thought. */
  #solid = -1;
  #step: number | string | undefined;
  readonly #tools: ReadonlySet<string> | undefined;

  constructor(tools?: ReadonlySet<string>) {
    this.#tools = tools;
  }

  /** Takes every item from where it stopped. */
  read(items: readonly Item[]): void {
    if (!Array.isArray(items)) throw noItem(undefined, "not an array");
    for (let at = this.count; at < items.length; at += 1) this.#take(items[at] as Item, at);
    this.count = items.length;
    this.last = items[items.length - 1];
  }

  /** True when nothing is wrong and nothing is open, in constant time. */
  get clean(): boolean {
    return (
      this.batch.open === 0 &&
      this.open.size === 0 &&
      this.strays.size === 0 &&
      this.settled.length === 0 &&
      this.forged.size === 0 &&
      this.pending.length === 0 &&
      this.requests.size === 0
    );
  }

  #take(item: Item, at: number): void {
    switch (item?.kind) {
      case "call":
        return this.#call(item, at);
      case "output":
        return this.#output(item, at);
      case "user":
        if (item.notice === undefined) this.turns.push(at);
        return this.#host();
      case "system":
        return this.#host();
      case "assistant":
        this.#model(item, at);
        return this.#follows(item, at);
      case "reasoning":
        return this.#reasoning(item, at);
      case "approval-request":
        return this.#request(item, at);
      case "approval-answer":
        return this.#approval(item, at);
      case "other":
        if (item.by === "host") return this.#host();
        this.#model(item, at);
        this.pending.length = 0;
        return;
      default:
        item satisfies never;
        throw noItem(at, "no item of Holdfast's; a provider's messages are for repairMessages");
    }
  }

  #call(call: CallItem, at: number): void {
    this.#model(call, at);
    this.#follows(call, at);
    const { batch } = this;
    if (call.server === true) {
      if (call.callId !== undefined && call.callId !== "") this.#serverCalls.set(call.callId, at);
      return batch.add(at, call);
    }
    if (call.callId === undefined && call.callKind === "shell") {
      this.unpairable.push(at);
      return;
    }
    const ordinal = batch.size;
    batch.add(at, call);
    if (this.#tools !== undefined && !this.#tools.has(call.name)) this.#blame("unknown-tool", at, ordinal);
    if (call.callId === undefined || call.callId === "") return this.#blame("invalid-id", at, ordinal);
    const newest = this.newest[spaceOf(call.callKind)] as Map<ToolCallId, number>;
    const before = newest.size;
    newest.set(call.callId, at);
    if (newest.size !== before) return;
    batch.twins = true;
    this.#blame("duplicate-call-id", at, ordinal);
  }

  #output(output: OutputItem, at: number): void {
    if (output.statusText !== undefined) this.unknownStatuses.push(at);
    if (output.server === true) return this.#serverOutput(output, at);
    if (output.callId === undefined && output.name !== undefined) return this.#host(); // an external event stands alone
    if (output.callId === undefined || output.callId === "") {
      this.settled.push({ kind: "invalid-id", at });
      return;
    }
    const { batch } = this;
    const ordinal = this.#phase === "host" ? -1 : batch.match(output);
    if (ordinal === -1) return this.#astray(output, at);
    this.#beginOutputs();
    batch.answer(ordinal, at);
    batch.lastOutput = at;
    this.#answered(batch, ordinal, output, at);
  }

  /** An output that does not directly follow its call: late, repeated, or nobody's. */
  #astray(output: OutputItem, at: number): void {
    const call = (this.newest[spaceOf(output.callKind)] as Map<ToolCallId, number>).get(output.callId as ToolCallId);
    if (call === undefined) {
      this.strays.set(at, output);
      return;
    }
    const batch = this.open.get(call);
    const ordinal = batch?.match(output) ?? -1;
    if (batch !== undefined && ordinal !== -1) {
      const position = batch.calls[ordinal] as number;
      batch.answer(ordinal, at);
      this.open.delete(position);
      this.settled.push({ kind: "displaced-output", at, call: position, batch, ordinal });
      return this.#answered(batch, ordinal, output, at);
    }
    const weak = this.weak.get(call);
    if (weak === undefined || output.synthetic === true || isWeak(output)) {
      const late = this.frozen.has(call) && output.synthetic !== true;
      this.settled.push({ kind: "duplicate-output", at, call, ...(late ? { late } : {}) });
      return;
    }
    this.weak.delete(call);
    this.forged.delete(call);
    this.settled.push({ kind: "duplicate-output", at: weak, call, output: at });
  }

  #answered(batch: Batch, ordinal: number, output: OutputItem, at: number): void {
    const call = batch.items[ordinal] as CallItem;
    const position = batch.calls[ordinal] as number;
    if (output.name !== undefined && output.name !== call.name) {
      this.settled.push({ kind: "wrong-name", at, call: position });
    }
    if (output.frozen === true) this.frozen.add(position);
    if (!isWeak(output)) return;
    this.weak.set(position, at);
    if (call.partial !== true) return;
    batch.kept = true;
    this.forged.set(position, { kind: "partial-call", at: position, output: at, batch, ordinal });
  }

  /** What a provider ran itself stands in its own answer, or in a later one when the tool took longer. */
  #serverOutput(output: OutputItem, at: number): void {
    this.#model(output, at);
    const ordinal = this.batch.match(output);
    if (ordinal !== -1) return this.batch.answer(ordinal, at);
    const call = this.#serverCalls.get(output.callId as ToolCallId);
    const late = call === undefined ? undefined : this.open.get(call);
    if (call !== undefined && late !== undefined) {
      late.answer(late.ordinalOf(call), at);
      this.open.delete(call);
    } else if (call === undefined && output.callKind !== "search") this.settled.push({ kind: "orphan-output", at });
  }

  #reasoning(item: ReasoningItem, at: number): void {
    this.#model(item, at);
    if (item.signature === "") {
      this.settled.push({ kind: "broken-bond", at, bond: "signature" });
      return;
    }
    if (item.id !== undefined) this.#reasoningIds.push(item.id);
    this.pending.push(at);
  }

  #follows(item: CallItem | AssistantItem, at: number): void {
    if (this.pending.length > 0) this.pending.length = 0;
    if (item.reasoningId === undefined || this.#reasoningIds.includes(item.reasoningId)) return;
    this.settled.push({ kind: "broken-bond", at, bond: "reasoning" });
  }

  #request(item: ApprovalRequestItem, at: number): void {
    const solid = this.#solid;
    this.#model(item, at);
    this.batch.asks += 1;
    // A request that speaks of no call of its answer asks for nothing; the answer to it is then loose as well.
    if (item.callId !== undefined && this.batch.askedBy(at, item.callId) === undefined) {
      this.#solid = solid;
      this.settled.push({ kind: "broken-bond", at, bond: "approval" });
      return;
    }
    // The id is taken: sent without one, as the provider has it, the request could be answered by nobody.
    if (item.callId === undefined && this.#consented.has(item.approvalId)) {
      this.#solid = solid;
      this.batch.kept = true;
      this.settled.push({ kind: "broken-bond", at, bond: "approval", batch: this.batch });
      return;
    }
    this.#askAgain(item.approvalId);
    this.requests.set(item.approvalId, { at, callId: item.callId, batch: this.batch });
    // A call that the provider runs once it may is its own request: the thought before it led to it.
    if (item.callId !== undefined) return;
    this.pending.length = 0;
    this.batch.kept = true;
  }

  /** Two requests share an id: nobody can answer the earlier one any more. */
  #askAgain(approvalId: string): void {
    const earlier = this.requests.get(approvalId);
    if (earlier === undefined || earlier.callId !== undefined) return;
    this.settled.push({ kind: "broken-bond", at: earlier.at, bond: "approval", batch: earlier.batch });
  }

  /** A consent counts where outputs would: after the answer that asked for it, before anything else was said. */
  #approval(item: ApprovalAnswerItem, at: number): void {
    const request = this.requests.get(item.approvalId);
    if (request === undefined || this.#phase === "host" || request.at < this.batch.start) {
      this.settled.push({ kind: "broken-bond", at, bond: "approval" });
      return;
    }
    this.requests.delete(item.approvalId);
    if (request.callId === undefined) this.#consented.add(item.approvalId);
    const call = this.batch.askedBy(request.at, request.callId);
    if (call !== undefined && item.approved) this.approved.add(call);
    else if (call !== undefined) this.denied.set(call, item.reason);
    this.#beginOutputs();
  }

  #model(item: Item, at: number): void {
    if (this.#phase !== "answer" || item.step !== this.#step) {
      const start = this.#phase === "answer" && this.pending.length > 0 ? this.#thoughtBefore(at) : at;
      if (start < at) this.batch.lastModel = start - 1;
      this.#close();
      this.batch.reset(start);
      if (this.#phase !== "answer" && this.#reasoningIds.length > 0) this.#reasoningIds = [];
      this.#phase = "answer";
      this.#step = item.step;
    }
    this.batch.lastModel = at;
    if (item.kind !== "reasoning") this.#solid = at;
  }

  /**
   * Where an answer begins whose thought was read in the answer before: outputs of that one go before the thought. A
   * thought with something after it in its own answer, if only a request for consent, has led to nothing.
   */
  #thoughtBefore(at: number): number {
    const thought = this.pending.find((other) => other > this.#solid);
    this.#dropPending((other) => other < this.#solid);
    return thought ?? at;
  }

  #beginOutputs(): void {
    if (this.#phase !== "answer") return;
    this.#phase = "outputs";
    this.#dropPending();
  }

  #host(): void {
    this.#close();
    this.batch.reset(this.count);
    this.#dropPending();
    this.#phase = "host";
  }

  /** The answer is over: what it left unanswered stays open, and its batch with it. */
  #close(): void {
    const { batch } = this;
    if (batch.open === 0 && !batch.kept) return;
    for (let ordinal = 0; ordinal < batch.size; ordinal += 1) {
      if (batch.answers[ordinal] === -1) this.open.set(batch.calls[ordinal] as number, batch);
    }
    this.batch = new Batch();
  }

  /** Reasoning that nothing followed. */
  #dropPending(which: (at: number) => boolean = () => true): void {
    if (this.pending.length === 0) return;
    for (const at of this.pending) if (which(at)) this.settled.push({ kind: "broken-bond", at, bond: "reasoning" });
    this.pending = this.pending.filter((at) => !which(at));
  }

  #blame(kind: FaultKind, at: number, ordinal: number): void {
    const { batch } = this;
    batch.kept = true;
    this.settled.push({ kind, at, call: at, batch, ordinal });
  }
}

/** Made by repair, or cut off: it holds no result that a real one could cost us. What a provider has read is kept. */
export function isWeak(output: OutputItem): boolean {
  return output.frozen !== true && (output.synthetic === true || output.reason === "interrupted");
}

/** Named by its place: a switch that falls through names neither. */
function noItem(at: number | undefined, why: string): HoldfastError {
  return new HoldfastError("MESSAGES_UNREADABLE", {
    format: "Holdfast's items",
    ...(at === undefined ? {} : { at }),
    why,
  });
}
