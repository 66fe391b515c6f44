import { ok, strictEqual } from "node:assert/strict";
import { SystemClock } from "../../base/clock.ts";
import type { Model, ModelRequest } from "../../contracts/model.ts";
import type { ScriptedAnswer, ScriptedFault } from "../../records/script.ts";
import type { LawBook } from "../law.ts";
import { type Bench, endingOf, HELLO, type Heard, hear, withModel } from "./bench.ts";

/** Long enough for several events, also where a call comes whole. */
const ANSWER: ScriptedAnswer = {
  text: "Let me look at both, one after the other, and then at what they share.",
  calls: [{ name: "grep", input: { pattern: "abc" } }],
};
/** Says its piece and then nothing, with the line open: only an abort ends it. */
const UNENDING: ScriptedFault = { fault: "silent", after: ANSWER };

export const ABORTS: LawBook<Bench> = [
  [
    "[ADAPT-12] an abort before the question sends nothing",
    async (bench) => {
      await withModel(bench, [ANSWER], async ({ model, server }) => {
        const controller = new AbortController();
        controller.abort();
        const { failure, events } = await hear(model, HELLO, controller);
        strictEqual(failure?.kind, "aborted");
        strictEqual(failure?.reached, "no");
        strictEqual(events.length, 1);
        strictEqual(server?.requests.length ?? 0, 0);
      });
    },
  ],
  [
    "[ADAPT-12] an abort while nothing has come back ends the request",
    async (bench) => {
      await withModel(bench, [{ fault: "silent" }], async ({ model, server }) => {
        const controller = new AbortController();
        const heard = hear(model, HELLO, controller);
        const clock = new SystemClock();
        while (server !== undefined && server.requests.length === 0) await clock.sleep(2, undefined, "keep-alive");
        await clock.sleep(10, undefined, "keep-alive");
        controller.abort();
        const { failure } = await heard;
        strictEqual(failure?.kind, "aborted");
        strictEqual(failure?.retryable, false);
        if (server !== undefined) strictEqual(await endingOf(server), "left");
      });
    },
  ],
  [
    "[ADAPT-12] an abort at any event ends the request, and what was said is kept",
    async (bench) => {
      await withModel(
        bench,
        () => UNENDING,
        async ({ model, server }) => {
          if (!model.can.streams) return;
          for (let nth = 1; nth <= 6; nth += 1) {
            const { failure, partial } = await hearAndAbort(model, HELLO, nth);
            strictEqual(failure?.kind, "aborted", `at event ${nth}`);
            strictEqual(failure?.reached, "yes");
            ok((partial?.items.length ?? 0) > 0, `at event ${nth} nothing was kept`);
            if (server !== undefined)
              strictEqual(await endingOf(server), "left", `at event ${nth} the request went on`);
          }
        },
      );
    },
  ],
  [
    "[ADAPT-13] walking away from the events ends the request",
    async (bench) => {
      await withModel(
        bench,
        () => UNENDING,
        async ({ model, server }) => {
          if (!model.can.streams) return;
          for (let nth = 1; nth <= 3; nth += 1) {
            let heard = 0;
            for await (const _event of model.ask(HELLO, { signal: new AbortController().signal })) {
              heard += 1;
              if (heard === nth) break;
            }
            if (server !== undefined)
              strictEqual(await endingOf(server), "left", `after event ${nth} the request went on`);
          }
        },
      );
    },
  ],
  [
    "[ADAPT-13] many questions leave nothing open",
    async (bench) => {
      await withModel(
        bench,
        () => ANSWER,
        async ({ model, server }) => {
          const controller = new AbortController();
          for (let nth = 0; nth < 40; nth += 1) {
            const { answer } = await hear(model, HELLO, controller); // looks at the signal's listeners, too
            ok(answer, `question ${nth}`);
          }
          if (server === undefined) return;
          for (const [nth] of server.requests.entries()) strictEqual(await endingOf(server, nth), "answered");
          // A line may be kept for the next question; one for each question would be a leak.
          const lines = await server.connections();
          ok(lines <= 4, `${lines} lines for questions asked one after another`);
        },
      );
    },
  ],
];

async function hearAndAbort(model: Model, request: ModelRequest, nth: number): Promise<Heard> {
  const controller = new AbortController();
  let seen = 0;
  const watched: Model = {
    ...model,
    async *ask(asked, options) {
      for await (const event of model.ask(asked, options)) {
        yield event;
        seen += 1;
        if (seen === nth) controller.abort();
      }
    },
  };
  const heard = hear(watched, request, controller);
  // The answer has no end: one that came in fewer pieces than are waited for would be waited for until the line times out.
  const enough = new AbortController();
  const late = new SystemClock().sleep(PATIENCE_MS, enough.signal, "keep-alive").then(
    () => controller.abort(),
    () => {}, // it was heard in time
  );
  const result = await heard.finally(() => enough.abort());
  await late;
  ok(seen >= nth, `only ${seen} events came within ${PATIENCE_MS} ms: the answer must come in small pieces`);
  return result;
}

const PATIENCE_MS = 10_000;
