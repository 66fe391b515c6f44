import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ScriptedAnswer } from "../../records/script.ts";
import type { LawBook } from "../law.ts";
import { after, type Bench, HELLO, hear, user, withModel } from "./bench.ts";

const CALL = { name: "grep", input: { pattern: "ö" } } as const;
const THOUGHT = 'Zwei 🥊 \\ "Dateien"\n';

/** Every kind of answer that a provider may seal somewhere: a thought, a call, a text, or the nothing at its end. */
const SEALED: readonly ScriptedAnswer[] = [
  { reasoning: THOUGHT, text: "Look.", calls: [CALL] },
  { reasoning: THOUGHT, calls: [CALL, { ...CALL, name: "read_file" }] },
  { reasoning: THOUGHT, text: "A text of several pieces, with a seal at its end." },
  { calls: [CALL, CALL] },
];

export const SEALS: LawBook<Bench> = [
  [
    "[ADAPT-5] every seal goes back in the next request, wherever it stood, and the provider takes it",
    async (bench) => {
      for (const step of SEALED) {
        await withModel(bench, [step, { text: "ok" }], async ({ model, server }) => {
          const { answer } = await hear(model, HELLO);
          ok(answer, "no answer");
          const { failure } = await hear(model, after(HELLO, answer, answer.calls.length === 0 ? [user("go on")] : []));
          deepStrictEqual([failure, server?.refused ?? []], [undefined, []], JSON.stringify(step));
          const sent = JSON.stringify(server?.requests.at(-1)?.body);
          for (const seal of server?.requests[0]?.seals ?? [])
            ok(sent.includes(JSON.stringify(seal)), `a seal of ${JSON.stringify(step)} did not go back`);
        });
      }
    },
  ],
  [
    "[ADAPT-5] a thought that is sealed itself goes back byte for byte",
    async (bench) => {
      const [step = {}] = SEALED;
      await withModel(bench, [step, { text: "ok" }], async ({ model, server }) => {
        const { answer } = await hear(model, HELLO);
        ok(answer, "no answer");
        await hear(model, after(HELLO, answer));
        const seals = new Set(server?.requests[0]?.seals);
        const thought = answer.items.find(({ kind, origin }) => {
          return kind === "reasoning" && textsIn(origin?.pieces).some((text) => seals.has(text));
        });
        if (thought?.origin === undefined) return; // sealed elsewhere, or not at all: that is the law above
        const sent = JSON.stringify(server?.requests.at(-1)?.body);
        const [piece] = thought.origin.pieces;
        const whole = sent.includes(JSON.stringify(piece));
        // A layer between has names of its own for the fields; what they hold must arrive all the same.
        const held = textsIn(piece).filter((text) => text !== "reasoning");
        ok(
          whole || (held.length > 1 && held.every((text) => sent.includes(JSON.stringify(text)))),
          "the original was changed on its way back",
        );
      });
    },
  ],
  [
    "[ADAPT-22] a model says that its reasoning is sealed when it is, and only then",
    async (bench) => {
      await withModel(bench, [{ reasoning: THOUGHT, text: "So." }], async ({ model, server }) => {
        await hear(model, HELLO);
        if (server === undefined) return;
        const seals = server.requests[0]?.seals ?? [];
        strictEqual(model.can.sealsReasoning, seals.length > 0, `can.sealsReasoning, and ${seals.length} seals came`);
      });
    },
  ],
];

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
