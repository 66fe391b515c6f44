import type { Item } from "../../../src/wire/item.ts";

/** The two-pass map everybody writes: collect ids, then copy without orphans and with stubs for what is missing. */
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
