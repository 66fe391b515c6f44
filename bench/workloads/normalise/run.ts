import { CELLS } from "./cells.ts";

/**
 * Runs every cell, interleaved, and prints medians as a table; ratios are against the bare map of the same run.
 * `node --expose-gc bench/workloads/normalise/run.ts [rounds] [largest size]`
 */
const rounds = Number(process.argv[2] ?? 7);
const largest = Number(process.argv[3] ?? 1_000_000);
const cells = CELLS;
const samples = new Map<string, number[]>();

for (let round = 0; round < rounds; round += 1) {
  for (const size of [1_000, 10_000, 100_000, 1_000_000].filter((one) => one <= largest)) {
    for (const cell of cells) {
      if (!cell.sizes.includes(size)) continue;
      const repeats = size <= 10_000 ? 5 : 1;
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        (globalThis as { gc?: () => void }).gc?.();
        const ns = await cell.run(size, 1 + round * 31 + repeat);
        const key = `${cell.name}|${size}`;
        samples.set(key, [...(samples.get(key) ?? []), ns]);
      }
    }
  }
}

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] as number;
for (const [key, list] of samples) {
  const [name, size] = key.split("|") as [string, string];
  const base = samples.get(`bare two-pass map, ${name.includes("faulty") ? "faulty" : "valid"}|${size}`);
  const ratio = base === undefined ? "" : `${(median(list) / median(base)).toFixed(3)} x bare`;
  console.log(`${size.padStart(9)}  ${name.padEnd(48)} ${(median(list) / 1e3).toFixed(1).padStart(12)} us  ${ratio}`);
}
