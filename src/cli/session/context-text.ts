import type { Explanation, LookedView, ResidencyLevel, ViewEntry } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { ago, count, grouped, oneLine } from "../words.ts";
import { wrapped } from "../wrap.ts";

const LEVELS: readonly ResidencyLevel[] = ["full", "compressed", "structured", "pointer"];
const BLOCK: Readonly<Record<ResidencyLevel, string>> = { full: "█", compressed: "▓", structured: "▒", pointer: "░" };
const FREE = "·";
const WIDE = 72;

/** A request for people: how full it was, how its pages stood, what it cost the cache. */
export function contextLines(id: string, seen: LookedView, terminal: Terminal): readonly string[] {
  const { view, counted, around, budget, reclaim, unknownPages, since, turn, at } = seen;
  const lines = [`${paint(terminal, "bold", id)}: request ${turn}, ${ago(at, Date.now())}, record ${seen.seq}`];
  if (view !== undefined) lines.push(`  ${bar(view.entries, view.tokens, budget, terminal)}`);
  const of = budget === undefined ? "" : ` of ${grouped(budget)} (${percent(counted - (around ?? 0), budget)})`;
  lines.push(`  conversation ${grouped(counted - (around ?? 0))} tokens${of}`);
  if (around !== undefined) lines.push(`  around it    ${grouped(around)} tokens: instructions, tools, stamp`);
  for (const level of LEVELS) {
    const entries = (view?.entries ?? []).filter((entry) => entry.level === level);
    const pages = pagesAt(seen, level);
    if (pages === 0) continue;
    const tokens =
      view === undefined ? "" : `  ${grouped(entries.reduce((sum, entry) => sum + entry.tokens, 0))} tokens`;
    lines.push(`  ${BLOCK[level]} ${level.padEnd(10)} ${count(pages, "page").padStart(10)}${tokens}`);
  }
  if (view === undefined)
    lines.push("  its pages cannot be rebuilt here; only how many were shown at which level is known");
  if (unknownPages > 0)
    lines.push(`  ${count(unknownPages, "page")} before the conversation are known only to the program that sent it`);
  lines.push(...cacheLines(seen));
  if (reclaim !== undefined)
    lines.push(
      `  reclaimed (${reclaim.why}): ${grouped(reclaim.tokensBefore)} to ${grouped(reclaim.tokensAfter)} tokens; ${grouped(reclaim.cacheLoss)} that were cached must be read again`,
    );
  if (since.length > 0) lines.push(`  ${count(since.length, "page")} since, for the next request`);
  return [...lines.flatMap((line) => wrapped(line, terminal.columns, 4)), ""];
}

/** Every page of a request with why it stands as it does. */
export function pageLines(pages: readonly Explanation[], terminal: Terminal): readonly string[] {
  if (pages.length === 0) return [];
  const rows = pages.map(({ page, kind, level, tokens, why, title }) => ({
    cells: [page, kind, level, String(tokens[level] ?? 0), why],
    title,
  }));
  const heads = ["PAGE", "KIND", "LEVEL", "TOKENS", "WHY"];
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map(({ cells }) => (cells[at] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, at) => (at === 3 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join("  ");
  const room = (before: string) =>
    terminal.columns === undefined ? undefined : Math.max(8, terminal.columns - before.length - 2);
  return [
    paint(terminal, "bold", line(heads)),
    ...rows.map(({ cells, title }) => {
      const before = line(cells);
      return `${before}  ${paint(terminal, "dim", oneLine(title, room(before)))}`.trimEnd();
    }),
  ];
}

export function explanationLines(page: Explanation, terminal: Terminal): readonly string[] {
  const costs = LEVELS.flatMap((level) => (page.tokens[level] === undefined ? [] : [`${level} ${page.tokens[level]}`]));
  const { from } = page.provenance;
  return [
    paint(terminal, "bold", `${page.page}: ${oneLine(page.title, (terminal.columns ?? 120) - page.page.length - 2)}`),
    `  kind     ${page.kind}, never below ${page.floor}`,
    `  level    ${page.level} (${page.why})`,
    `  why      ${page.words}`,
    `  tokens   ${costs.join(", ")}`,
    `  pin      ${page.pin}`,
    `  worth    ${page.utility.toFixed(2)} (recency ${page.recency.toFixed(2)})`,
    `  from     ${from}${page.provenance.from === "call" ? `: ${page.provenance.tool}` : ""}`,
    `  handle   ${page.handle}`,
  ].flatMap((line) => wrapped(line, terminal.columns, 9));
}

/** As wide as the budget is large: each page where it stands, by the tokens it takes, in the block of its level. */
function bar(entries: readonly ViewEntry[], tokens: number, budget: number | undefined, terminal: Terminal): string {
  const width = Math.min(WIDE, (terminal.columns ?? 80) - 4);
  const whole = Math.max(1, budget ?? tokens);
  let [drawn, sum] = ["", 0];
  for (const { level, tokens: size } of entries) {
    sum += size;
    drawn += BLOCK[level].repeat(Math.max(0, Math.ceil((sum / whole) * width) - drawn.length));
  }
  return `${drawn.slice(0, width)}${paint(terminal, "dim", FREE.repeat(Math.max(0, width - drawn.length)))}`;
}

function pagesAt({ runs, view }: LookedView, level: ResidencyLevel): number {
  if (view !== undefined)
    return view.entries.reduce((sum, entry) => sum + (entry.level === level ? entry.to - entry.from : 0), 0);
  return runs.reduce(
    (sum, [at, pages]) => sum + (at === level || (at === "span" && level === "pointer") ? pages : 0),
    0,
  );
}

function cacheLines({ usage, spent }: LookedView): readonly string[] {
  if (usage === undefined || usage.input === 0) return [];
  const { cacheRead } = usage;
  if (cacheRead === undefined && spent.cacheRead === 0) return ["  cache        the provider does not say"];
  return [
    `  cache        ${percent(cacheRead ?? 0, usage.input)} of ${grouped(usage.input)} tokens came from the provider's cache; ${percent(spent.cacheRead, spent.input)} over the session`,
  ];
}

function percent(part: number, whole: number): string {
  return whole <= 0 ? "0 %" : `${Math.round((part / whole) * 100)} %`;
}
