import { firstWhere } from "../base/first-where.ts";
import type { CallItem } from "../wire/item.ts";

/** What placing needs to know of an answer and its outputs; `batch.ts` has it. */
export interface Answered {
  readonly size: number;
  readonly calls: readonly number[];
  readonly items: readonly CallItem[];
  readonly answers: readonly number[];
  readonly lastModel: number;
  readonly lastOutput: number;
  readonly asks: number;
}

/**
 * Where outputs that have to be put among those of an answer belong: in call order, moving none that is already there.
 * Worked out once for a batch, so that a thousand lost calls cost a thousand steps.
 */
export class Placement {
  readonly #size: number;
  readonly #lastModel: number;
  readonly #lastOutput: number;
  /** Outputs that directly follow the answer, in their order. */
  readonly #outputs: readonly number[];
  /** For each of them, the latest call answered so far. */
  readonly #peaks: readonly number[];
  readonly #ends: readonly number[];

  constructor(batch: Answered) {
    this.#size = batch.size;
    this.#lastModel = batch.lastModel;
    this.#lastOutput = batch.lastOutput;
    const there: { readonly at: number; readonly ordinal: number }[] = [];
    for (let ordinal = 0; ordinal < batch.size; ordinal += 1) {
      const at = batch.answers[ordinal] as number;
      if (at !== -1 && at <= batch.lastOutput) there.push({ at, ordinal });
    }
    there.sort((one, other) => one.at - other.at);
    this.#outputs = there.map(({ at }) => at);
    let peak = -1;
    this.#peaks = there.map(({ ordinal }) => (peak = Math.max(peak, ordinal)));
    this.#ends = there.length === 0 ? runEnds(batch) : [];
  }

  /** Whether the batch is still as it was. */
  isOf(batch: Answered): boolean {
    return this.#size === batch.size && this.#lastModel === batch.lastModel && this.#lastOutput === batch.lastOutput;
  }

  of(ordinal: number): number {
    const { length } = this.#outputs;
    if (length === 0) return this.#ends[ordinal] as number;
    const later = firstWhere(this.#peaks.length, (at) => (this.#peaks[at] as number) > ordinal);
    return later === length ? this.#lastOutput + 1 : (this.#outputs[later] as number);
  }
}

/**
 * Where outputs go when none is there yet: after the answer. A format without messages does not say where an answer
 * ends, so there they go after the last neighbouring call of the same kind.
 */
function runEnds({ size, calls, items, lastModel, asks }: Answered): readonly number[] {
  const ends: number[] = [];
  let end = lastModel + 1;
  for (let at = size - 1; at >= 0; at -= 1) {
    const after = (calls[at] as number) + 1;
    const next = at + 1 < size ? items[at + 1] : undefined;
    const apart = next?.callKind !== items[at]?.callKind || calls[at + 1] !== after;
    if (next !== undefined && next.step === undefined && apart && asks === 0) end = after;
    ends.push(end);
  }
  return ends.reverse();
}
