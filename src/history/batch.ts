import { type CallItem, type OutputItem, SPACE, type ToolCallId } from "../wire/item.ts";

/** Above this many calls a batch keeps a table of its ids: comparing each output with each call would be quadratic. */
const SMALL = 16;

/**
 * The calls of one model answer and the outputs that directly follow it. A thousand parallel calls are one batch;
 * so are the two of the usual case, which is why small ones are compared in place and allocate nothing.
 */
export class Batch {
  /** Index of the first item of the answer. */
  start = 0;
  /** Index of the last item of the answer; outputs belong directly after it. */
  lastModel = 0;
  /** Where each call stands, in call order. */
  readonly calls: number[] = [];
  readonly items: CallItem[] = [];
  /** Per call: where its answer stands, or -1. */
  readonly answers: number[] = [];
  /** Outputs that stand directly after the answer, in their order, and the call (by ordinal) each one answers. */
  readonly zone: number[] = [];
  readonly zoneOf: number[] = [];
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
  #peaks: number[] = [];
  #ends: number[] = [];
  #endsFor = -1;

  add(index: number, call: CallItem): void {
    this.calls.push(index);
    this.items.push(call);
    this.answers.push(-1);
    this.open += 1;
    this.#queues = undefined;
  }

  /** The first unanswered call this output may answer, by ordinal, or -1. */
  match(output: OutputItem): number {
    const { items, answers } = this;
    if (items.length > SMALL) return this.#lookUp(output);
    // Outputs mostly come in call order, so the next unanswered call is mostly the one.
    for (let step = 0; step < items.length; step += 1) {
      const at = this.twins ? step : (this.#cursor + step) % items.length;
      if (answers[at] === -1 && answersTo(items[at] as CallItem, output)) return at;
    }
    return -1;
  }

  answer(ordinal: number, output: number): void {
    if (this.answers[ordinal] === -1) this.open -= 1;
    this.answers[ordinal] = output;
    this.#cursor = ordinal + 1 < this.items.length ? ordinal + 1 : 0;
  }

  /** Where an output of this call belongs among those already there: in call order, moving none of them. */
  placeOf(ordinal: number): number {
    const { zone, zoneOf } = this;
    if (zone.length === 0) return this.#runEnd(ordinal);
    // The first output of a later call is where the running maximum first passes this one.
    for (let at = this.#peaks.length; at < zoneOf.length; at += 1) {
      this.#peaks.push(Math.max(zoneOf[at] as number, this.#peaks[at - 1] ?? -1));
    }
    const later = firstAbove(this.#peaks, ordinal);
    return later === zone.length ? (zone.at(-1) as number) + 1 : (zone[later] as number);
  }

  /**
   * Where outputs go when none is there yet: after the answer. A format without messages does not say where an answer
   * ends, so there they go after the last neighbouring call of the same kind.
   */
  #runEnd(ordinal: number): number {
    const { calls, items } = this;
    if (this.#ends.length !== items.length || this.#endsFor !== this.lastModel) {
      this.#endsFor = this.lastModel;
      this.#ends = items.map(() => 0);
      let end = this.lastModel + 1;
      for (let at = items.length - 1; at >= 0; at -= 1) {
        const next = items[at + 1];
        const apart = next?.callKind !== items[at]?.callKind || calls[at + 1] !== (calls[at] as number) + 1;
        if (next !== undefined && next.step === undefined && apart && this.asks === 0) end = (calls[at] as number) + 1;
        this.#ends[at] = end;
      }
    }
    return this.#ends[ordinal] as number;
  }

  /** The call that an approval request at this position speaks of: the last one before it with that id. */
  askedBy(request: number, callId: ToolCallId | undefined): number | undefined {
    const ordinal = this.items.findLastIndex(
      (item, at) => item.callId === callId && (this.calls[at] as number) < request,
    );
    return this.calls[ordinal];
  }

  /** Which call of the batch stands at this position. */
  ordinalOf(position: number): number {
    return firstAbove(this.calls, position - 1);
  }

  /** Ready for the next answer, keeping its arrays: a long history has a batch for every few items. */
  reset(start: number): void {
    this.start = start;
    this.lastModel = start;
    this.open = 0;
    this.twins = false;
    this.asks = 0;
    this.#cursor = 0;
    if (this.calls.length === 0) return;
    this.calls.length = 0;
    this.items.length = 0;
    this.answers.length = 0;
    this.zone.length = 0;
    this.zoneOf.length = 0;
    this.#queues = undefined;
    this.#peaks.length = 0;
    this.#ends.length = 0;
  }

  #lookUp(output: OutputItem): number {
    const { items, answers } = this;
    const next = this.#cursor;
    if (!this.twins && answers[next] === -1 && answersTo(items[next] as CallItem, output)) return next;
    this.#queues ??= this.#makeQueues();
    const queue = this.#queues.get(queueKey(output));
    while (queue !== undefined && queue.length > 0) {
      const at = queue[queue.length - 1] as number;
      if (answers[at] === -1) return at;
      queue.pop();
    }
    return -1;
  }

  #makeQueues(): Map<string, number[]> {
    const queues = new Map<string, number[]>();
    for (let at = this.items.length - 1; at >= 0; at -= 1) {
      const item = this.items[at] as CallItem;
      if (item.callId === undefined || item.callId === "") continue;
      const queue = queues.get(queueKey(item));
      if (queue === undefined) queues.set(queueKey(item), [at]);
      else queue.push(at);
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
    SPACE[call.callKind] === SPACE[output.callKind] &&
    (call.server === true) === (output.server === true)
  );
}

function queueKey(item: CallItem | OutputItem): string {
  return `${SPACE[item.callKind]}${item.server === true ? "s" : "c"}${item.callId}`;
}

/** Where rising numbers first pass a value. */
function firstAbove(rising: readonly number[], value: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rising[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
