import type { Bar, Case, Place, Workload } from "./contract.ts";

export interface Narrow {
  /** A part of the names of the cases that are wanted. */
  readonly case?: string | undefined;
  readonly quick?: boolean;
}

/** The cases that are wanted, and the bars that need nothing else: what is not measured is not judged. */
export function narrowed(workload: Workload, { case: text = "", quick = false }: Narrow): Workload {
  const cases = workload.cases.filter(({ name }) => name.includes(text));
  const measured = new Map(cases.map((one) => [one.name, sizesOf(one, quick)]));
  const has = ({ case: name, size }: Place) =>
    size === undefined ? measured.has(name) : measured.get(name)?.includes(size) === true;
  const grows = ({ case: name }: Place) => (measured.get(name)?.length ?? 0) > 1;
  const judged = (bar: Bar) => placesOf(bar).every(has) && (bar.kind !== "growth" || placesOf(bar).every(grows));
  return { ...workload, cases, bars: workload.bars.filter(judged) };
}

export function sizesOf({ sizes, quick: less }: Case, quick: boolean): readonly number[] {
  return (quick ? less?.sizes : undefined) ?? sizes;
}

function placesOf(bar: Bar): readonly Place[] {
  return "to" in bar ? [bar.of, bar.to] : [bar.of];
}
