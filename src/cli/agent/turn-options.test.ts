import { describe, expect, test } from "vitest";
import type { Values } from "../config/settings.ts";
import { modelOf } from "./model.ts";
import { costOf, costWords, pricesIn } from "./prices.ts";
import { limitsIn, windowIn } from "./turn-options.ts";

const values = (some: Readonly<Record<string, unknown>>): Values => some as Values;

describe("what a turn may take", () => {
  test("[CLI-18] bounds that are not set are not there, and each that is has its own name", () => {
    expect(limitsIn(values({}), undefined)).toEqual({});
    const set = { "limits.steps": 7, "limits.tokens": 900, "limits.time": 60_000 };
    expect(limitsIn(values(set), undefined)).toEqual({ steps: 7, tokens: 900, timeMs: 60_000 });
    expect(() => limitsIn(values({ "limits.cost": 1 }), undefined)).toThrow(/nobody knows what a turn costs/);
    expect([windowIn(values({})), windowIn(values({ window: 9 }))]).toEqual([{}, { window: 9 }]);
  });

  test("[CLI-18] money is counted where both prices are known, what the cache held at its own price", () => {
    expect(pricesIn(values({ "prices.input": 3 }))).toBeUndefined();
    const dear = pricesIn(values({ "prices.input": 3, "prices.output": 10 }));
    expect(dear).toEqual({ input: 3, output: 10, cached: 3, currency: "" });
    const prices = { input: 3, output: 10, cached: 1, currency: "EUR" };
    const used = { input: 1_000_000, output: 100_000, cacheRead: 400_000 };
    expect(costOf(prices, used)).toBeCloseTo(0.6 * 3 + 0.4 * 1 + 1);
    expect(limitsIn(values({ "limits.cost": 5 }), prices)).toMatchObject({ cost: 5 });
    expect(limitsIn(values({ "limits.cost": 5 }), prices).price?.(used, "m")).toBeCloseTo(3.2);
  });

  test.each([
    [0, ", 0.00 EUR"],
    [12.345, ", 12.35 EUR"],
    [0.5, ", 0.50 EUR"],
    [0.0123, ", 0.012 EUR"],
    [0.000_000_4, ", 0.000000 EUR"],
  ])("[CLI-18] %d is said as%s", (cost, words) => {
    expect(costWords({ input: 1, output: 1, cached: 1, currency: "EUR" }, cost)).toBe(words);
    expect(costWords(undefined, cost)).toBe("");
  });
});

describe("which model is meant", () => {
  const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  const why = async (given: string | undefined, env: Readonly<Record<string, string>> = keys) => {
    try {
      await modelOf(given, env);
      return "";
    } catch (error) {
      return (error as { details?: { why?: string } }).details?.why ?? String(error);
    }
  };

  test("[CLI-15] is told by its provider and its name, with the provider's key and address", async () => {
    expect(await why("anthropic:claude-x")).toBe("");
    expect((await modelOf("openai:gpt-x", keys)).name).toContain("gpt-x");
    expect((await modelOf("http://127.0.0.1:9/v1#local", {})).name).toContain("local");
  });

  test.each([
    [undefined, "name one"],
    ["gpt-x", "gpt-x is no model; name it as anthropic:NAME, openai:NAME or URL#NAME"],
    ["openai:", "which model? openai:NAME"],
    ["opnai:", "did you mean openai:NAME?"],
    ["anthropic", "which model? anthropic:NAME"],
    ["opnai:gpt-x", "did you mean openai:gpt-x?"],
    [":x", ":x is no model"],
    ["zzzzzzzz:gpt-x", "zzzzzzzz:gpt-x is no model; name it as anthropic:NAME"],
    ["http://127.0.0.1:9/v1", "which model?"],
  ])("[CLI-15] %s is refused with what would work", async (given, words) => {
    expect(await why(given)).toContain(words);
  });

  test.each(["http://wilma:hunter2@127.0.0.1:9/v1#local", "http://wilma:hunter2@127.0.0.1:9/v1"])(
    "[ADAPT-45] [CLI-15] %s is refused before anything is asked, with where the key goes, and is not quoted",
    async (given) => {
      const told = await why(given);
      expect(told).toContain("OPENAI_API_KEY");
      expect(told).not.toMatch(/wilma|hunter2/);
    },
  );

  test("[CLI-15] a key that is missing, or set to nothing, is told before anything is asked", async () => {
    expect(await why("anthropic:x", {})).toMatch(/^ANTHROPIC_API_KEY is not set; /);
    expect(await why("openai:x", { OPENAI_API_KEY: "" })).toMatch(/^OPENAI_API_KEY is not set; /);
  });
});
