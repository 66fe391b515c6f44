import type { Json } from "../base/json.ts";
import type { LevelRun } from "../context/record.ts";
import { count, fields, list, optional, type Shape, string } from "../records/shape.ts";
import { keptItemsFault } from "../wire/kept-shape.ts";

/** What turns read of records that anybody may write, or that a version wrote which did not look: what is wrong, in words. */
type Fault = string | undefined;

const amount: Shape<number> = {
  fault: (value, path) => (typeof value === "number" && value >= 0 ? undefined : `${path} must be a number from 0`),
};
const idOrNull: Shape<string | null> = {
  fault: (value, path) => (value === null ? undefined : string.fault(value, path)),
};

const USAGE = fields({ input: amount, output: amount, cacheRead: optional(amount), samplings: optional(amount) });

export function usageFault(usage: Json, path = "usage"): Fault {
  return USAGE.fault(usage, path);
}

const LEVELS: readonly Json[] = ["full", "compressed", "structured", "pointer", "span"] satisfies LevelRun[0][];
const run: Shape<LevelRun> = {
  fault: (value, path) => {
    const [level, pages] = Array.isArray(value) ? (value as readonly Json[]) : [];
    return level !== undefined && LEVELS.includes(level)
      ? count.fault(pages, path)
      : `${path} must be a level and a number`;
  },
};
const PLACED = { from: count, after: idOrNull, last: idOrNull, runs: list(run), turn: count } as const;
const CHOSEN = fields({
  ...PLACED,
  counted: optional(amount),
  around: optional(amount),
  budget: optional(amount),
  window: optional(amount),
  beside: optional(fields({})),
  spans: optional(list(list(string))),
  prepared: optional(fields({})),
});

/** The levels of a view, with what the kernel notes beside them. */
export function levelsFault(levels: Json, path = "levels"): Fault {
  return CHOSEN.fault(levels, path);
}

/** What the kernel alone may note beside them: what pages say, and what they stand behind. */
export function noteIn(levels: Json): string | undefined {
  return Object.keys(Object(levels)).find((name) => !Object.hasOwn(PLACED, name));
}

const CUT = fields({
  through: string,
  stays: list(string),
  handle: string,
  items: { fault: (value, path) => keptItemsFault(value as Json, path) },
});

export function cutFault(cut: Json, path = "cut"): Fault {
  return CUT.fault(cut, path);
}
