import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ModelFailure } from "../../contracts/model.ts";
import type { ScriptedFault } from "../../records/script.ts";
import type { LawBook } from "../law.ts";
import { type Bench, HELLO, hear, saidIn, withModel } from "./bench.ts";

type Hints = Pick<ModelFailure, "kind" | "retryable" | "reached"> & { readonly retryAfterMs?: number };

/** Every fault before the first word, and what must be told about it. */
const BEFORE: readonly (readonly [ScriptedFault, Hints])[] = [
  [
    { fault: "rate-limited", retryAfter: 7 },
    { kind: "rate-limited", retryable: true, reached: "no", retryAfterMs: 7000 },
  ],
  [{ fault: "rate-limited" }, { kind: "rate-limited", retryable: true, reached: "no" }],
  [{ fault: "out-of-quota" }, { kind: "out-of-quota", retryable: false, reached: "no" }],
  [
    { fault: "overloaded", retryAfter: 1 },
    { kind: "overloaded", retryable: true, reached: "no", retryAfterMs: 1000 },
  ],
  [{ fault: "provider-broken" }, { kind: "provider-broken", retryable: true, reached: "maybe" }],
  [{ fault: "too-long" }, { kind: "too-long", retryable: false, reached: "no" }],
  [{ fault: "refused-request" }, { kind: "refused-request", retryable: false, reached: "no" }],
  [{ fault: "not-allowed" }, { kind: "not-allowed", retryable: false, reached: "no" }],
  [{ fault: "hang-up" }, { kind: "unreachable", retryable: true, reached: "maybe" }],
];

/** Faults inside an answer that had begun: the model has been paid for by then. */
const AMID = ["overloaded", "provider-broken", "hang-up"] as const;

export const FAILURES: LawBook<Bench> = [
  [
    "[ADAPT-10] every refusal is a failure with its kind, whether to try again, when, and whether the model was reached",
    async (bench) => {
      for (const [fault, hints] of BEFORE) {
        await withModel(bench, [fault], async ({ model }) => {
          const { failure, partial } = await hear(model, HELLO);
          ok(failure, `${fault.fault} was no failure`);
          const { kind, retryable, reached, retryAfterMs } = failure;
          const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
          deepStrictEqual({ kind, retryable, reached, ...wait }, hints, JSON.stringify(failure));
          ok(failure.message !== "");
          deepStrictEqual(partial?.items, []);
        });
      }
    },
  ],
  [
    "[ADAPT-10] a fault inside an answer is a failure that reached the model, with what was said so far",
    async (bench) => {
      for (const fault of AMID) {
        await withModel(bench, [{ fault, after: { text: "So far so" } }], async ({ model }) => {
          if (!model.can.streams) return;
          const { failure, partial } = await hear(model, HELLO);
          strictEqual(failure?.kind, fault === "hang-up" ? "cut" : fault);
          strictEqual(failure?.reached, "yes");
          ok(partial && saidIn(partial).text === "So far so", JSON.stringify(partial));
        });
      }
    },
  ],
  [
    "[ADAPT-10] what is no answer at all is unreadable or cut, to be tried again, and neither silence nor an answer",
    async (bench) => {
      await withModel(bench, [{ fault: "unreadable" }], async ({ model }) => {
        const { failure, partial } = await hear(model, HELLO);
        ok(failure?.kind === "unreadable" || failure?.kind === "cut", JSON.stringify(failure));
        deepStrictEqual([failure.retryable, partial?.items], [true, []]);
      });
    },
  ],
  [
    "[ADAPT-11] one question is one request, also when it fails",
    async (bench) => {
      const faults = ["rate-limited", "overloaded", "provider-broken", "hang-up"] as const;
      await withModel(
        bench,
        faults.map((fault) => ({ fault })),
        async ({ model, server }) => {
          for (const [nth, fault] of faults.entries()) {
            await hear(model, HELLO);
            strictEqual(server?.requests.length ?? nth + 1, nth + 1, `${fault} was asked again`);
          }
        },
      );
    },
  ],
];
