import { HoldfastError } from "../../base/errors.ts";
import type { Summariser, Summary } from "../../contracts/summariser.ts";
import { protocolGroups } from "../../history/groups.ts";
import { type CallItem, type Item, textOf, type UserItem } from "../../wire/item.ts";
import { head } from "../compress/cut.ts";
import { contentText } from "../content-text.ts";
import type { Handle } from "../handle.ts";
import { handleOfItem, makePage, type PageDeps } from "../make-page.ts";
import type { Page } from "../page.ts";
import { looksLikeCall } from "../compress/weigh.ts";
import { evidenceFacts, factsLine, oneLine } from "../facts.ts";
import { listOf, type PageList } from "../span.ts";

/**
 * What stands in requests for the pages that left: the items to show, and a handle that lists every one of those pages.
 */
export interface LeftBehind extends PageList {
  readonly items: readonly Item[];
}

/**
 * Makes what stands for pages that are gone: the summary, and where to find all of it. Throws when the summary is
 * empty.
 */
export function leaveBehind(gone: readonly Page[], summary: Summary, kept: readonly Item[]): LeftBehind {
  const { content, handle } = listOf(gone);
  const { text: said, groups } = read(summary, kept);
  // Whoever made it: a summary that reads like a call teaches a model to write calls as prose.
  const text = said
    .split("\n")
    .filter((line) => !looksLikeCall(line))
    .join("\n");
  if (text.trim() === "" && groups.length === 0) throw new HoldfastError("SUMMARY_FAILED", { reason: "it was empty" });
  const words = `[What was said before, in short. Every item of it is listed at ${handle}]\n${text}`;
  return { items: [note(words), ...groups], handle, content };
}

export function isSummaryItem(item: Item | undefined): item is UserItem {
  return item?.kind === "user" && item.notice === "summary";
}

/**
 * What a boundary left, as a page. It stands for more than any other: it is not folded away with its neighbours, and however
 * short it is shown it says where everything is.
 */
export function summaryPage(
  id: string,
  item: UserItem,
  about: { readonly items: number; readonly listed: Handle },
  deps: PageDeps,
): Page {
  const pointer = `[${about.items} earlier items, in short at ${handleOfItem(item, deps)}, each listed at ${about.listed}]`;
  return makePage(
    { id, item, pin: "hard", structured: pointer, pointer, title: `summary of ${about.items} items` },
    deps,
  );
}

/** One pointer, without a word about what was said. */
export function pointTo(gone: readonly Page[]): LeftBehind {
  return leaveBehind(gone, { text: `${gone.length} earlier items were left out.` }, []);
}

/**
 * A provider may answer with a conversation of its own. Its words are the summary, whoever they claim to be from; of its
 * calls only those count that have their output and that the tail does not hold already.
 */
function read(summary: Summary, kept: readonly Item[]): { readonly text: string; readonly groups: readonly Item[] } {
  if ("text" in summary) return { text: summary.text, groups: [] };
  const { items } = summary;
  const there = new Set(kept.flatMap((item) => (item.kind === "call" ? [item.callId] : [])));
  const whole = protocolGroups(items).filter(({ complete, kind }) => complete && kind !== "stray");
  const isCalls = (members: readonly number[]) => members.some((at) => items[at]?.kind === "call");
  const isNew = (members: readonly number[]) =>
    members.every((at) => {
      const item = items[at];
      return item?.kind !== "call" || !there.has(item.callId);
    });
  const spoken = whole.filter(({ members }) => !isCalls(members));
  return {
    text: spoken.flatMap(({ members }) => members.map((at) => wordsOf(items[at]))).join("\n"),
    groups: whole
      .filter(({ members }) => isCalls(members) && isNew(members))
      .flatMap(({ members }) => members.map((at) => items[at] as Item)),
  };
}

function wordsOf(item: Item | undefined): string {
  return item !== undefined && "parts" in item ? textOf(item.parts) : "";
}

function note(text: string): UserItem {
  const part = { type: "text", text: text.toWellFormed(), notice: "summary" } as const;
  return { kind: "user", notice: "summary", parts: [part] };
}

/** Characters for one line of the default summary, and of an earlier summary in it. */
const LINE = 160;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Summarises without a model, and gives the same text every time: what the user said, what the agent said last, which
 * tools ran on what. When it gets too long, the middle is left out, and the text says how much.
 */
export const plainSummary: Summariser = {
  name: "plain",
  async summarise({ items, room }) {
    const calls = new Map(items.flatMap((item) => (item.kind === "call" ? [[item.callId, item] as const] : [])));
    const lines = items.flatMap((item) => lineOf(item, calls));
    // Thoughts and blanks: refused for its emptiness, the conversation could never be compacted.
    if (lines.length === 0) return { text: "Nothing was said in words." };
    const most = Math.max(4, Math.floor((room * CHARACTERS_PER_TOKEN) / (LINE + 1)));
    if (lines.length <= most) return { text: lines.join("\n") };
    const first = Math.floor(most / 3);
    const last = most - first;
    const middle = `… ${lines.length - most} lines left out …`;
    return { text: [...lines.slice(0, first), middle, ...lines.slice(-last)].join("\n") };
  },
};

function lineOf(item: Item, calls: ReadonlyMap<unknown, CallItem>): readonly string[] {
  const said = (who: string, text: string) => {
    const line = oneLine(text);
    return line === "" || looksLikeCall(line) ? [] : [head(`${who}: ${line}`, LINE)];
  };
  switch (item.kind) {
    case "user":
      if (item.notice === "summary") return earlier(textOf(item.parts));
      return item.notice === undefined ? said("user", contentText(item)) : [];
    case "assistant":
      return said("agent", contentText(item));
    case "output":
      return [head(factsLine(evidenceFacts(item, calls.get(item.callId), textOf(item.parts))), LINE)];
    default:
      return [];
  }
}

/** An earlier summary, line by line: it is no word of the user's, and must not sink to one line with every compaction. */
function earlier(text: string): readonly string[] {
  return text
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "" && !line.startsWith("… "))
    .map((line) => head(line, LINE));
}
