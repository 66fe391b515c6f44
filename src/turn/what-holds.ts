import type { PageDeps } from "../context/make-page.ts";
import type { Page } from "../context/page.ts";
import { constraintPage, preferencePage, type Rule } from "../context/producers.ts";
import { durablePageOf } from "../context/writeback/shown.ts";
import { type DurablePage, keyOf } from "../context/writeback/tuple.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { type AnySlice, anyPartOf, partOf, type Slice } from "../state/slice.ts";
import { PinnedRules, readRule } from "./context-slices.ts";
import type { Shelves } from "./shelves.ts";
import { DurableState, StagedWritebacks, waitingIn } from "./writeback-slices.ts";

/** Something that is not said but holds, under a name of its own. */
export interface Standing {
  readonly id: string;
  /** Its page is made anew when this changes. */
  readonly what: object;
  readonly make: (deps: PageDeps) => Page | undefined;
}

type SharedPages = Pick<Shelves, "pages">;

/** What holds from some point of the conversation on: pinned rules and durable pages, of the session and shared. */
export function pinnedIn(state: ExecutionState, shelves: SharedPages | undefined): readonly Standing[] {
  const durable = durableIn(state, shelves, (kind) => kind !== "plan");
  return [...valueIn(state, PinnedRules).map(standingRule), ...durable];
}

/** What held when a request was made, by the names it noted. Levels are kept by place, so what has gone since leaves its own. */
export function stoodIn(beside: Readonly<Record<string, string>>, pinned: readonly Standing[]): readonly Standing[] {
  return Object.keys(beside).map((id) => pinned.find((one) => one.id === id) ?? standingGone(id));
}

/** Plans change with every step, so they stand in the tail. */
export function plansIn(state: ExecutionState, shelves: SharedPages | undefined): readonly Standing[] {
  return durableIn(state, shelves, (kind) => kind === "plan");
}

function durableIn(
  state: ExecutionState,
  shelves: SharedPages | undefined,
  wanted: (kind: DurablePage["kind"]) => boolean,
): readonly Standing[] {
  const all = [valueIn(state, DurableState), shelves?.pages("project") ?? {}, shelves?.pages("user") ?? {}];
  const pages = all.flatMap((own) => Object.values(own)).filter(({ kind }) => wanted(kind));
  const waiting = waitingIn(valueIn(state, StagedWritebacks));
  return pages.map((page) => {
    const isDirty = waiting.some((one) => one.scope === page.scope && keyOf(one) === keyOf(page));
    return standingDurable(page, isDirty);
  });
}

/** What a slice holds, or begins with where the state does not have it. */
export function valueIn<T>(state: ExecutionState, slice: Slice<T>): T {
  return hasSlice(state, slice) ? state.session.get(slice) : partOf(slice).initial;
}

/** A state of its own, outside any session, need not have our slices. */
export function hasSlice({ truth }: ExecutionState, slice: AnySlice): boolean {
  return truth.parts.has(anyPartOf(slice).name);
}

export function standingDurable(durable: DurablePage, dirty: boolean): Standing {
  const make = (deps: PageDeps) => {
    const page = durablePageOf(durable, deps);
    return page === undefined ? undefined : { ...page, dirty };
  };
  return { id: `${durable.scope}/${keyOf(durable)}`, what: { ...durable, dirty }, make };
}

export function standingRule(kept: Rule): Standing {
  const rule = readRule(kept);
  return { id: rule.id, what: rule, make: (deps) => constraintPage(rule, deps) };
}

/** In place of what has gone: nothing of it is shown again. */
function standingGone(id: string): Standing {
  const gone = { id, text: "", scope: "session", source: "" } as const;
  const [, kind] = DURABLE.exec(id) ?? [];
  const makes = kind === "preference" ? preferencePage : constraintPage;
  return { id, what: gone, make: (deps) => (kind === undefined ? makes(gone, deps) : { ...makes(gone, deps), id }) };
}

const DURABLE = /^\w+\/(constraint|preference):/;
