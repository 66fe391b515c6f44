import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { pruneMessages, trimMessages } from "./rivals.ts";
import { deriving, making, recounting } from "./trials.ts";

const HOLDFAST = "Holdfast deriveView";
const CASE = "one turn of 2,000 messages";
const LONG = "one turn of 100,000 messages";

const cell = (make: () => Trial) => async () => ({ default: make() });
const exact = async () => (await import("../../../src/adapters/openai/entry.ts")).openaiTokens();

const cases: readonly Case[] = [
  {
    name: CASE,
    sizes: [2_000],
    rounds: 3,
    reference: HOLDFAST,
    cells: {
      [HOLDFAST]: cell(deriving),
      "LangChain trimMessages": cell(trimMessages),
      "AI SDK pruneMessages": cell(pruneMessages),
      "naive recount, estimate": cell(recounting),
    },
  },
  { name: LONG, sizes: [100_000], rounds: 3, reference: HOLDFAST, cells: { [HOLDFAST]: cell(deriving) } },
  {
    name: "naive recount with a tokenizer",
    sizes: [2_000],
    rounds: 1,
    reference: "naive recount, o200k_base",
    cells: { "naive recount, o200k_base": cell(() => recounting(exact)) },
  },
  {
    name: "making the representations of one output",
    sizes: [1],
    rounds: 3,
    reference: "Holdfast makePage",
    cells: { "Holdfast makePage": cell(making) },
  },
];

const bars: readonly Bar[] = [
  {
    kind: "value",
    what: "a turn at 2,000 pages",
    of: { case: CASE, cell: HOLDFAST, size: 2_000 },
    unit: "ns",
    atMost: 50_000,
  },
  {
    kind: "value",
    what: "a turn at 100,000 pages",
    of: { case: LONG, cell: HOLDFAST, size: 100_000 },
    unit: "ns",
    atMost: 500_000,
  },
];

export default { about: "choosing what a model sees, turn by turn", cases, bars } satisfies Workload;
