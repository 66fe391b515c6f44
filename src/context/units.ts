import { protocolGroups } from "../history/groups.ts";
import type { Item } from "../wire/item.ts";
import { type Page, type Representation, representationAt } from "./page.ts";
import type { ViewEntry } from "./view.ts";
import { isSpan } from "./place.ts";

/** Pages that stand or fall together: a message, or an answer with its calls and all their outputs. */
export interface Unit {
  /** Positions among the pages, rising. */
  readonly members: readonly number[];
  readonly complete: boolean;
  readonly answer: boolean;
}

/** The units of the pages at these positions. */
export function unitsOf(pages: readonly Page[], positions: readonly number[]): readonly Unit[] {
  const at = positions.filter((position) => Object.keys(pages[position]?.representations ?? {}).length > 0);
  const items = at.map((position): Item => {
    const page = pages[position] as Page;
    const shown = representationAt(page, "full") ?? Object.values(page.representations)[0];
    return (shown as Representation).item;
  });
  return protocolGroups(items).map(({ members, complete, kind }) => ({
    members: members.map((member) => at[member] as number),
    complete,
    answer: kind === "answer",
  }));
}

export function spansIn(entries: readonly ViewEntry[]): readonly ViewEntry[] {
  return entries.filter(isSpan);
}

/**
 * What stays whole whatever the pressure: the user's last message, calls in flight, and the newest complete step. A model
 * that does not see what it has just been told asks for it again, for ever.
 */
export function heldIn(units: readonly Unit[], pages: readonly Page[]): ReadonlySet<number> {
  const held = new Set<number>();
  const hold = (unit: Unit | undefined) => unit?.members.forEach((at) => held.add(at));
  const asked = units.findLast(({ members: [first] }) => first !== undefined && isUserTurn(pages[first]));
  hold(asked);
  hold(units.findLast(({ answer, complete }) => answer && complete));
  for (const unit of units) if (!unit.complete) hold(unit);
  return held;
}

/** Words of the user that began a turn; a notice is none. */
export function isUserTurn(page: Page | undefined): boolean {
  const item = page?.representations.full?.item;
  return item?.kind === "user" && item.notice === undefined;
}

/** Whether one pointer may stand for the unit and its neighbours: nothing in it is held, pinned or more than talk and evidence. */
export function isFoldable({ members }: Unit, pages: readonly Page[], held: ReadonlySet<number>): boolean {
  const first = members[0] as number;
  if ((members.at(-1) as number) - first !== members.length - 1) return false; // somebody else's page lies between
  return members.every((at) => {
    const page = pages[at] as Page;
    return !held.has(at) && page.pin !== "hard" && (page.kind === "conversation" || page.kind === "evidence");
  });
}
