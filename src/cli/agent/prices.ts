import type { Usage } from "../../index.ts";
import type { Values } from "../config/settings.ts";

/** For a million tokens each. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  /** Of those read, what the provider's cache held. */
  readonly cached: number;
  readonly currency: string;
}

/** Nothing, unless both of what is read and what is written are known: half a price is a wrong one. */
export function pricesIn(values: Values): Prices | undefined {
  const { "prices.input": input, "prices.output": output, "prices.cached": cached } = values;
  if (input === undefined || output === undefined) return undefined;
  return { input, output, cached: cached ?? input, currency: values["prices.currency"] ?? "" };
}

export function costOf(prices: Prices, { input, output, cacheRead = 0 }: Usage): number {
  return ((input - cacheRead) * prices.input + cacheRead * prices.cached + output * prices.output) / 1_000_000;
}

/** `, 0.42 USD`; nothing where nobody knows. Small sums keep two digits that say something. */
export function costWords(prices: Prices | undefined, cost: number): string {
  if (prices === undefined) return "";
  const digits = cost === 0 || cost >= 1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(cost)));
  return `, ${cost.toFixed(Math.max(2, digits))} ${prices.currency}`;
}
