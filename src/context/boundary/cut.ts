import type { Page } from "../page.ts";
import { isUserTurn, unitsOf } from "../units.ts";
import { isSummaryItem } from "./summary.ts";

/** How much of the conversation may stay when a boundary is crossed. */
export interface CutLimits {
  /** Tokens for the newest whole groups. The newest group always stays, however large, unless `groups` is 0. */
  readonly tail: number;
  /** The most groups that stay. Default: as many as fit. */
  readonly groups?: number;
  /** Tokens for older messages of the user, newest first, word for word. */
  readonly said: number;
}

/** Which pages leave the requests, by position. Rules, instructions and calls in flight never do. */
export interface Cut {
  readonly gone: readonly number[];
  /** Messages of the user from before the tail that stay. */
  readonly said: readonly number[];
  /** Where the newest groups begin. What stands for the pages that are gone is inserted before it. */
  readonly tailFrom: number;
}

/** Plans a cut by whole groups: no call is separated from its output. Two messages with the same text count as two. */
export function planCut(pages: readonly Page[], limits: CutLimits): Cut {
  const talk = pages.flatMap((page, at) => (isTalk(page) ? [at] : []));
  const units = unitsOf(pages, talk);
  const tokensOf = (members: readonly number[]) =>
    members.reduce((sum, at) => sum + (pages[at]?.representations.full?.tokens ?? 0), 0);
  const most = limits.groups ?? Number.POSITIVE_INFINITY;
  let left = limits.tail;
  let first = units.length;
  while (first > 0) {
    const next = units[first - 1];
    const kept = units.length - first;
    if (next === undefined || kept >= most || isSummary(pages[next.members[0] as number])) break;
    const price = tokensOf(next.members);
    if (kept > 0 && price > left) break;
    left -= price;
    first -= 1;
  }
  const open = new Set(units.flatMap(({ members, complete }) => (complete ? [] : members)));
  const older = units.slice(0, first);
  const said = new Set<number>();
  const asked = older.filter(({ members: [at] }) => isUserTurn(pages[at as number])).toReversed();
  let room = limits.said;
  for (const { members } of asked) {
    const price = tokensOf(members);
    // The question of the turn stays whole: a model that does not see what it was asked answers something else.
    const current = said.size === 0 && limits.groups !== 0 && !hasUser(units.slice(first), pages);
    if (price > room && !current) break;
    room -= price;
    for (const at of members) said.add(at);
  }
  const tail = units.slice(first).flatMap(({ members }) => members);
  return {
    gone: older.flatMap(({ members }) => members.filter((at) => !open.has(at) && !said.has(at))).sort((a, b) => a - b),
    said: [...said].sort((a, b) => a - b),
    tailFrom: tail.reduce((first, at) => Math.min(first, at), pages.length),
  };
}

function hasUser(units: ReturnType<typeof unitsOf>, pages: readonly Page[]): boolean {
  return units.some(({ members: [at] }) => isUserTurn(pages[at as number]));
}

/** What an earlier boundary left behind: the next one says it anew, so it is never part of what stays. */
function isSummary(page: Page | undefined): boolean {
  return isSummaryItem(page?.representations.full?.item);
}

/** What was said and what tools answered. Everything else holds, and outlives every boundary. */
function isTalk(page: Page): boolean {
  const { kind, pin } = page;
  return (pin !== "hard" || isSummary(page)) && (kind === "conversation" || kind === "evidence");
}
