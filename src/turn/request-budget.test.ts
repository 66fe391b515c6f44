import { expect, test } from "vitest";
import type { TokenCounter } from "../contracts/token-counter.ts";
import { UNCALIBRATED } from "../context/tokens/calibrate.ts";
import { RequestBudget } from "./request-budget.ts";

/** One token a letter, and how often it was asked. */
function counter() {
  const asked: string[] = [];
  const count = (text: string) => {
    asked.push(text);
    return text.length;
  };
  return { asked, counter: { name: "letters", exact: true, count } satisfies TokenCounter };
}

test("[VIEW-23] a conversation is given what the answer and what stands around it leave of the window", () => {
  const { asked, counter: letters } = counter();
  const budget = new RequestBudget(letters, 1_000);
  const ask = { around: ["a".repeat(80), "b".repeat(20)], answer: 100 };
  const declared = budget.declared(ask, UNCALIBRATED);
  expect(declared).toBe(Math.floor(900 * 0.98) - 100);
  expect(budget.around).toBe(100);
  const once = asked.length;
  expect(budget.declared({ ...ask, around: [...ask.around] }, UNCALIBRATED)).toBe(declared);
  expect(asked).toHaveLength(once);
  expect(budget.declared({ ...ask, around: ["c"] }, UNCALIBRATED)).toBe(declared + 99);
  expect(budget.declared({ around: ["c"] }, UNCALIBRATED)).toBe(Math.floor(750 * 0.98) - 1);
});

test("[VIEW-26] what was once too long holds in that window and in smaller ones, and can be forgotten", () => {
  const budget = new RequestBudget(counter().counter, 1_000);
  budget.tooLong(600, {});
  budget.tooLong(700, {});
  expect(budget.held(900, {})).toBe(600);
  expect(budget.held(500, {})).toBe(500);
  expect(budget.held(900, { window: 800 })).toBe(600);
  expect(budget.held(1_900, { window: 2_000 })).toBe(1_900);
  budget.tooLong(1_500, { window: 2_000 });
  expect(budget.held(1_900, { window: 2_000 })).toBe(1_500);
  budget.forgetTooLong();
  expect(budget.held(900, {})).toBe(900);
});
