/**
 * `npm run bench:prefix`: what keeping to a budget costs in the provider's cache, on real sessions (`HOLDFAST_CORPUS`).
 * Every session is lived through again at half its size, once for each way of keeping to it.
 */
import { hasCorpus } from "../../test/histories/corpus.ts";
import { type Piece, POLICIES, type Sent } from "./policies.ts";
import { sessions } from "./sessions.ts";

/** What providers ask for a token that was in their cache, against one that was not. */
const CACHED_PRICE = 0.1;

interface Figures {
  readonly kept: number[];
  readonly reclaims: number[];
  cached: number;
  uncached: number;
  over: number;
  requests: number;
  outputs: number;
  allOutputs: number;
}

if (!hasCorpus) {
  console.error("HOLDFAST_CORPUS names no folder of transcripts.");
  process.exit(2);
}

const table = new Map<string, Figures>();
let count = 0;
for await (const { lived, counter } of sessions()) {
  count += 1;
  const budget = Math.floor(lived.tokens / 2);
  for (const [name, policy] of Object.entries(POLICIES)) {
    const figures = table.get(name) ?? newFigures();
    table.set(name, figures);
    add(figures, await policy(lived, budget, counter), budget);
    figures.allOutputs += lived.pages.slice(0, lived.requests.at(-1)).filter(({ kind }) => kind === "evidence").length;
  }
}
console.log(`${count} sessions of at least 20 requests, each at half its size; a cached token costs ${CACHED_PRICE}`);
console.log("Medians over sessions, sums of tokens; in reach: shown in some form, or named by a handle, at the end\n");
print(["way", "prefix kept", "worst", "changes", "cached", "uncached", "cost", "over budget", "outputs in reach"]);
for (const [name, figures] of table) {
  const { kept, reclaims, cached, uncached, over, requests, outputs, allOutputs } = figures;
  print([
    name,
    percent(median(kept)),
    percent(Math.min(...kept)),
    String(median(reclaims)),
    millions(cached),
    millions(uncached),
    millions(cached * CACHED_PRICE + uncached),
    `${over} of ${requests}`,
    percent(outputs / allOutputs),
  ]);
}

function add(figures: Figures, { requests, reclaims, extra, outputs }: Sent, budget: number): void {
  let again = 0;
  let same = 0;
  let before: readonly Piece[] = [];
  for (const request of requests) {
    const sent = new Set(before.map(({ key }) => key));
    const prefix = commonPrefix(before, request);
    for (const [at, { key, tokens }] of request.entries()) {
      if (sent.has(key)) again += tokens;
      if (at < prefix) same += tokens;
      if (at < prefix) figures.cached += tokens;
      else figures.uncached += tokens;
    }
    if (request.reduce((sum, { tokens }) => sum + tokens, 0) > budget) figures.over += 1;
    before = request;
  }
  figures.outputs += outputs;
  figures.uncached += extra;
  figures.requests += requests.length;
  figures.kept.push(again === 0 ? 1 : same / again);
  figures.reclaims.push(reclaims);
}

function newFigures(): Figures {
  return { kept: [], reclaims: [], cached: 0, uncached: 0, over: 0, requests: 0, outputs: 0, allOutputs: 0 };
}

function commonPrefix(before: readonly Piece[], now: readonly Piece[]): number {
  let at = 0;
  while (at < before.length && before[at]?.key === now[at]?.key) at += 1;
  return at;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function millions(tokens: number): string {
  return `${(tokens / 1e6).toFixed(2)} M`;
}

function print(cells: readonly string[]): void {
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(26) : cell.padStart(at > 6 ? 17 : 12))).join(""));
}
