import { describe, expect, test } from "vitest";
import { estimateCounter, itemTokens, normalize, readMessages } from "../../src/index.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";
import { toolsOf, turnsOf } from "../histories/relive.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";

/** Sessions that say something about a cache. */
const MANY_REQUESTS = 20;
const counter = { ...estimateCounter, exact: true };

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", { timeout: 900_000 }, () => {
  test.each(TRANSCRIPTS)(
    "[VIEW-24] %s: lived through again by the loop at half its size, no request is refused",
    async (folder) => {
      let sessions = 0;
      let requests = 0;
      let reclaims = 0;
      for (const { format, messages } of conversations(folder)) {
        const { items } = normalize(readMessages(messages, format).items);
        const turns = turnsOf(items);
        if (turns.reduce((sum, { answers }) => sum + answers.length, 0) < MANY_REQUESTS) continue;
        const total = items.reduce((sum, item) => sum + itemTokens(item, counter), 0);
        const { session } = await opened(undefined, {
          tools: toolsOf(items),
          context: { window: Math.ceil(total / 2 / 0.98) + ANSWER, counter },
        });
        for (const { said, answers } of turns) {
          const script = [...answers, { text: "ok" }];
          let asked = 0;
          const model = scripted(() => script[Math.min(asked++, script.length - 1)] as ScriptedAnswer);
          const { end, events } = await watch(session.run(said, { model, maxOutputTokens: ANSWER, ...BOUNDS }));
          expect({ folder, end }).toMatchObject({ folder, end: { status: "done" } });
          requests += asked;
          reclaims += events.filter(({ kind }) => kind === "reclaimed").length;
          const view = session.context.view!;
          expect(view.tokens).toBeLessThanOrEqual(view.budget);
        }
        sessions += 1;
        await session.close();
      }
      console.log(`${folder}: ${sessions} sessions, ${requests} requests, ${reclaims} reclaims, none refused`);
      expect(sessions).toBeGreaterThan(0);
    },
  );
});

const ANSWER = 1_000;
const BOUNDS = { limits: { steps: 10_000 }, retry: { attempts: 1 } };
