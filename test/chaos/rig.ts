import { SeededRandom } from "../../src/base/random.ts";

/** What a rig is told. `cases` is the figure unless the caller said otherwise. */
export interface RigOptions {
  readonly seed: string;
  readonly cases: number;
  readonly quick: boolean;
  /** Options only one rig knows, such as `--fs xfs`. */
  readonly extra: ReadonlyMap<string, string>;
}

export interface Rig {
  readonly about: string;
  /** The figure, and what CI has time for. */
  readonly cases: number;
  readonly quickCases: number;
  /** Why it cannot run here, if it cannot. */
  readonly skip?: (options: RigOptions) => string | undefined;
  readonly run: (tally: Tally, options: RigOptions) => Promise<void>;
}

/** The parts that `--only` names, or all. A name that no part has must not look like a run of everything. */
export function partsFrom<P extends string>({ extra }: Pick<RigOptions, "extra">, parts: readonly P[]): readonly P[] {
  const only = extra.get("only")?.split(",");
  const unknown = only?.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new TypeError(`--only: no ${unknown}; there are ${parts.join(", ")}`);
  return only === undefined ? parts : parts.filter((part) => only.includes(part));
}

/** Counts cases and violations, says how far it is, and how to see a violation again. */
export class Tally {
  readonly rig: string;
  readonly random: SeededRandom;
  cases = 0;
  /** Cases in all, where that is known. */
  expected: number;
  readonly violations: string[] = [];
  readonly notes: Record<string, number> = {};
  /** Parts that could not run here, and why. */
  readonly skipped: string[] = [];
  readonly #replay: string;
  readonly #untilRed: boolean;
  readonly #started = performance.now();
  #said = performance.now();

  constructor(rig: string, options: RigOptions, argv: readonly string[]) {
    this.rig = rig;
    this.random = new SeededRandom(`${rig}/${options.seed}`);
    this.expected = options.cases;
    this.#untilRed = options.extra.has("until-red");
    this.#replay = `npm run chaos -- ${rig} --seed ${options.seed} ${argv.join(" ")}`.trim();
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  /** One case ended, with what was wrong about it. */
  done(label: string, wrong: readonly string[]): void {
    this.cases += 1;
    for (const what of wrong) this.violation(label, what);
    if (this.#untilRed && wrong.length > 0) throw new Enough();
    if (performance.now() - this.#said < 2_000) return;
    this.#said = performance.now();
    const of = this.expected > 0 ? ` of ${this.expected}` : "";
    process.stderr.write(
      `${this.rig}: ${this.cases}${of} cases, ${this.violations.length} violations, ${this.seconds.toFixed(0)} s\n`,
    );
  }

  /** Figures worth printing beside the verdict. */
  count(what: string, by = 1): void {
    this.notes[what] = (this.notes[what] ?? 0) + by;
  }

  violation(label: string, what: string): void {
    this.violations.push(`${label}: ${what}`);
    if (this.violations.length > 20) return;
    process.stderr.write(`${this.rig}: VIOLATION in ${label}: ${what}\n`);
    if (this.violations.length === 1) process.stderr.write(`${this.rig}: replay with: ${this.#replay}\n`);
  }
}

/** One violation was all that was asked for. */
export class Enough extends Error {}

/** Ends a case that hangs: a rig that waits for ever says nothing. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function sample<T>(all: readonly T[], count: number, random: SeededRandom): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const at = random.below(left.length);
    const [drawn] = left.splice(at, 1);
    return drawn as T;
  });
}
