import { openaiTokens } from "../../src/adapters/openai/entry.ts";
import { type Item, normalize, type Page, pagesOf, readMessages, type TokenCounter } from "../../src/index.ts";
import { conversations, TRANSCRIPTS } from "../../test/histories/corpus.ts";

/** A real session, and where in it its model was asked. */
export interface Lived {
  readonly name: string;
  readonly pages: readonly Page[];
  readonly items: readonly Item[];
  /** The request before each answer: so many items were there. */
  readonly requests: readonly number[];
  readonly tokens: number;
}

/** Fewer requests say little about a cache. */
const MANY = 20;

export async function* sessions(): AsyncGenerator<{ readonly lived: Lived; readonly counter: TokenCounter }> {
  const counter = await openaiTokens();
  for (const folder of TRANSCRIPTS)
    for (const { name, format, messages } of conversations(folder)) {
      const { items } = normalize(readMessages(messages, format).items);
      const requests = requestsIn(items);
      if (requests.length < MANY) continue;
      const pages = pagesOf(items, { counter, lineage: "corpus" });
      const tokens = pages.reduce((sum, { representations }) => sum + (representations.full?.tokens ?? 0), 0);
      yield { lived: { name, pages, items, requests, tokens }, counter };
    }
}

function requestsIn(items: readonly Item[]): readonly number[] {
  const byModel = items.map(({ kind }) => kind === "assistant" || kind === "call" || kind === "reasoning");
  return items.flatMap((_, at) => (at > 0 && byModel[at] === true && byModel[at - 1] === false ? [at] : []));
}
