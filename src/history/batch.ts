import { appendTo } from "../base/append-to.ts";
import { firstWhere } from "../base/first-where.ts";
import { type CallItem, type OutputItem, spaceOf, type ToolCallId } from "../wire/item.ts";
import { Placement } from "./placement.ts";

/** Above this many calls a batch keeps a table of its ids: comparing each output with each call would be quadratic. */
const SMALL = 16;

/**
 * The calls of one model answer and the outputs that directly follow it. A long history has a batch for every few
 * items, so one is used again and again: its lists only grow, and `size` says how much of them counts.
 */
export class Batch {
  /** Index of the first item of the answer. */
  start = 0;
  /** Index of the last item of the answer; outputs belong directly after it. */
  lastModel = 0;
  /** Index of the last output that directly follows the answer, or -1. */
  lastOutput = -1;
  /** How many calls the answer makes. */
  size = 0;
  /** Where each call stands, in call order. */
  readonly calls: number[] = [];
  readonly items: CallItem[] = [];
  /** Per call: where its answer stands, or -1. */
  readonly answers: number[] = [];
  /** How many calls have no answer yet. */
  open = 0;
  /** How many approvals the answer asks for. */
  asks = 0;
  /** Two calls here may share an id, so the first unanswered one must be looked for from the front. */
  twins = false;
  /** A fault names this batch: it may not be used again for another answer. */
  kept = false;
  #cursor = 0;
  #queues: Map<string, number[]> | undefined;
  #placement: Placement | undefined;
  /** Where the calls of each id stand; made when the first approval is asked for, and kept up from then on. */
  #positions: Map<ToolCallId | undefined, number[]> | undefined;

  add(index: number, call: CallItem): void {
    const ordinal = this.size;
    this.calls[ordinal] = index;
    this.items[ordinal] = call;
    this.answers[ordinal] = -1;
    this.size = ordinal + 1;
    this.open += 1;
    this.#queues = undefined;
    if (this.#positions !== undefined) appendTo(this.#positions, call.callId, index);
  }

  /** The first unanswered call this output may answer, by ordinal, or -1. */
  match(output: OutputItem): number {
    const { size } = this;
    if (size > SMALL) return this.#lookUp(output);
    // Outputs mostly come in call order, so the next unanswered call is mostly the one.
    let at = this.twins ? 0 : this.#cursor;
    for (let step = 0; step < size; step += 1) {
      if (this.answers[at] === -1 && answersTo(this.items[at] as CallItem, output)) return at;
      at = at + 1 < size ? at + 1 : 0;
    }
    return -1;
  }

  answer(ordinal: number, output: number): void {
    if (this.answers[ordinal] === -1) this.open -= 1;
    this.answers[ordinal] = output;
    this.#cursor = ordinal + 1 < this.size ? ordinal + 1 : 0;
  }

  /** Before which item an output of this call belongs. */
  placeOf(ordinal: number): number {
    if (!this.#placement?.isOf(this)) this.#placement = new Placement(this);
    return this.#placement.of(ordinal);
  }

  /** The call that an approval request at this position speaks of: the last one before it with that id. */
  askedBy(request: number, callId: ToolCallId | undefined): number | undefined {
    if (callId === undefined) return undefined;
    this.#positions ??= this.#makePositions();
    const positions = this.#positions.get(callId) ?? [];
    return positions[firstWhere(positions.length, (at) => (positions[at] as number) >= request) - 1];
  }

  /** Which call of the batch stands at this position. */
  ordinalOf(position: number): number {
    return firstWhere(this.size - 1, (ordinal) => (this.calls[ordinal] as number) >= position);
  }

  /** Ready for the next answer. */
  reset(start: number): void {
    this.start = start;
    this.lastModel = start;
    this.lastOutput = -1;
    this.size = 0;
    this.open = 0;
    this.asks = 0;
    this.twins = false;
    this.#cursor = 0;
    this.#queues = undefined;
    this.#placement = undefined;
    this.#positions = undefined;
  }

  #makePositions(): Map<ToolCallId | undefined, number[]> {
    const positions = new Map<ToolCallId | undefined, number[]>();
    for (let at = 0; at < this.size; at += 1) appendTo(positions, this.items[at]?.callId, this.calls[at] as number);
    return positions;
  }

  #lookUp(output: OutputItem): number {
    const next = this.#cursor;
    const inOrder = !this.twins && this.answers[next] === -1 && answersTo(this.items[next] as CallItem, output);
    if (inOrder) return next;
    this.#queues ??= this.#makeQueues();
    const queue = this.#queues.get(queueKey(output));
    while (queue !== undefined && queue.length > 0) {
      const at = queue[queue.length - 1] as number;
      if (this.answers[at] === -1) return at;
      queue.pop();
    }
    return -1;
  }

  /** Per id, the calls that carry it, the first one last. */
  #makeQueues(): Map<string, number[]> {
    const queues = new Map<string, number[]>();
    for (let at = this.size - 1; at >= 0; at -= 1) {
      const item = this.items[at] as CallItem;
      if (item.callId === undefined || item.callId === "") continue;
      appendTo(queues, queueKey(item), at);
    }
    return queues;
  }
}

/** An empty id on both sides joins nothing: two broken halves do not make a pair. */
function answersTo(call: CallItem, output: OutputItem): boolean {
  return (
    call.callId === output.callId &&
    output.callId !== undefined &&
    output.callId !== "" &&
    (call.callKind === output.callKind || spaceOf(call.callKind) === spaceOf(output.callKind)) &&
    (call.server === true) === (output.server === true)
  );
}

function queueKey(item: CallItem | OutputItem): string {
  return `${spaceOf(item.callKind)}${item.server === true ? "s" : "c"}${item.callId}`;
}
