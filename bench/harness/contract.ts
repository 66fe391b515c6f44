/** What a workload is made of. A new one is a folder in `workloads/` whose `workload.ts` exports a `Workload` as default. */
export interface Workload {
  readonly about: string;
  readonly cases: readonly Case[];
  readonly bars: readonly Bar[];
}

/** One question, asked of several cells with the same input. */
export interface Case {
  readonly name: string;
  readonly sizes: readonly number[];
  /** Default 5. */
  readonly rounds?: number;
  /** What `--quick` changes: smaller or fewer, never easier. */
  readonly quick?: { readonly sizes?: readonly number[]; readonly rounds?: number };
  /** By name, each in a module of its own: a cell's process loads nothing of its rivals. */
  readonly cells: Readonly<Record<string, () => Promise<{ readonly default: Trial }>>>;
  /** The cell that the others are divided by in the table. */
  readonly reference: string;
  /** Shows figures per element of the size: "record" prints the cost of one record. */
  readonly per?: string;
}

/** What one process is asked to do. */
export interface Task {
  readonly workload: string;
  readonly case: string;
  readonly cell: string;
  readonly size: number;
  readonly round: number;
  /** The same for every cell of a run: so is the input made from it. */
  readonly seed: string;
  /** Empty, on a real disk, gone afterwards. */
  readonly folder: string;
  /** Where the trial's fixture was built; empty without one. */
  readonly fixture: string;
  /** All folders of this run. */
  readonly scratch: string;
}

/** One measurement. Figures are nanoseconds unless their name says otherwise; `total` is always there. */
export interface Sample {
  readonly figures: Readonly<Record<string, number>>;
  /** What the result was, in few words or as a digest. Cells of one case, size and round must agree. */
  readonly proof: string | undefined;
  readonly peakMegabytes: number;
}

/** Something slow to make that a run makes once and all trials of that name and size share. */
export interface Fixture {
  readonly name: string;
  build(task: Pick<Task, "size" | "seed">, folder: string): Promise<void> | void;
}

export interface Trial {
  readonly fixture: Fixture | undefined;
  measure(task: Task, pass: () => Promise<void>): Promise<Sample>;
}

/**
 * Cells take turns of a few dozen milliseconds, one working while the others wait, so that a neighbour's noise falls on
 * all of them alike. Waiting is not timed.
 */
export interface Turn {
  readonly over: boolean;
  pass(): Promise<void>;
}

/** Only `run` is timed. */
export interface TrialSteps<Ready, Done> {
  readonly fixture?: Fixture;
  /** Makes the input and opens what must be open. */
  prepare(task: Task): Promise<Ready> | Ready;
  /** Work that takes longer than a turn passes it on: `if (turn.over) await turn.pass()`. */
  run(ready: Ready, turn: Turn): Promise<Done> | Done;
  /** How often to run on the same input, for work too short to be timed once: `total` is the median. Default 1. */
  readonly times?: number;
  /** Finer figures that `run` brought home. */
  figures?(done: Done): Readonly<Record<string, number>>;
  /** Proves the result as a stranger would, and throws when it is wrong. Answers what every rival's result must equal. */
  verify(done: Done, ready: Ready, task: Task): Promise<string | undefined> | string | undefined;
}

/** Names figures of a run. Without `size`: all sizes (for growth), or the only one. */
export interface Place {
  readonly case: string;
  readonly cell: string;
  readonly size?: number;
  /** Default `total`. */
  readonly figure?: string;
}

export type Unit = "ns" | "bytes" | "count";

/** What must hold. A bar is data, so that the report can print both sides of it. */
export type Bar =
  | ({ readonly kind: "ratio"; readonly what: string; readonly of: Place; readonly to: Place } & Limit)
  | ({ readonly kind: "value"; readonly what: string; readonly of: Place; readonly unit: Unit } & Limit)
  /** The growth exponent may exceed the reference's by `within`. */
  | { readonly kind: "growth"; readonly what: string; readonly of: Place; readonly to: Place; readonly within: number };

export type Limit = { readonly atMost: number } | { readonly atLeast: number };
