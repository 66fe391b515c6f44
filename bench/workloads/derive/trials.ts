import type { Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import {
  deriveView,
  estimateCounter,
  type Item,
  makePage,
  type Page,
  type TokenCounter,
  type View,
} from "../../../src/index.ts";
import { BUDGET, deps, itemsOf, outputTexts, pagesOf, TURNS } from "./build.ts";

/** A turn brings so many messages: a call and its output, and what is said. */
const PER_TURN = 2;
const started = ({ size }: Task) => Math.max(PER_TURN, size - TURNS * PER_TURN);

/** Five hundred turns one by one, each with the view before in hand. */
export function deriving(): Trial {
  return defineTrial({
    times: TURNS,
    prepare: (task) => {
      const all = pagesOf(task.size + PER_TURN, task.round + 1);
      const list = all.slice(0, whole(all, started(task)));
      return { all, list, view: must(deriveView(list, { budget: BUDGET })), reclaims: 0 };
    },
    run: (ready) => {
      const { all, list, view } = ready;
      const more = whole(all, list.length + PER_TURN);
      while (list.length < more) list.push(all[list.length] as Page);
      ready.view = must(deriveView(list, { budget: BUDGET, previous: view }));
      if (ready.view.reclaim !== undefined) ready.reclaims += 1;
      return ready.view;
    },
    verify: (view, { list }) => {
      if (view.tokens > BUDGET) throw new Error(`${view.tokens} tokens`);
      if (view.pages.length !== list.length || view.dropped.length > 0) throw new Error("pages are missing");
      return undefined;
    },
  });
}

/** Not in the middle of a call. */
function whole(all: readonly Page[], to: number): number {
  let end = Math.min(to, all.length);
  while (end < all.length && all[end - 1]?.representations.full?.item.kind === "call") end += 1;
  return end;
}

function must(view: ReturnType<typeof deriveView>): View {
  if (!view.ok) throw new Error(`refused: ${JSON.stringify(view.unmet.slice(0, 3))}`);
  return view;
}

/** What everybody writes first: count everything, drop the oldest until it fits. */
export function recounting(counter: () => Promise<TokenCounter> = async () => estimateCounter): Trial {
  return defineTrial({
    times: 3,
    prepare: async (task) => ({ items: itemsOf(task.size, task.round + 1), counter: await counter() }),
    run: ({ items, counter: tokens }) => {
      const costs = items.map((item) => tokens.count(textIn(item)));
      let total = costs.reduce((sum, cost) => sum + cost, 0);
      let from = 0;
      while (total > BUDGET) total -= costs[from++] as number;
      return items.slice(from);
    },
    verify: (left) => {
      if (left.length === 0) throw new Error("nothing is left");
      return undefined;
    },
  });
}

function textIn(item: Item): string {
  if (item.kind === "call") return JSON.stringify(item.input);
  return "parts" in item ? item.parts.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}

/** Making the four representations of one output, of the sizes that the others are given. */
export function making(): Trial {
  return defineTrial({
    times: 96,
    prepare: (task) => ({ texts: outputTexts(task.round + 1), at: 0 }),
    run: (ready) => {
      const text = ready.texts[ready.at++ % ready.texts.length] as string;
      const parts = [{ type: "text", text }] as const;
      return makePage({ id: "p", item: { kind: "output", callKind: "function", status: "success", parts } }, deps);
    },
    verify: ({ representations: { full, compressed } }) => {
      if (!(full !== undefined && compressed !== undefined && compressed.tokens < full.tokens))
        throw new Error("not shorter");
      return undefined;
    },
  });
}
