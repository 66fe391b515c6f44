import type { TokenCounter } from "../../contracts/token-counter.ts";

/**
 * Estimates tokens without a vocabulary. A word of up to seven letters is one token, three digits are one, punctuation
 * goes in pairs, and a space belongs to the word after it. Calibrate it with what the provider reports.
 */
export const estimateCounter: TokenCounter = { name: "estimate", exact: false, count: estimateTokens };

type Class = "letter" | "digit" | "space" | "sign" | "wide";

/** How many characters of a class share one token. */
const SHARE: Readonly<Record<Class, number>> = { letter: 7, digit: 3, space: 12, sign: 2, wide: 1.2 };

function estimateTokens(text: string): number {
  let tokens = 0;
  let run = 0;
  let now: Class = "space";
  for (let at = 0; at < text.length; at += 1) {
    const next = classOf(text.charCodeAt(at));
    if (next === now) {
      run += 1;
      continue;
    }
    tokens += cost(now, run);
    now = next;
    run = 1;
  }
  return tokens + cost(now, run);
}

function cost(kind: Class, run: number): number {
  if (run === 0 || (kind === "space" && run === 1)) return 0;
  return Math.ceil(run / SHARE[kind]);
}

function classOf(unit: number): Class {
  if ((unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)) return "letter";
  if (unit >= 48 && unit <= 57) return "digit";
  if (unit === 32 || (unit >= 9 && unit <= 13)) return "space";
  if (unit < 128) return "sign";
  return unit >= 0x370 ? "wide" : "letter";
}
