import type { Bar, Case, Trial, Workload } from "../../harness/contract.ts";
import { aiSdk, deepagents, holdfastMessages, openaiAgents } from "./rivals.ts";
import { appending, bare, indexed, repairing } from "./trials.ts";

const DECADES = [1_000, 10_000, 100_000, 1_000_000];
const MILLION = 1_000_000;
const BARE = "bare two-pass map";
const HOLDFAST = "Holdfast";

const cell = (make: () => Trial) => async () => ({ default: make() });

const cases: readonly Case[] = [
  {
    name: "1 % dangling, 1 % orphans",
    sizes: DECADES,
    rounds: 3,
    per: "item",
    reference: BARE,
    cells: { [BARE]: cell(() => bare(true)), [HOLDFAST]: cell(() => repairing(true)) },
  },
  {
    name: "valid",
    sizes: DECADES,
    rounds: 3,
    per: "item",
    reference: BARE,
    cells: {
      [BARE]: cell(() => bare(false)),
      "Holdfast, cold": cell(() => repairing(false)),
      "Holdfast, index kept at append": cell(indexed),
    },
  },
  { name: "ten items more", sizes: [100_000], rounds: 3, reference: HOLDFAST, cells: { [HOLDFAST]: cell(appending) } },
  {
    name: "raw messages, beside peers' own guards",
    sizes: [1_000, 10_000, 100_000],
    quick: { sizes: [1_000, 10_000] },
    rounds: 3,
    per: "item",
    reference: "Holdfast, responses items",
    cells: {
      "Holdfast, responses items": cell(() => holdfastMessages("openai-responses")),
      "Holdfast, chat messages": cell(() => holdfastMessages("openai-chat")),
      "Holdfast, AI SDK messages": cell(() => holdfastMessages("ai-sdk")),
      "OpenAI Agents dropOrphanToolCalls": cell(openaiAgents),
      "deepagents patch middleware (LangChain)": cell(deepagents),
      "AI SDK generateText, valid history": cell(aiSdk),
    },
  },
];

const bars: readonly Bar[] = [
  {
    kind: "ratio",
    what: "repair of 1M items against the bare map",
    of: { case: "1 % dangling, 1 % orphans", cell: HOLDFAST, size: MILLION },
    to: { case: "1 % dangling, 1 % orphans", cell: BARE, size: MILLION },
    atMost: 1.5,
  },
  {
    kind: "ratio",
    what: "a valid history of 1M items, cold",
    of: { case: "valid", cell: "Holdfast, cold", size: MILLION },
    to: { case: "valid", cell: BARE, size: MILLION },
    atMost: 1.0,
  },
  {
    kind: "ratio",
    what: "a valid history of 1M items, with the index",
    of: { case: "valid", cell: "Holdfast, index kept at append", size: MILLION },
    to: { case: "valid", cell: BARE, size: MILLION },
    atMost: 0.3,
  },
  {
    kind: "value",
    what: "check after appending ten items to 100k",
    of: { case: "ten items more", cell: HOLDFAST, size: 100_000 },
    unit: "ns",
    atMost: 50_000,
  },
];

export default { about: "pairing calls with outputs before a request", cases, bars } satisfies Workload;
