import type { Place, Sample, Task } from "./contract.ts";
import { growthExponent, median } from "./statistics.ts";

export interface Measured {
  readonly task: Pick<Task, "case" | "cell" | "size" | "round">;
  readonly sample: Sample;
}

/** Everything a run measured, and the few questions one may ask of it. */
export class Results {
  readonly all: readonly Measured[];

  constructor(all: readonly Measured[]) {
    this.all = all;
  }

  /** One value per round, in their order. */
  values(place: Place): readonly number[] {
    const found = this.#at(place);
    const sizes = new Set(found.map(({ task }) => task.size));
    if (sizes.size > 1) throw new RangeError(`${nameOf(place)} was measured at several sizes: name one`);
    return found.map((measured) => figureOf(measured, place));
  }

  median(place: Place): number {
    return median(this.values(place));
  }

  /** The median over rounds of each round's own ratio: what slowed a whole round down slowed both sides of it. */
  ratio(of: Place, to: Place): number {
    const below = this.values(to);
    const above = this.values(of);
    return median(above.slice(0, below.length).map((value, round) => value / (below[round] ?? Number.NaN)));
  }

  growth(place: Place): number {
    return growthExponent(this.#sizes(place).map((size) => ({ size, cost: this.median({ ...place, size }) })));
  }

  /** How much faster than the reference it grows: the exponent of their ratio, from rounds that both went through. */
  excessGrowth(of: Place, to: Place): number {
    return growthExponent(
      this.#sizes(of).map((size) => ({ size, cost: this.ratio({ ...of, size }, { ...to, size }) })),
    );
  }

  #sizes(place: Place): readonly number[] {
    return [...new Set(this.#at(place).map(({ task }) => task.size))];
  }

  #at(place: Place): readonly Measured[] {
    const found = this.all.filter(
      ({ task }) =>
        task.case === place.case && task.cell === place.cell && (place.size === undefined || task.size === place.size),
    );
    if (found.length === 0) throw new RangeError(`nothing was measured at ${nameOf(place)}`);
    return found;
  }
}

function figureOf({ sample }: Measured, place: Place): number {
  const value = sample.figures[place.figure ?? "total"];
  if (value === undefined) throw new RangeError(`${nameOf(place)} has no such figure`);
  return value;
}

function nameOf({ case: name, cell, size, figure = "total" }: Place): string {
  return `"${name}", ${cell}${size === undefined ? "" : `, ${size}`}, ${figure}`;
}
