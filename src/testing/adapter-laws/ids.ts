import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { LawBook } from "../law.ts";
import { after, type Bench, HELLO, hear, withModel } from "./bench.ts";

export const IDS: LawBook<Bench> = [
  [
    "[ADAPT-8] ids that are empty, doubled or used before are replaced, told, and the loop goes on",
    async (bench) => {
      const twice = [
        { name: "grep", input: { n: 1 }, id: "call_same" },
        { name: "grep", input: { n: 2 }, id: "call_same" },
        { name: "grep", input: { n: 3 }, id: "" },
      ];
      const again = [{ name: "grep", input: { n: 4 }, id: "call_same" }];
      await withModel(bench, [{ calls: twice }, { calls: again }, { text: "done" }], async ({ model, server }) => {
        const first = await hear(model, HELLO);
        ok(first.answer, "no answer");
        const told = first.answer.renamed.map(({ index, from }) => [index, from]);
        if (bench.can.rawIds)
          deepStrictEqual(told, [
            [1, "call_same"],
            [2, ""],
          ]);
        const second = await hear(model, after(HELLO, first.answer));
        ok(second.answer, JSON.stringify(second.failure));
        deepStrictEqual(
          second.answer.renamed.map(({ from }) => from),
          ["call_same"],
        );
        const ids = [first.answer, second.answer].flatMap(({ calls }) => calls.map((call) => call.callId));
        strictEqual(new Set(ids).size, 4, `ids are not unique: ${ids.join(" ")}`);
        const third = await hear(model, after(after(HELLO, first.answer), second.answer));
        ok(third.answer, JSON.stringify(third.failure));
        deepStrictEqual(server?.refused ?? [], []);
      });
    },
  ],
  [
    "[ADAPT-8] ids in a strange alphabet are kept as they came and sent in the provider's",
    async (bench) => {
      const calls = [
        { name: "grep", input: {}, id: "functions.grep:0" },
        { name: "grep", input: {}, id: `long-${"x".repeat(90)}` },
      ];
      await withModel(bench, [{ calls }, { text: "done" }], async ({ model, server }) => {
        const { answer } = await hear(model, HELLO);
        ok(answer, "no answer");
        deepStrictEqual(
          answer.calls.map((call) => String(call.callId)),
          calls.map(({ id }) => id),
        );
        const second = await hear(model, after(HELLO, answer));
        ok(second.answer, JSON.stringify(second.failure));
        deepStrictEqual(server?.refused ?? [], []);
      });
    },
  ],
];
