import { pagesOf } from "../../src/context/ingest.ts";
import type { PageDeps } from "../../src/context/make-page.ts";
import type { Page } from "../../src/context/page.ts";
import { deriveView, type DeriveOptions } from "../../src/context/derive.ts";
import type { View } from "../../src/context/view.ts";
import type { TokenCounter } from "../../src/contracts/token-counter.ts";
import type { Item } from "../../src/wire/item.ts";
import { call, output, say, user } from "../histories/items.ts";

/** One token for each four characters: figures in tests can be checked by hand. */
export const quarters: TokenCounter = {
  name: "quarters",
  exact: true,
  count: (text) => Math.ceil(text.length / 4),
};

export const deps: PageDeps = { counter: quarters, lineage: "a lineage" };

export function pages(items: readonly Item[], more: Partial<PageDeps> = {}): readonly Page[] {
  return pagesOf(items, { ...deps, ...more });
}

/** A view, or a failing test that says what was unmet. */
export function viewOf(from: readonly Page[], options: DeriveOptions): View {
  const derived = deriveView(from, { counter: quarters, ...options });
  if (!derived.ok) throw new Error(`refused: ${JSON.stringify(derived)}`);
  return derived;
}

/** Lines that differ, as a tool would print them. */
export function longText(lines: number, word = "line"): string {
  return Array.from({ length: lines }, (_, at) => `${word} ${"abcdefgh"[at % 8]} of a long output, part ${at}`).join(
    "\n",
  );
}

/** A session of so many steps: the user asks, the model reads files of so many lines and says something. */
export function session(steps: number, lines = 60): readonly Item[] {
  const items: Item[] = [user("please look at everything")];
  for (let at = 0; at < steps; at += 1) {
    const id = `c${at}`;
    items.push(
      call(id, { step: at, input: { path: `src/file-${at}.ts` } }),
      output(id, { parts: [{ type: "text", text: longText(lines, `file ${at}`) }] }),
    );
    if (at % 5 === 4) items.push(say(`I have read ${at + 1} files.`, { step: `s${at}` }), user(`go on, ${at}`));
  }
  return items;
}

export const bytesOf = (items: readonly Item[]) => JSON.stringify(items);
