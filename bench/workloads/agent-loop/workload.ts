import type { Bar, Case, Place, Workload } from "../../harness/contract.ts";

const MS = 1e6;
const HOLDFAST = "Holdfast, SQLite FULL";
const LANGGRAPH = "LangGraph agent, SqliteSaver FULL";
const AI_SDK = "AI SDK generateText, a synced row per step";
const LOOP = "one call after the other";

const cells: Case["cells"] = {
  [HOLDFAST]: () => import("./holdfast.ts"),
  [LANGGRAPH]: () => import("./langgraph.ts"),
  [AI_SDK]: () => import("./ai-sdk.ts"),
};

const cases: readonly Case[] = [
  { name: LOOP, sizes: [100, 300], quick: { sizes: [100], rounds: 3 }, rounds: 5, reference: HOLDFAST, cells },
];

const ours = (figure: string): Place => ({ case: LOOP, cell: HOLDFAST, size: 100, figure });

const bars: readonly Bar[] = [
  { kind: "value", what: "kernel per call, model and tool apart", of: ours("call"), unit: "ns", atMost: 3 * MS },
  { kind: "value", what: "beyond its durable writes", of: ours("beyond"), unit: "ns", atMost: MS },
];

export default {
  about: "what a loop costs per call, beside model and tool, when every step is durable",
  cases,
  bars,
} satisfies Workload;
