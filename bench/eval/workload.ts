import { SeededRandom } from "../../src/index.ts";

/** Something an agent learnt and must still know later. */
export interface Fact {
  readonly key: string;
  readonly text: string;
}

/** One turn of an agent's work, as what it needs. */
export interface Turn {
  readonly ask: string;
  /** A rule that the user gives now. */
  readonly rule?: Fact;
  /** Files it reads for the first time. */
  readonly reads: readonly string[];
  /** Files it has read before and needs again. */
  readonly wants: readonly string[];
  /** Calls it repeats though it can see the result: the model's doing, whatever the harness does. */
  readonly repeats: readonly string[];
  readonly learns: readonly Fact[];
  /** What happens to the context after it. */
  readonly after?: "compact" | "reset" | "reopen";
}

export interface Workload {
  readonly family: string;
  readonly turns: readonly Turn[];
  /** Lines of each file. */
  readonly lines: number;
  /** What every request must say. */
  readonly instructions: string;
}

/** The paper's budgets, in its tokens. */
export const BUDGETS = [120, 180, 240, 300, 380, 500] as const;
/** So many real tokens are one of the paper's: its pages are a few tokens long, ours are of real size. */
export const SCALE = 25;

interface Shape {
  readonly turns: number;
  readonly lines: number;
  readonly rules: number;
  readonly reads: readonly [least: number, most: number];
  readonly wants: number;
  readonly learnsEvery: number;
  readonly boundary: (turn: number) => Turn["after"];
}

/** Four families, after the paper's: mixed work, much evidence, a long plan with rules, and many short sessions. */
const SHAPES: Readonly<Record<string, Shape>> = {
  mixed: {
    turns: 40,
    lines: 50,
    rules: 4,
    reads: [0, 2],
    wants: 1,
    learnsEvery: 4,
    boundary: (turn) => (turn % 10 === 9 ? "compact" : undefined),
  },
  evidence_heavy: {
    turns: 40,
    lines: 100,
    rules: 2,
    reads: [1, 3],
    wants: 3,
    learnsEvery: 8,
    boundary: (turn) => (turn % 8 === 7 ? "compact" : undefined),
  },
  rule_heavy: {
    turns: 40,
    lines: 30,
    rules: 8,
    reads: [0, 1],
    wants: 1,
    learnsEvery: 3,
    boundary: (turn) => (turn % 6 === 5 ? "compact" : undefined),
  },
  multi_session: {
    turns: 40,
    lines: 50,
    rules: 3,
    reads: [0, 2],
    wants: 1,
    learnsEvery: 3,
    boundary: (turn) =>
      turn % 12 === 11 ? "reset" : turn % 12 === 5 ? "compact" : turn % 12 === 8 ? "reopen" : undefined,
  },
};

export const FAMILIES: readonly string[] = Object.keys(SHAPES);

/** The same workload for the same name, always. */
export function workload(family: string, seed = "1"): Workload {
  const shape = SHAPES[family] as Shape;
  const random = new SeededRandom(`${family}/${seed}`);
  const known: string[] = [];
  const turns: Turn[] = [];
  for (let nth = 0; nth < shape.turns; nth += 1) {
    const [least, most] = shape.reads;
    const reads = Array.from({ length: least + random.below(most - least + 1) }, (_, at) => `src/part-${nth}-${at}.ts`);
    const wants = known.length === 0 ? [] : distinct(shape.wants, () => pick(known, random));
    const seen = known.at(-1);
    const after = shape.boundary(nth);
    turns.push({
      ask: `Step ${nth} of the work.`,
      ...(nth % 3 === 0 && nth / 3 < shape.rules ? { rule: { key: `R${nth / 3}`, text: ruleText(nth / 3) } } : {}),
      reads,
      wants,
      repeats: nth % 5 === 4 && seen !== undefined ? [seen] : [],
      learns:
        nth % shape.learnsEvery === 0 || after !== undefined
          ? [{ key: `F${nth}`, text: `fact ${nth}: the port is ${4000 + nth}` }]
          : [],
      ...(after === undefined ? {} : { after }),
    });
    known.push(...reads);
  }
  return { family, turns, lines: shape.lines, instructions: "INSTRUCTIONS: work in small steps and say what you did." };
}

/** Older files are wanted less often, and still are. */
function pick(known: readonly string[], random: SeededRandom): string {
  const back = Math.floor(random.fraction() ** 2 * known.length);
  return known[known.length - 1 - back] as string;
}

function distinct(count: number, draw: () => string): readonly string[] {
  return [...new Set(Array.from({ length: count }, draw))];
}

function ruleText(nth: number): string {
  return `RULE-${nth}: never touch generated folder number ${nth}.`;
}

/** What a file says. Its first line is what somebody needs of it. */
export function fileText(path: string, lines: number): string {
  const rest = Array.from({ length: lines }, (_, at) => `export const value${at} = compute("${path}", ${at * 7});`);
  return [needleOf(path), ...rest].join("\n");
}

export function needleOf(path: string): string {
  return `FACT of ${path} is ${path.length * 31}.`;
}
