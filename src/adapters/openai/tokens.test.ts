import { describe, expect, test } from "vitest";
import { longText } from "../../../test/support/pages.ts";
import { estimateCounter } from "../../index.ts";
import { openaiTokens } from "./tokens.ts";
import { encodingCounter } from "./vendor.ts";

describe("OpenAI's encodings", () => {
  test("[TOKEN-1] are counted as published, and special tokens in a text are text", async () => {
    const o200k = await openaiTokens();
    const cl100k = await openaiTokens("gpt-4");
    // Counts of the reference implementation.
    expect([o200k.name, cl100k.name, (await openaiTokens("gpt-5")).name]).toEqual([
      "o200k_base",
      "cl100k_base",
      "o200k_base",
    ]);
    expect(o200k.count("hello world")).toBe(2);
    expect(cl100k.count("hello world")).toBe(2);
    expect(o200k.count("hello <|endoftext|> world")).toBe(9);
    expect(o200k.exact).toBe(true);
  });

  test("[TOKEN-3] are met by the estimate within its reserve, on code, prose and logs", async () => {
    const o200k = await openaiTokens();
    const samples = [
      longText(200),
      Array.from(
        { length: 80 },
        (_, at) => `  if (value[${at}] === undefined) return compute(left, right, ${at});`,
      ).join("\n"),
      "The quick brown fox jumps over the lazy dog, and nobody is surprised by it any more. ".repeat(40),
      Array.from(
        { length: 80 },
        (_, at) => `2026-01-01T00:00:${at % 60}Z INFO [worker-${at}] done in ${at * 7}ms`,
      ).join("\n"),
      JSON.stringify(Array.from({ length: 60 }, (_, at) => ({ id: at, name: `person ${at}`, active: at % 2 === 0 }))),
      "これは日本語の文章です。トークンの数え方を確かめます。".repeat(20),
    ];
    for (const text of samples) expect(o200k.count(text)).toBeLessThanOrEqual(estimateCounter.count(text) * 1.3);
  });

  test("[TOKEN-1] need a package, and say which when it is missing", async () => {
    await expect(encodingCounter("o200k_base", () => Promise.reject(new Error("gone")))).rejects.toMatchObject({
      code: "SDK_MISSING",
      details: { package: "gpt-tokenizer" },
    });
  });
});
