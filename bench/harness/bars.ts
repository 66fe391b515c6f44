import type { Bar, Limit, Unit } from "./contract.ts";
import type { Results } from "./results.ts";

export interface Verdict {
  readonly what: string;
  readonly figure: number;
  readonly bar: number;
  readonly ok: boolean;
  /** `NAME: WHAT FIGURE (bar FIGURE) ok` without its name. */
  readonly line: string;
}

type Judge = { readonly [K in Bar["kind"]]: (bar: Extract<Bar, { kind: K }>, results: Results) => Verdict };

const JUDGES: Judge = {
  ratio: (bar, results) => within(bar, results.ratio(bar.of, bar.to), (value) => `${value.toFixed(2)} ×`),
  value: (bar, results) => within(bar, results.median(bar.of), (value) => inUnit(value, bar.unit)),
  growth: (bar, results) => {
    const reference = results.growth(bar.to);
    const figure = reference + results.excessGrowth(bar.of, bar.to);
    return within({ what: bar.what, atMost: reference + bar.within }, figure, (value) => value.toFixed(2));
  },
};

export function judge<B extends Bar>(bar: B, results: Results): Verdict {
  return (JUDGES[bar.kind] as (bar: Bar, results: Results) => Verdict)(bar, results);
}

function within(bar: { readonly what: string } & Limit, figure: number, show: (value: number) => string): Verdict {
  const [limit, ok] = "atMost" in bar ? [bar.atMost, figure <= bar.atMost] : [bar.atLeast, figure >= bar.atLeast];
  const line = `${bar.what} ${show(figure)} (bar ${show(limit)}) ${ok ? "ok" : "short"}`;
  return { what: bar.what, figure, bar: limit, ok, line };
}

const STEPS = {
  ns: [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
    ["ns", 1],
  ],
  bytes: [
    ["MB", 1e6],
    ["kB", 1e3],
    ["B", 1],
  ],
  count: [["", 1]],
} as const satisfies Record<Unit, readonly (readonly [string, number])[]>;

/** Three digits are all a noisy machine can promise. */
export function inUnit(value: number, unit: Unit): string {
  const [name, size] = STEPS[unit].find((step) => Math.abs(value) >= step[1]) ?? ["", 1];
  const scaled = value / size;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(scaled), 1))));
  return `${scaled.toFixed(digits)} ${name}`.trimEnd();
}
