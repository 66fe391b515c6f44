import { deriveView, HandleTable, protocolGroups, type View } from "../../src/index.ts";
import { hasCorpus } from "../../test/histories/corpus.ts";
import { type Lived, sessions } from "../prefix/sessions.ts";

const SHARES = [0.25, 0.5, 0.75] as const;

/** Calls of real sessions that had been made before, by whether what they had answered could still be had. */
export interface Replayed {
  readonly share: number;
  sessions: number;
  requests: number;
  refused: number;
  /** Of those, requests that would have been sent in a session without a past: ours to mend. */
  refusedForNothing: number;
  repeats: number;
  readable: number;
  /** Not in plain sight, and a handle in the request leads to it. */
  byHandle: number;
  /** Neither: a fault. */
  lost: number;
  /** The same for the newest groups that fit, and nothing else. */
  lostByWindow: number;
}

/** Every session of the corpus at shares of its size. Nothing when there is no corpus. */
export async function replay(): Promise<readonly Replayed[]> {
  const table = SHARES.map(
    (share): Replayed => ({
      share,
      sessions: 0,
      requests: 0,
      refused: 0,
      refusedForNothing: 0,
      repeats: 0,
      readable: 0,
      byHandle: 0,
      lost: 0,
      lostByWindow: 0,
    }),
  );
  if (!hasCorpus) return [];
  for await (const { lived, counter } of sessions())
    for (const row of table) replayOne(row, lived, Math.floor(lived.tokens * row.share), counter);
  return table;
}

function replayOne(
  row: Replayed,
  lived: Lived,
  budget: number,
  counter: Parameters<typeof deriveView>[1]["counter"],
): void {
  const { pages, requests, items } = lived;
  const table = new HandleTable();
  const seen = new Map<string, number>();
  let previous: View | undefined;
  row.sessions += 1;
  for (const [nth, to] of requests.entries()) {
    const options = { budget, ...(counter ? { counter } : {}) };
    const view = deriveView(pages.slice(0, to), { ...options, ...(previous ? { previous } : {}) });
    row.requests += 1;
    table.addPages(pages.slice(requests[nth - 1] ?? 0, to));
    if (!view.ok) {
      row.refused += 1;
      if (deriveView(pages.slice(0, to), { ...options, policy: "reset" }).ok) row.refusedForNothing += 1;
      continue;
    }
    if (view.reclaim !== undefined) table.addView(view);
    previous = view;
    const window = windowFrom(lived, to, budget);
    for (let at = to; at < (requests[nth + 1] ?? items.length); at += 1) {
      const item = items[at];
      if (item?.kind === "output" && item.callId !== undefined) {
        const call = items.findLast((one) => one.kind === "call" && one.callId === item.callId);
        if (call?.kind === "call") seen.set(signature(call), at);
      }
      if (item?.kind !== "call") continue;
      const place = seen.get(signature(item));
      if (place === undefined || place >= to) continue;
      row.repeats += 1;
      const entry = view.entries.find(({ from, to: end }) => from <= place && place < end);
      const page = pages[place];
      if (entry?.level === "full" || entry?.level === "compressed") row.readable += 1;
      else if (entry !== undefined && page !== undefined && table.recall({ handle: page.handle }).ok) row.byHandle += 1;
      else row.lost += 1;
      if (place < window) row.lostByWindow += 1;
    }
  }
}

/** Where the newest whole groups begin that fit. */
function windowFrom({ items, pages }: Lived, to: number, budget: number): number {
  let left = budget;
  let from = to;
  for (const { members } of protocolGroups(items.slice(0, to)).toReversed()) {
    left -= members.reduce((sum, at) => sum + (pages[at]?.representations.full?.tokens ?? 0), 0);
    if (left < 0) break;
    from = Math.min(from, ...members);
  }
  return from;
}

function signature(call: { readonly name: string; readonly input?: unknown; readonly inputText?: string }): string {
  return `${call.name} ${JSON.stringify(call.input ?? call.inputText ?? "")}`;
}
