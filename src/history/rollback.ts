import type { Item, Part } from "../wire/item.ts";
import { protocolGroups } from "./groups.ts";
import type { PairedHistory } from "./paired.ts";
import { repairHistory } from "./repair.ts";

/** The history without its last turns, or why they could not be removed. */
export type RolledBack =
  | {
      readonly ok: true;
      readonly history: PairedHistory;
      readonly removedTurns: number;
      /** `cleared`: instructions were removed too, so the next turn must be given all of them again. */
      readonly baseline: "kept" | "cleared";
    }
  | { readonly ok: false; readonly fault: "nothing-to-roll-back" | "bad-count"; readonly turns: number };

/**
 * Removes the last turns. A turn begins where the user speaks; text that the host added in the user's name
 * (environment, instructions, notices) begins none. What comes before the first turn is never removed.
 */
export function rollbackTurns(items: readonly Item[], count: number): RolledBack {
  const turns = turnStarts(items);
  if (!Number.isSafeInteger(count) || count < 1) return { ok: false, fault: "bad-count", turns: turns.length };
  if (turns.length === 0) return { ok: false, fault: "nothing-to-roll-back", turns: 0 };
  const removedTurns = Math.min(count, turns.length);
  const turn = turns[turns.length - removedTurns] as number;
  const { cut, mixed } = turn === turns[0] ? { cut: turn, mixed: false } : aboveCut(items, turn);
  const leave = new Set<number>();
  // A displaced output below the cut belongs to a turn above it, and stays with that turn.
  for (const { members } of protocolGroups(items)) {
    if ((members[0] as number) >= cut) for (const at of members) leave.add(at);
  }
  const left = items.filter((_, at) => !leave.has(at));
  return { ok: true, history: repairHistory(left).history, removedTurns, baseline: mixed ? "cleared" : "kept" };
}

function turnStarts(items: readonly Item[]): readonly number[] {
  return items.flatMap((item, at) => (item.kind === "user" && contextOf(item) === "none" ? [at] : []));
}

/** Context updates directly above a turn were made for it and go with it. */
function aboveCut(items: readonly Item[], turn: number): { readonly cut: number; readonly mixed: boolean } {
  let cut = turn;
  let mixed = false;
  for (let at = turn - 1; at >= 0; at -= 1) {
    const item = items[at] as Item;
    if (!isSpoken(item)) break;
    const context = contextOf(item);
    if (context === "none" || !isUpdate(item)) break;
    cut = at;
    mixed ||= context === "mixed";
  }
  return { cut, mixed };
}

type Spoken = Extract<Item, { readonly kind: "user" | "system" }>;

function isSpoken(item: Item): item is Spoken {
  return item.kind === "user" || item.kind === "system";
}

/** Whether an item is the host's context: all of it, bundled with something lasting, or not at all. */
function contextOf(item: Spoken): "all" | "mixed" | "none" {
  const noticed = item.parts.filter(isNoticed).length;
  if (noticed === 0) return item.notice === undefined ? "none" : "all";
  return noticed === item.parts.length ? "all" : "mixed";
}

function isNoticed(part: Part): boolean {
  return part.type === "text" && part.notice !== undefined;
}

/** Notes of what happened are history; only context that is sent anew each turn is trimmed with its turn. */
function isUpdate(item: Spoken): boolean {
  const notices = [item.notice, ...item.parts.map((part) => (part.type === "text" ? part.notice : undefined))];
  return notices.some((notice) => notice === "context-update" || notice === "environment");
}
