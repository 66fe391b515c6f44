/** Of an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError("the median of nothing");
  return (lower + upper) / 2;
}

interface Point {
  readonly size: number;
  readonly cost: number;
}

/** The slope of cost over size on logarithmic scales, by least squares: 1 grows in step, 2 quadratically, 0 not at all. */
export function growthExponent(points: readonly Point[]): number {
  const xs = points.map(({ size }) => Math.log(size));
  const ys = points.map(({ cost }) => Math.log(cost));
  const x = mean(xs);
  const y = mean(ys);
  const spread = sum(xs.map((value) => (value - x) ** 2));
  if (spread === 0) throw new RangeError("growth needs at least two sizes");
  return sum(xs.map((value, index) => (value - x) * ((ys[index] ?? y) - y))) / spread;
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
