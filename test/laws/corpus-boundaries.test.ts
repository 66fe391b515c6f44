import { describe, expect, test } from "vitest";
import { estimateCounter, type Item, itemTokens, normalize, readMessages, textOf } from "../../src/index.ts";
import type { Model, ModelRequest } from "../../src/contracts/model.ts";
import type { ScriptedAnswer } from "../../src/records/script.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";
import { toolsOf, turnsOf } from "../histories/relive.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";

/** Enough answers for ten boundaries with something between them. */
const MANY = 33;
const TIMES = 10;
const SESSIONS = 8;
const counter = { ...estimateCounter, exact: true };
const RULES = ["Never push to main.", "Ask before you delete a file.\nAlways.", "  keep    these   spaces  "];

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", { timeout: 900_000 }, () => {
  test("[BOUNDARY-13] after ten compactions every rule is verbatim and every handle resolves", async () => {
    let lived = 0;
    for (const folder of TRANSCRIPTS) {
      let sessions = 0;
      let shown = 0;
      for (const { format, messages } of conversations(folder)) {
        if (sessions === SESSIONS) break;
        const { items } = normalize(readMessages(messages, format).items);
        const answers = turnsOf(items).flatMap((turn) => turn.answers);
        if (answers.length < MANY) continue;
        const total = items.reduce((sum, item) => sum + itemTokens(item, counter), 0);
        const options = { tools: toolsOf(items), context: { window: Math.ceil(total / 6) + 8_000, counter } };
        const { disk, session } = await opened(undefined, options);
        for (const [nth, text] of RULES.entries())
          await session.context.pin({ id: `R${nth}`, text, scope: "session", source: "the user" });
        const handles = new Set<string>();
        const ask = async (one: typeof session, script: readonly ScriptedAnswer[]) => {
          const { model, sent } = heard([...script, { text: "ok" }]);
          const bounds = { limits: { steps: 10_000 }, retry: { attempts: 1 }, maxOutputTokens: 1_000 };
          const { end } = await watch(one.run("go on", { model, ...bounds }));
          expect({ folder, end }).toMatchObject({ folder, end: { status: "done" } });
          for (const { items: all } of sent) {
            const words = wordsOf(all);
            for (const rule of RULES) expect(words).toContain(rule);
            for (const handle of JSON.stringify(all).match(HANDLE) ?? []) handles.add(handle);
          }
        };
        const size = Math.floor(answers.length / (TIMES + 1));
        for (let nth = 0; nth < TIMES; nth += 1) {
          await ask(session, answers.slice(nth * size, (nth + 1) * size));
          await session.compact({ tail: 0, said: 500 });
        }
        await session.close();
        const { session: again } = await opened(disk, options);
        await ask(again, answers.slice(TIMES * size));
        const crossed = (await Array.fromAsync(again.read())).filter(({ kind }) => kind === "boundary-crossed");
        expect(crossed.length).toBeGreaterThanOrEqual(TIMES);
        for (const handle of handles)
          expect({ handle, ...again.context.recall({ handle }) }).toMatchObject({ handle, ok: true });
        shown += handles.size;
        sessions += 1;
        await again.close();
      }
      console.log(`${folder}: ${sessions} sessions, ${TIMES} compactions each, ${shown} handles that resolve`);
      lived += sessions;
    }
    expect(lived).toBeGreaterThan(0);
  });
});

const HANDLE = /holdfast:\/\/[a-z2-7]{26}/g;

function heard(script: readonly ScriptedAnswer[]): { readonly model: Model; readonly sent: ModelRequest[] } {
  let asked = 0;
  const model = scripted(() => script[Math.min(asked++, script.length - 1)] as ScriptedAnswer);
  const sent: ModelRequest[] = [];
  const ask: Model["ask"] = (request, options) => {
    sent.push(request);
    return model.ask(request, options);
  };
  return { model: { ...model, ask }, sent };
}

function wordsOf(items: readonly Item[]): string {
  return items.map((item) => ("parts" in item ? textOf(item.parts) : "")).join("\n");
}
