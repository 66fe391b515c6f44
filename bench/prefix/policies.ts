import { deriveView, protocolGroups, type TokenCounter, type View, writeMessages } from "../../src/index.ts";
import { peer } from "../harness/peers.ts";
import type { Lived } from "./sessions.ts";

/** One piece of a request: equal keys are equal bytes. */
export interface Piece {
  readonly key: unknown;
  readonly tokens: number;
}

/** What a way of keeping to a budget sends, request by request. */
export type Policy = (lived: Lived, budget: number, counter: TokenCounter) => Promise<Sent> | Sent;

export interface Sent {
  readonly requests: readonly (readonly Piece[])[];
  /** Times that what was sent before was changed. */
  readonly reclaims: number;
  /** Tokens that were read and written for the policy itself: a summary is made by a model. */
  readonly extra: number;
  /** Of the tools' outputs, how many the last request still shows in some form, or names by a handle. */
  readonly outputs: number;
}

const whole = ({ pages, items }: Lived): readonly Piece[] =>
  items.map((key, at) => ({ key, tokens: pages[at]?.representations.full?.tokens ?? 0 }));
const sum = (pieces: readonly Piece[]) => pieces.reduce((total, { tokens }) => total + tokens, 0);

/** Outputs from here to the last request. */
function outputsIn({ pages, requests }: Lived, from = 0): number {
  return countOutputs(pages.slice(from, requests.at(-1)));
}

function countOutputs(pages: Lived["pages"]): number {
  return pages.filter(({ kind }) => kind === "evidence").length;
}

/** Everything, always: no budget, and the most that any cache can keep. */
const appendOnly: Policy = (lived) => {
  const all = whole(lived);
  return { requests: lived.requests.map((to) => all.slice(0, to)), reclaims: 0, extra: 0, outputs: outputsIn(lived) };
};

const holdfast: Policy = ({ pages, requests }, budget, counter) => {
  const sent: (readonly Piece[])[] = [];
  let previous: View | undefined;
  let reclaims = 0;
  for (const to of requests) {
    const view = deriveView(pages.slice(0, to), { budget, counter, ...(previous === undefined ? {} : { previous }) });
    if (!view.ok) throw new Error(`refused: ${JSON.stringify(view.unmet)}`);
    if (view.reclaim !== undefined) reclaims += 1;
    sent.push(view.entries.map(({ item, tokens }) => ({ key: item, tokens })));
    previous = view;
  }
  const covered =
    previous?.entries.reduce((total, { from, to }) => total + countOutputs(pages.slice(from, to)), 0) ?? 0;
  return { requests: sent, reclaims, extra: 0, outputs: covered };
};

/** The newest whole groups that fit, and the instructions before them: what `trimMessages` does. */
const slidingWindow: Policy = (lived, budget) => {
  const all = whole(lived);
  const requests = lived.requests.map((to) => {
    const items = lived.items.slice(0, to);
    const front = items.findIndex(({ kind }) => kind !== "system");
    let from = to;
    let left = budget - sum(all.slice(0, Math.max(0, front)));
    for (const { members } of protocolGroups(items).toReversed()) {
      const first = members[0] as number;
      if (first < front) break;
      const cost = sum(all.slice(first, from));
      if (cost > left && from < to) break;
      left -= cost;
      from = first;
    }
    return [...all.slice(0, Math.max(0, front)), ...all.slice(from, to)];
  });
  const reclaims = requests.filter((request, at) => at > 0 && request[0]?.key !== requests[at - 1]?.[0]?.key).length;
  const last = new Set(requests.at(-1)?.map(({ key }) => key));
  const outputs = lived.items.filter((item) => item.kind === "output" && last.has(item)).length;
  return { requests, reclaims, extra: 0, outputs };
};

type Prune = (options: { messages: readonly object[]; toolCalls: string; reasoning: string }) => readonly object[];

/** The AI SDK's own, before every request. It has no budget. */
const pruneMessages: Policy = async ({ items, requests }, _budget, counter) => {
  const { pruneMessages: prune } = await peer<{ pruneMessages: Prune }>("ai");
  const counted = new Map<string, number>();
  const piece = (message: object): Piece => {
    const key = JSON.stringify(message);
    if (!counted.has(key)) counted.set(key, counter.count(key));
    return { key, tokens: counted.get(key) ?? 0 };
  };
  const sent = requests.map((to) => {
    const { messages } = writeMessages(items.slice(0, to), "ai-sdk");
    return prune({ messages, toolCalls: "before-last-2-messages", reasoning: "before-last-message" }).map(piece);
  });
  const shown = sent.at(-1)?.map(({ key }) => String(key).split('"type":"tool-result"').length - 1) ?? [];
  return { requests: sent, reclaims: sent.length, extra: 0, outputs: shown.reduce((total, some) => total + some, 0) };
};

const CLEARED = "[Old tool result content cleared]";

/** As opencode prunes: the newest outputs are protected, older ones are cleared once clearing them is worth it. */
const clearOutputs: Policy = (lived, budget) => {
  const all = whole(lived);
  const cleared = new Set<number>();
  let reclaims = 0;
  const requests = lived.requests.map((to) => {
    let kept = 0;
    const clearable: number[] = [];
    for (let at = to - 1; at >= 0; at -= 1) {
      if (lived.items[at]?.kind !== "output" || cleared.has(at)) continue;
      kept += all[at]?.tokens ?? 0;
      if (kept > budget * 0.4) clearable.push(at);
    }
    if (sum(clearable.map((at) => all[at] as Piece)) > budget * 0.2) {
      for (const at of clearable) cleared.add(at);
      reclaims += 1;
    }
    return all.slice(0, to).map((piece, at) => (cleared.has(at) ? { key: `${CLEARED} ${at}`, tokens: 20 } : piece));
  });
  return { requests, reclaims, extra: 0, outputs: outputsIn(lived) - cleared.size };
};

const SUMMARY_TOKENS = 1_500;

/** When the budget is nearly used, a model writes a summary of everything but the newest step. */
const summarize: Policy = (lived, budget) => {
  const all = whole(lived);
  let from = 0;
  let summary: Piece[] = [];
  let reclaims = 0;
  let extra = 0;
  const requests = lived.requests.map((to) => {
    if (sum(summary) + sum(all.slice(from, to)) > budget * 0.95) {
      const groups = protocolGroups(lived.items.slice(0, to));
      const next = groups.findLast(({ members: [first = 0] }) => first < to - 2)?.members[0] ?? from;
      extra += sum(summary) + sum(all.slice(from, to)) + SUMMARY_TOKENS;
      reclaims += 1;
      from = Math.max(from, next);
      summary = [{ key: `summary ${reclaims}`, tokens: SUMMARY_TOKENS }];
    }
    return [...summary, ...all.slice(from, to)];
  });
  return { requests, reclaims, extra, outputs: outputsIn(lived, from) };
};

export const POLICIES: Readonly<Record<string, Policy>> = {
  "append only, no budget": appendOnly,
  "Holdfast deriveView": holdfast,
  "sliding window": slidingWindow,
  "AI SDK pruneMessages": pruneMessages,
  "clearing old outputs": clearOutputs,
  "summary compaction": summarize,
};
