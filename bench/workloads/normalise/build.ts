import { type CallItem, type Item, type OutputItem, toolCallId } from "../../../src/wire/item.ts";

export interface Built {
  readonly items: readonly Item[];
  readonly calls: number;
  readonly dangling: number;
  readonly orphans: number;
}

/**
 * A coding session of about `size` items: a turn is one user message, then steps of one to three parallel calls with
 * their outputs, then words. `faults` leaves one call in a hundred unanswered and puts in as many outputs of nobody.
 */
export function buildHistory(size: number, seed: number, faults: boolean): Built {
  const next = random(seed);
  const items: Item[] = [];
  let calls = 0;
  let dangling = 0;
  let orphans = 0;
  let step = 0;
  while (items.length < size) {
    items.push({ kind: "user", parts: [{ type: "text", text: `do thing ${items.length}` }] });
    const steps = 1 + (next() % 6);
    for (let at = 0; at < steps && items.length < size; at += 1) {
      step += 1;
      const width = 1 + (next() % 3);
      const ids: string[] = [];
      for (let nth = 0; nth < width; nth += 1) {
        const id = `call_${step.toString(36)}_${nth}_${(next() >>> 0).toString(36)}`;
        ids.push(id);
        items.push(callItem(id, step));
        calls += 1;
      }
      for (const id of ids) {
        if (faults && next() % 100 === 0) dangling += 1;
        else items.push(outputItem(id));
        if (faults && next() % 100 === 0) {
          items.push(outputItem(`orphan_${step}_${id}`));
          orphans += 1;
        }
      }
    }
    items.push({ kind: "assistant", step: (step += 1), parts: [{ type: "text", text: "done" }] });
  }
  return { items, calls, dangling, orphans };
}

function callItem(id: string, step: number): CallItem {
  return {
    kind: "call",
    callKind: "function",
    step,
    callId: toolCallId(id),
    name: "read_file",
    input: { path: "a.txt" },
  };
}

function outputItem(id: string): OutputItem {
  return {
    kind: "output",
    callKind: "function",
    callId: toolCallId(id),
    status: "success",
    parts: [{ type: "text", text: "ok" }],
  };
}

/** One more turn of ten items, whole. */
export function tenItems(turn: number): readonly Item[] {
  const items: Item[] = [{ kind: "user", parts: [{ type: "text", text: "and now" }] }];
  for (let nth = 0; nth < 4; nth += 1)
    items.push(callItem(`more_${turn}_${nth}`, -turn), outputItem(`more_${turn}_${nth}`));
  items.push({ kind: "assistant", parts: [{ type: "text", text: "done" }] });
  return items;
}

/** A small generator of its own: the workload must be the same on every machine. */
function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
