import { expect, test } from "vitest";
import { asName, inWords } from "./words.ts";

test("[TX-1] whatever is thrown has words, and they can be kept", () => {
  const stubborn = new Proxy(new Error("no"), {
    getPrototypeOf: () => {
      throw new Error("not mine");
    },
  });
  expect(inWords(new Error("boom"))).toBe("boom");
  expect(inWords("boom")).toBe("boom");
  expect(inWords(7)).toBe("7");
  expect(inWords(undefined)).toBe("undefined");
  expect(inWords(Symbol("s"))).toBe("Symbol(s)");
  expect(inWords("half \ud83d")).toBe("half \ufffd");
  for (const odd of [Object.create(null), stubborn, Object.assign(new Error("x"), { message: Object.create(null) })])
    expect(inWords(odd)).toBe("something that cannot be printed");
});

test("[TX-1] words longer than anybody reads are cut between two letters, and what is left out is counted", () => {
  expect(inWords("abcdef", 6)).toBe("abcdef");
  expect(inWords("abcdef", 4)).toBe("abcd… (2 more characters)");
  expect(inWords("abc🙂d", 4)).toBe("abc… (3 more characters)");
  expect(asName("n".repeat(40_000_000)).length).toBeLessThan(1_100);
});
