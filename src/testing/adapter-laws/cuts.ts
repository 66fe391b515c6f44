import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { CutPoint, ScriptedAnswer } from "../../records/script.ts";
import type { LawBook } from "../law.ts";
import { type Bench, HELLO, hear, saidBy, saidIn, withModel } from "./bench.ts";

const ANSWER: ScriptedAnswer = {
  reasoning: "It may be either.",
  text: "Let me look 🥊 at both.",
  calls: [
    { name: "read_file", input: { path: "a.txt", lines: [1, 20] } },
    { name: "grep", input: { pattern: "ö+" } },
  ],
};

/** More than any provider needs for the answer above; bytes close to each other at first, then ever further apart. */
const EVENTS = Array.from({ length: 44 }, (_unused, events) => ({ events }));
const BYTES = Array.from({ length: 100 }, (_unused, nth) => ({ bytes: nth ** 2 }));

export const CUTS: LawBook<Bench> = [
  [
    "[ADAPT-9] an answer cut after any event is never taken for a whole one",
    async (bench) => cutEverywhere(bench, EVENTS),
  ],
  ["[ADAPT-9] an answer cut at any byte is never taken for a whole one", async (bench) => cutEverywhere(bench, BYTES)],
];

/** The line drops, and, as behind some proxies, the body ends as if nothing were wrong. */
async function cutEverywhere(bench: Bench, points: readonly CutPoint[]): Promise<void> {
  const ways = points.flatMap((cutAfter) => [cutAfter, { ...cutAfter, politely: true } as const]);
  const script = ways.map((cutAfter) => ({ ...ANSWER, cutAfter }));
  let cuts = 0;
  await withModel(bench, script, async ({ model }) => {
    for (const cutAfter of ways) {
      const { answer, failure, partial } = await hear(model, HELLO);
      const where = JSON.stringify(cutAfter);
      if (answer !== undefined) {
        // Cut behind the word that ended it: nothing of it is missing.
        deepStrictEqual(saidIn(answer), saidBy(ANSWER, bench.can), where);
        strictEqual(answer.calls.length, 2, where);
        continue;
      }
      cuts += 1;
      // A body that ends politely inside an event, or that was to come whole, cannot even be read.
      const torn = !model.can.streams || ("bytes" in cutAfter && "politely" in cutAfter);
      const kinds = torn ? ["cut", "unreadable"] : ["cut"];
      ok(failure !== undefined && kinds.includes(failure.kind), `${where}: ${failure?.kind}`);
      ok(failure.retryable, where);
      ok(partial, where);
      const said = saidIn(partial);
      ok(ANSWER.text?.startsWith(said.text), `${where}: ${said.text}`);
      ok(ANSWER.reasoning?.startsWith(said.reasoning), `${where}: ${said.reasoning}`);
      const calls = partial.items.filter((item) => item.kind === "call");
      ok(
        calls.every((call) => call.partial === true),
        `${where}: a call could be run`,
      );
    }
  });
  ok(cuts > 10, `only ${cuts} cuts were cuts`);
}
