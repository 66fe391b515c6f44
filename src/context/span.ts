import { grouped, head } from "./compress/cut.ts";
import { looksLikeCall } from "./compress/weigh.ts";
import { digestOf, type Handle, handleOf } from "./handle.ts";
import type { Page } from "./page.ts";
import type { UserItem } from "../wire/item.ts";

/** How many of a span's user messages its pointer quotes, and how much of each. */
const QUOTED = 4;
const QUOTE = 100;
const TOOLS_TOLD = 6;

/** Pages that one handle stands for. */
export interface PageList {
  readonly handle: Handle;
  /** What the handle resolves to: one line for each page, with a handle of its own. */
  readonly content: string;
}

export interface Span extends PageList {
  readonly item: UserItem;
}

/** The list of the pages. Its handle is keyed by the handles in it, which only the lineage can make. */
export function listOf(pages: readonly Page[]): PageList {
  const content = pages.map(lineOf).join("\n");
  return { content, handle: handleOf(content, digestOf(content)) };
}

export function lineOf({ handle, title }: Page): string {
  return `${handle} ${title}`;
}

/** One pointer for a run of neighbours: how many, from when to when, what was asked, which tools ran. */
export function spanOf(pages: readonly Page[]): Span {
  const { content, handle } = listOf(pages);
  const text = `[Earlier part of this conversation, left out here: ${[
    `${grouped(pages.length)} items${timesOf(pages)}`,
    ...askedIn(pages),
    ...toolsIn(pages),
  ].join("; ")}; listed at ${handle}]`;
  return { content, handle, item: { kind: "user", notice: "summary", parts: [{ type: "text", text }] } };
}

function timesOf(pages: readonly Page[]): string {
  const from = pages.find(({ at }) => at !== undefined)?.at;
  const to = pages.findLast(({ at }) => at !== undefined)?.at;
  if (from === undefined || to === undefined) return "";
  return from === to ? `, ${from}` : `, ${from} to ${to}`;
}

function askedIn(pages: readonly Page[]): readonly string[] {
  const asked = pages
    .filter(({ title }) => title.startsWith("user: ") && !looksLikeCall(title))
    .map(({ title }) => `“${head(title.slice("user: ".length), QUOTE)}”`);
  if (asked.length === 0) return [];
  return [`the user said ${asked.length > QUOTED ? "… " : ""}${asked.slice(-QUOTED).join(", ")}`];
}

function toolsIn(pages: readonly Page[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { kind, provenance } of pages)
    if (kind === "evidence" && provenance.from === "call")
      counts.set(provenance.tool, (counts.get(provenance.tool) ?? 0) + 1);
  if (counts.size === 0) return [];
  const told = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1)).slice(0, TOOLS_TOLD);
  return [`outputs of ${told.map(([tool, times]) => `${tool} ×${grouped(times)}`).join(", ")}`];
}
