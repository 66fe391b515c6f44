import { describe, expect, test } from "vitest";
import { openaiTokens } from "../../src/adapters/openai/tokens.ts";
import { contentText } from "../../src/context/content-text.ts";
import { deriveView, normalize, type Page, pagesOf, readMessages, type View } from "../../src/index.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";

const MANY_REQUESTS = 20;

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", { timeout: 600_000 }, () => {
  test("[PAGE-13] outputs of 2 KB and more have a fifth of the tokens when compressed", async () => {
    const counter = await openaiTokens();
    let full = 0;
    let compressed = 0;
    for (const page of allPages(counter)) {
      const shown = page.representations;
      if (page.kind !== "evidence" || Buffer.byteLength(contentText(shown.full!.item)) < 2_048) continue;
      full += shown.full!.tokens;
      compressed += shown.compressed!.tokens;
    }
    console.log(
      `outputs of 2 KB and more: ${full} tokens, compressed ${compressed}: ${(full / compressed).toFixed(2)} x smaller`,
    );
    expect(full).toBeGreaterThan(0);
    expect(full / compressed).toBeGreaterThanOrEqual(5);
  });

  test("[VIEW-19] at half their size, sessions keep their prefix and no request is refused", async () => {
    const counter = await openaiTokens();
    const kept: number[] = [];
    let requests = 0;
    for (const list of sessions(counter)) {
      const cuts = requestsOf(list);
      if (cuts.length < MANY_REQUESTS) continue;
      const budget = Math.floor(list.reduce((sum, page) => sum + page.representations.full!.tokens, 0) / 2);
      let [again, same] = [0, 0];
      let previous: View | undefined;
      for (const cut of cuts) {
        const view = deriveView(list.slice(0, cut), {
          budget,
          counter,
          ...(previous === undefined ? {} : { previous }),
        });
        if (!view.ok) throw new Error(`refused: ${JSON.stringify(view)}`);
        expect(view.tokens).toBeLessThanOrEqual(budget);
        const before = previous?.items ?? [];
        const prefix = before.findIndex((item, at) => item !== view.items[at]);
        if (view.reclaim === undefined) expect(prefix).toBe(-1);
        const sent = new Set(before);
        for (const [at, { item, tokens }] of view.entries.entries()) {
          if (sent.has(item)) again += tokens;
          if (sent.has(item) && (prefix === -1 || at < prefix)) same += tokens;
        }
        previous = view;
        requests += 1;
      }
      kept.push(same / again);
    }
    const median = kept.toSorted((a, b) => a - b)[kept.length >> 1]!;
    console.log(
      `${kept.length} sessions, ${requests} requests: ${(median * 100).toFixed(2)} % of the prefix kept (median)`,
    );
    expect(median).toBeGreaterThanOrEqual(0.95);
  });
});

type Counter = Awaited<ReturnType<typeof openaiTokens>>;

function* sessions(counter: Counter): Generator<readonly Page[]> {
  for (const folder of TRANSCRIPTS)
    for (const { format, messages } of conversations(folder))
      yield pagesOf(normalize(readMessages(messages, format).items).items, { counter, lineage: "corpus" });
}

function* allPages(counter: Counter): Generator<Page> {
  for (const list of sessions(counter)) yield* list;
}

/** Where the model was asked: before each of its answers. */
function requestsOf(list: readonly Page[]): readonly number[] {
  const byModel = list.map(({ representations }) =>
    ["assistant", "call", "reasoning"].includes(representations.full!.item.kind),
  );
  return list.flatMap((_, at) => (at > 0 && byModel[at] === true && byModel[at - 1] === false ? [at] : []));
}
