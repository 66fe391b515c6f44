import { FixedClock } from "../../src/base/clock.ts";
import { countingIds } from "../../src/base/ids.ts";
import type { Json } from "../../src/base/json.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { filesPart } from "../../src/files/part.ts";
import { ExecutionState, type StateOptions } from "../../src/state/execution-state.ts";
import { reducers } from "../../src/state/reducers.ts";
import type { Snapshotable } from "../../src/state/resources.ts";
import { defineSlice } from "../../src/state/slice.ts";
import type { Call } from "../../src/transaction/call.ts";
import type { ClosedCall, Ledger, OpenedCall } from "../../src/transaction/ledger.ts";
import { defineTool, type Tool, type ToolSpec } from "../../src/transaction/tool.ts";
import { type TransactionOptions, Transactions } from "../../src/transaction/transactions.ts";

export const counter = defineSlice("counter", {
  initial: 0,
  on: {
    set: (_: number, to: number) => to,
    added: (now: number, by: number) => now + by,
    broke: (): number => {
      throw new Error("the reducer broke");
    },
  },
});
export const steps = defineSlice("steps", { initial: [] as readonly string[], on: { added: reducers.append<string> } });
export const diary = defineSlice("diary", {
  initial: [] as readonly string[],
  policy: "log",
  on: { said: reducers.append<string> },
});

/** A resource of somebody else's: it can be captured and put back, and cannot branch. */
export class Box implements Snapshotable<number> {
  value = 0;
  refuses = 0;

  snapshot(): number {
    return this.value;
  }

  restore(to: number): void {
    if (this.refuses > 0) {
      this.refuses -= 1;
      throw new Error("the box is stuck");
    }
    this.value = to;
  }
}

/** A ledger that keeps everything in one list, and can be made to fail. */
export class ListLedger implements Ledger {
  readonly lines: { readonly kind: string; readonly id: string; readonly detail?: unknown }[] = [];
  failOn: string | undefined;

  kinds(id: string): readonly string[] {
    return this.lines.filter((line) => line.id === id).map(({ kind }) => kind);
  }

  closings(): readonly ClosedCall[] {
    return this.lines.filter(({ kind }) => kind === "closed").map(({ detail }) => detail as ClosedCall);
  }

  async opened(call: OpenedCall): Promise<void> {
    this.#write("opened", call.callId, call);
  }
  async closed(calls: readonly ClosedCall[]): Promise<void> {
    for (const call of calls) this.#write("closed", call.callId, call);
  }
  async late(call: { readonly callId: string; readonly output: Json }): Promise<void> {
    this.#write("late", call.callId, call.output);
  }
  async effectOpened(effect: { readonly callId: string; readonly key: string }): Promise<void> {
    this.#write("effect-opened", effect.callId, effect.key);
  }
  async effectDone(effect: { readonly callId: string; readonly key: string }): Promise<void> {
    this.#write("effect-done", effect.callId, effect.key);
  }
  async effectJoined(effect: { readonly key: string }, callId: string): Promise<void> {
    this.#write("effect-joined", callId, effect.key);
  }
  async effectLeft(effect: { readonly key: string }, callId: string): Promise<void> {
    this.#write("effect-left", callId, effect.key);
  }
  async effectUndone(effect: { readonly callId: string; readonly key: string }, how: string): Promise<void> {
    this.#write(`effect-${how}`, effect.callId, effect.key);
  }

  #write(kind: string, id: string, detail: unknown): void {
    if (this.failOn === kind) throw new Error(`cannot write ${kind}`);
    this.lines.push({ kind, id, detail });
  }
}

export interface Rig {
  readonly state: ExecutionState;
  readonly transactions: Transactions;
  readonly ledger: ListLedger;
  readonly clock: FixedClock;
}

export function rig(tools: readonly Tool[], options: TransactionOptions & { readonly state?: StateOptions } = {}): Rig {
  const clock = new FixedClock();
  const ledger = new ListLedger();
  const { state: more, ...rest } = options;
  const state = ExecutionState.create({
    slices: [counter, steps, diary],
    parts: [filesPart],
    clock,
    random: new SeededRandom("rig"),
    ids: countingIds(),
    development: true,
    ...more,
  });
  return { state, ledger, clock, transactions: new Transactions(state, { tools, ledger, ...rest }) };
}

type Run<I> = (input: I, call: Call) => unknown;

export function writes<I = unknown>(name: string, run: Run<I>, more: Partial<ToolSpec<I>> = {}): Tool {
  return defineTool<I>({ name, access: "write", run, ...more });
}

/** Lets everything that needs no time happen. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}

/** A tool that never ends, and tells when it has begun. */
export function hanging(name: string, access: "read" | "write" = "read") {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const tool = defineTool({
    name,
    access,
    run: () => {
      resolve();
      return new Promise(() => {});
    },
  });
  return { tool, reached };
}
