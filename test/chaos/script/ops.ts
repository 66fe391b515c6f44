import type { Json } from "../../../src/base/json.ts";
import type { SeededRandom } from "../../../src/base/random.ts";

/** One thing a tool does. Scripts are data, so the record that opens a call says all that it will do. */
export type Op =
  /** Changes without looking. */
  | { readonly op: "add"; readonly by: number }
  | { readonly op: "put"; readonly key: string; readonly to: number }
  | { readonly op: "step"; readonly name: string }
  | { readonly op: "note"; readonly text: string }
  /** Looks, and changes by what it saw. */
  | { readonly op: "increment" }
  | { readonly op: "see"; readonly key: string }
  | { readonly op: "sum" }
  | { readonly op: "write"; readonly path: string; readonly text: string; readonly times?: number }
  | { readonly op: "read"; readonly path: string }
  | { readonly op: "list"; readonly path: string }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move"; readonly from: string; readonly to: string }
  /** A resource that cannot branch. */
  | { readonly op: "box"; readonly by: number }
  /** Lets others come first. */
  | { readonly op: "wait" }
  | { readonly op: "attempt"; readonly how: "savepoint" | "transaction"; readonly keep: boolean; readonly ops: Ops }
  | { readonly op: "inner"; readonly tool: ToolName; readonly script: Script }
  | { readonly op: "effect"; readonly name: EffectName; readonly key: string; readonly how: EffectHow };

export type Ops = readonly Op[];

/** How a handler ends: by itself, never, or not even then. */
const ENDS = ["returns", "fails", "throws", "returns-junk", "hangs", "lingers"] as const;
type End = (typeof ENDS)[number];

/** `returns` twice as likely as anything else: a session in which nothing succeeds proves little. */
export interface Script {
  readonly ops: Ops;
  readonly end: End;
}

export const TOOL_NAMES = ["write", "steady", "outside", "again", "swift"] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export type EffectName = "deed" | "deed-for-good";
export type EffectHow = "done" | "did-not" | "breaks" | "hangs";

export type Said = readonly Json[];

const KEYS = ["x", "y", "z"];
const FILES = ["a", "b", "d/x", "d/y"];
const PLACES = [...FILES, "d"];

/** What decides which scripts are drawn. */
export interface ScriptChoice {
  readonly random: SeededRandom;
  /** A word that is used once: what it leaves can be told apart. */
  readonly word: string;
  /** Keys of effects; a small number, so that calls ask for the same. */
  readonly effectKeys: readonly string[];
  readonly mayHang: boolean;
  /** Whether it may use what cannot branch, which no record tells of. */
  readonly mayBox?: boolean;
}

export function drawScript(choice: ScriptChoice, depth = 0): Script {
  const { random, mayHang } = choice;
  const count = 1 + random.below(5);
  const ops = Array.from({ length: count }, (_, at) => drawOp({ ...choice, word: `${choice.word}.${at}` }, depth));
  const end = random.below(10) < 6 ? "returns" : random.pick(ENDS);
  const may = mayHang && (depth === 0 || end !== "lingers");
  return { ops, end: may || (end !== "hangs" && end !== "lingers") ? end : "returns" };
}

type Draw = (choice: ScriptChoice, depth: number) => Op;

const DRAWS: readonly { readonly weight: number; readonly draw: Draw }[] = [
  { weight: 4, draw: ({ random }) => ({ op: "add", by: 1 + random.below(3) }) },
  {
    weight: 4,
    draw: ({ random, word }) => ({ op: "put", key: random.pick(KEYS), to: word.length + random.below(90) }),
  },
  { weight: 3, draw: ({ word }) => ({ op: "step", name: word }) },
  { weight: 3, draw: ({ word }) => ({ op: "note", text: word }) },
  { weight: 4, draw: () => ({ op: "increment" }) },
  { weight: 3, draw: ({ random }) => ({ op: "see", key: random.pick(KEYS) }) },
  { weight: 2, draw: () => ({ op: "sum" }) },
  { weight: 4, draw: ({ random, word }) => ({ op: "write", path: random.pick(FILES), text: word }) },
  { weight: 0.1, draw: ({ random, word }) => ({ op: "write", path: random.pick(FILES), text: word, times: 9000 }) },
  { weight: 3, draw: ({ random }) => ({ op: "read", path: random.pick(FILES) }) },
  { weight: 2, draw: ({ random }) => ({ op: "list", path: random.pick(["", "d"]) }) },
  { weight: 2, draw: ({ random }) => ({ op: "remove", path: random.pick(PLACES) }) },
  { weight: 1, draw: ({ random }) => ({ op: "move", from: random.pick(FILES), to: random.pick(FILES) }) },
  { weight: 9, draw: () => ({ op: "wait" }) },
  { weight: 2, draw: drawEffect },
  {
    weight: 1.5,
    draw: (choice, depth) => ({
      op: "attempt",
      how: choice.random.pick(["savepoint", "transaction"]),
      keep: choice.random.below(2) === 0,
      ops: drawScript({ ...choice, mayHang: false }, depth + 1).ops,
    }),
  },
];

/** Not inside anything: a savepoint does not cover what cannot branch. */
const BOX_DRAW: (typeof DRAWS)[number] = {
  weight: 2,
  draw: ({ random }) => ({ op: "box", by: 1 + random.below(5) }),
};
/** Also inside a part of a call, and inside a call that is inside another. */
const INNER_DRAW: (typeof DRAWS)[number] = {
  weight: 2,
  draw: (choice, depth) => ({
    op: "inner",
    tool: choice.random.pick(["write", "write", "steady", "outside"]),
    script: drawScript(choice, depth + 1),
  }),
};

function drawOp(choice: ScriptChoice, depth: number): Op {
  const box = depth === 0 && choice.mayBox !== false ? [BOX_DRAW] : [];
  const draws = [...DRAWS, ...box, ...(depth < 2 ? [INNER_DRAW] : [])];
  const total = draws.reduce((sum, { weight }) => sum + weight, 0);
  let left = choice.random.fraction() * total;
  for (const { weight, draw } of draws) {
    left -= weight;
    if (left < 0 && !(depth > 1 && draw === DRAWS.at(-1)?.draw)) return draw(choice, depth);
  }
  return { op: "wait" };
}

function drawEffect({ random, effectKeys, mayHang }: ScriptChoice): Op {
  const odd: readonly EffectHow[] = mayHang ? ["did-not", "breaks", "hangs"] : ["did-not", "breaks"];
  const how = random.below(10) < 7 ? "done" : random.pick(odd);
  const name = random.below(4) === 0 ? "deed-for-good" : "deed";
  return { op: "effect", name, key: random.pick(effectKeys), how };
}

/** A key may depend on what the call saw: then a second attempt asks for another effect than the first. */
export function keyFor(key: string, counter: number): string {
  return key.endsWith("?") ? `${key}${counter % 2}` : key;
}
