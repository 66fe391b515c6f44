import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ModelEvent } from "../../contracts/model.ts";
import type { ScriptedAnswer } from "../../records/script.ts";
import type { LawBook } from "../law.ts";
import { type Bench, HELLO, hear, saidBy, saidIn, withModel } from "./bench.ts";

const CALL = { name: "read_file", input: { path: 'a "quoted" \\ name.txt' } } as const;

/** Everything a model may say when nothing goes wrong. */
const SAID: readonly ScriptedAnswer[] = [
  { text: "Hello." },
  { text: "Zwölf Boxkämpfer 🥊 jagen\nViktor — 你好, עולם." },
  { calls: [CALL] },
  { text: "Let me look.", calls: [CALL, { name: "grep", input: { pattern: "x", flags: ["i"], depth: 2 } }] },
  { calls: [{ name: "grep", input: {} }, CALL, { name: "grep", input: { nested: { list: [1, null, true] } } }] },
  { reasoning: "Two files could hold it.\nThe first is likelier.", text: "Looking.", calls: [CALL] },
  { reasoning: "Easy.", text: "42" },
  { text: " leading and trailing \n" },
];

export const ANSWERS: LawBook<Bench> = [
  [
    "[ADAPT-1] the same script is the same answer through every adapter: text, thoughts, calls in order, stop and usage",
    async (bench) => {
      for (const step of SAID) {
        const usage = { input: 7, output: 11 };
        await withModel(bench, [{ ...step, usage }], async ({ model }) => {
          const { answer, events } = await hear(model, HELLO);
          ok(answer, "no answer");
          deepStrictEqual(saidIn(answer), saidBy(step, bench.can));
          const calls = (step.calls ?? []).map(({ name, input }) => ({ name, input: { ok: true, value: input } }));
          deepStrictEqual(
            answer.calls.map(({ name, input }) => ({ name, input })),
            calls,
          );
          deepStrictEqual(
            answer.calls.map(({ index }) => index),
            calls.map((_call, index) => index),
          );
          strictEqual(answer.stop, calls.length > 0 ? "tool-calls" : "stop");
          deepStrictEqual([answer.usage?.input, answer.usage?.output], [7, 11]);
          const counts = events.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
          deepStrictEqual(counts.at(-1), answer.usage, "the last usage event is not what the answer says");
          deepStrictEqual([answer.unread, answer.renamed], [[], []]);
          strictEqual(new Set(answer.items.map((item) => item.step)).size, 1, "items of one answer share a step");
        });
      }
    },
  ],
  [
    "[ADAPT-2] what arrives in pieces is what the answer holds",
    async (bench) => {
      for (const step of SAID) {
        await withModel(bench, [step], async ({ model }) => {
          const { events, answer } = await hear(model, HELLO);
          ok(answer, "no answer");
          const { text, reasoning } = saidIn(answer);
          strictEqual(joined(events, "text-delta"), text);
          strictEqual(joined(events, "reasoning-delta"), reasoning);
          for (const { index, name, input } of answer.calls) {
            const deltas = events.filter((event) => event.kind === "call-delta" && event.index === index);
            const said = deltas.map((event) => (event.kind === "call-delta" ? event.arguments : "")).join("");
            deepStrictEqual(input, { ok: true, value: JSON.parse(said === "" ? "{}" : said) as unknown });
            ok(deltas.some((event) => event.kind === "call-delta" && event.name === name));
          }
        });
      }
    },
  ],
  [
    "[ADAPT-22] a model says that it streams when its answers come in pieces, and only then",
    async (bench) => {
      const text = "A sentence that is long enough to come in several pieces.";
      await withModel(bench, [{ text, calls: [CALL] }], async ({ model }) => {
        const { events } = await hear(model, HELLO);
        const texts = events.filter(({ kind }) => kind === "text-delta").length;
        ok(texts > 0, "no text came");
        strictEqual(model.can.streams, texts > 1, `can.streams, and the text came in ${texts} pieces`);
      });
    },
  ],
  [
    "[ADAPT-22] an answer has the provider's id and the name of the model, and no two answers have one id",
    async (bench) => {
      if (!bench.can.answerIds) return;
      await withModel(bench, [{ text: "one" }, { text: "two" }], async ({ model }) => {
        const answers = [await hear(model, HELLO), await hear(model, HELLO)].map(({ answer }) => answer);
        for (const answer of answers) {
          ok(answer?.id !== undefined && answer.id !== "", "the answer has no id");
          ok(answer.model !== undefined && answer.model !== "", "nobody knows which model answered");
        }
        notStrictEqual(answers[0]?.id, answers[1]?.id);
      });
    },
  ],
  [
    "[ADAPT-6] an empty answer, a refusal, a limit and a filter are answers with their stop, and none is an error",
    async (bench) => {
      const filter = [bench.can.contentFilter ? "content-filter" : "refusal"];
      // A model without a word for it says no like anything else, or its provider calls it a filter.
      const refusal = bench.can.refusals ? ["refusal"] : ["stop", "content-filter"];
      const odd: readonly (readonly [ScriptedAnswer, readonly string[]])[] = [
        [{}, ["stop"]],
        [{ refusal: "I will not." }, refusal],
        [{ text: "It goes on and", stop: "length" }, ["length"]],
        [{ text: "It was", stop: "content-filter" }, filter],
        [{ stop: "content-filter" }, filter],
      ];
      for (const [step, stops] of odd) {
        await withModel(bench, [step], async ({ model }) => {
          const { answer } = await hear(model, HELLO);
          const which = JSON.stringify(step);
          ok(answer, `${which} was no answer`);
          ok(stops.includes(answer.stop), `${which}: ${answer.stop} instead of ${stops.join(" or ")}`);
          ok(answer.stopText !== "", `${which}: the provider's own word is missing`);
          deepStrictEqual(saidIn(answer), saidBy(step, bench.can), which);
          deepStrictEqual(answer.calls, []);
        });
      }
    },
  ],
  [
    "[ADAPT-7] no arguments at all are an empty object",
    async (bench) => {
      const calls = [{ name: "grep" }, { name: "grep", inputText: "" }, { name: "grep", input: {} }];
      await withModel(bench, [{ calls }], async ({ model }) => {
        const { answer } = await hear(model, HELLO);
        ok(answer, "no answer");
        const inputs = answer.calls.map(({ input }) => input);
        deepStrictEqual(
          inputs,
          calls.map(() => ({ ok: true, value: {} })),
        );
      });
    },
  ],
  [
    "[ADAPT-7] arguments that are no object are kept as they came, and told; a blank is an empty object",
    async (bench) => {
      if (!bench.can.malformedArguments) return;
      const texts = ['{"path": "a', "{broken", "[1, 2]", '"a.txt"', "{} {}"];
      const calls = [...texts, "", " "].map((inputText) => ({ name: "grep", inputText }));
      await withModel(bench, [{ calls }], async ({ model }) => {
        const { answer } = await hear(model, HELLO);
        ok(answer, "no answer");
        strictEqual(answer.calls.length, calls.length);
        for (const [at, text] of texts.entries()) {
          const input = answer.calls[at]?.input;
          ok(input?.ok === false && input.text === text && input.why !== "", `${text}: ${JSON.stringify(input)}`);
        }
        for (const call of answer.calls.slice(texts.length)) deepStrictEqual(call.input, { ok: true, value: {} });
      });
    },
  ],
  [
    "[ADAPT-7] a limit inside the arguments leaves a partial call, which nobody is asked to run",
    async (bench) => {
      if (!bench.can.malformedArguments) return;
      const calls = [
        { name: "grep", input: { pattern: "x" } },
        { name: "read_file", inputText: '{"path": "a' },
      ];
      await withModel(bench, [{ calls, stop: "length" }], async ({ model }) => {
        const { answer } = await hear(model, HELLO);
        ok(answer, "no answer");
        deepStrictEqual([answer.stop, answer.calls.map(({ name }) => name)], ["length", ["grep"]]);
        const cut = answer.items.filter((item) => item.kind === "call" && item.partial === true);
        deepStrictEqual([cut.length, cut[0]?.kind === "call" && cut[0].name], [1, "read_file"]);
      });
    },
  ],
];

function joined(events: readonly ModelEvent[], kind: "text-delta" | "reasoning-delta"): string {
  return events.map((event) => (event.kind === kind ? event.text : "")).join("");
}
