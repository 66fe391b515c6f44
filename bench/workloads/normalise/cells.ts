import { HistoryIndex } from "../../../src/history/history-index.ts";
import { repairHistory } from "../../../src/history/repair.ts";
import type { Item, OutputItem } from "../../../src/wire/item.ts";
import { type Built, buildHistory } from "./build.ts";

/** One measurement: makes its own input, runs once, proves the result, reports nanoseconds. */
export interface Cell {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly run: (size: number, seed: number) => Promise<number> | number;
}

const SIZES = [1_000, 10_000, 100_000, 1_000_000];

export function timed<T>(run: () => T): { readonly ns: number; readonly value: T } {
  const start = process.hrtime.bigint();
  const value = run();
  return { ns: Number(process.hrtime.bigint() - start), value };
}

/** The bare two-pass map everybody writes: collect ids, then copy without orphans and with stubs for what is missing. */
export function bareMap(items: readonly Item[]): readonly Item[] {
  const calls = new Map<string, string>();
  const answered = new Set<string>();
  for (const item of items) {
    if (item.kind === "call" && item.callId !== undefined) calls.set(item.callId, item.name);
    else if (item.kind === "output" && item.callId !== undefined) answered.add(item.callId);
  }
  const kept: Item[] = [];
  for (const item of items) {
    if (item.kind === "output" && item.callId !== undefined && !calls.has(item.callId)) continue;
    kept.push(item);
    if (item.kind === "call" && item.callId !== undefined && !answered.has(item.callId)) {
      kept.push({ kind: "output", callKind: item.callKind, callId: item.callId, status: "canceled", parts: [] });
    }
  }
  return kept;
}

function mustPair(items: readonly Item[], { items: before, dangling, orphans }: Built): void {
  if (items.length !== before.length + dangling - orphans) throw new Error(`wrong length ${items.length}`);
  const open = new Set<string>();
  for (const item of items) {
    if (item.kind === "call") open.add(item.callId as string);
    if (item.kind === "output" && !open.delete((item as OutputItem).callId as string))
      throw new Error("an orphan is left");
  }
  if (open.size > 0) throw new Error(`${open.size} calls without output`);
}

export const CELLS: readonly Cell[] = [
  {
    name: "bare two-pass map, faulty",
    sizes: SIZES,
    run: (size, seed) => {
      const built = buildHistory(size, seed, true);
      const { ns, value } = timed(() => bareMap(built.items));
      mustPair(value, built);
      return ns;
    },
  },
  {
    name: "holdfast repair, faulty",
    sizes: SIZES,
    run: (size, seed) => {
      const built = buildHistory(size, seed, true);
      const { ns, value } = timed(() => repairHistory(built.items));
      mustPair(value.history, built);
      if (value.repairs.length !== built.dangling + built.orphans) throw new Error("a repair is missing");
      return ns;
    },
  },
  {
    name: "bare two-pass map, valid",
    sizes: SIZES,
    run: (size, seed) => {
      const built = buildHistory(size, seed, false);
      const { ns, value } = timed(() => bareMap(built.items));
      mustPair(value, built);
      return ns;
    },
  },
  {
    name: "holdfast repair, valid, cold",
    sizes: SIZES,
    run: (size, seed) => {
      const built = buildHistory(size, seed, false);
      const { ns, value } = timed(() => repairHistory(built.items));
      if (value.history !== built.items) throw new Error("a valid history was copied");
      return ns;
    },
  },
  {
    name: "holdfast repair, valid, index kept at append",
    sizes: SIZES,
    run: (size, seed) => {
      const built = buildHistory(size, seed, false);
      const index = new HistoryIndex();
      index.append(built.items);
      const { ns, value } = timed(() => repairHistory(built.items, { index }));
      if (value.history !== built.items) throw new Error("a valid history was copied");
      return ns;
    },
  },
  {
    name: "holdfast check after appending ten items",
    sizes: SIZES,
    run: (size, seed) => {
      const { items } = buildHistory(size + 10, seed, false);
      const log = items.slice(0, size);
      const index = new HistoryIndex();
      index.append(log);
      log.push(...items.slice(size, size + 10));
      const { ns } = timed(() => repairHistory(log, { index }));
      if (index.size !== log.length) throw new Error("the index is behind");
      return ns;
    },
  },
];
