import type { Json } from "../base/json.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import { numberIn } from "./facts.ts";

/** What is worth counting about sessions: how often something was mended, refused or lost. */
export type Counted =
  | "calls"
  | "rollbacks"
  | "conflicts"
  | "denials"
  | "requests"
  | "retries"
  /** Questions to a model beside conversations. */
  | "asides"
  | "repairs"
  | "faults"
  | "heals"
  | "refusals"
  | "reclaims"
  | "cacheLossTokens"
  | "boundaries"
  /** Boundaries that would have lost something, and were not crossed. */
  | "boundariesRefused"
  | "writebacks"
  | "writebacksRejected"
  | "divergedFiles"
  | "rewinds"
  | "effectsNotUndone"
  | "inputTokens"
  | "outputTokens";

type Add = (counted: Counted, by: number) => void;

/** What each event adds. An event that is not here adds nothing. */
const ADDS: { readonly [K in KernelEvent["kind"]]?: (facts: KernelEvent["facts"], add: Add) => void } = {
  "call-closed": ({ status, reason }, add) => {
    add("calls", 1);
    if (status !== "success") add("rollbacks", 1);
    if (reason === "conflict") add("conflicts", 1);
    if (reason === "denied") add("denials", 1);
  },
  "call-rerun": (_facts, add) => add("conflicts", 1),
  "request-over": ({ failure, usage, attempt }, add) => {
    add("requests", 1);
    if (Number(attempt) > 1) add("retries", 1);
    if (failure === "misaligned") add("refusals", 1);
    addTokens(usage, add);
  },
  "aside-over": ({ usage }, add) => {
    add("asides", 1);
    addTokens(usage, add);
  },
  "history-repaired": (_facts, add) => add("repairs", 1),
  "fault-raised": ({ fault }, add) => {
    add("faults", 1);
    if (fault === "misaligned-request-refused") add("refusals", 1);
    if (fault === "flush-miss") add("boundariesRefused", 1);
  },
  "boundary-crossed": (_facts, add) => add("boundaries", 1),
  "writeback-committed": (_facts, add) => add("writebacks", 1),
  "writeback-rejected": (_facts, add) => add("writebacksRejected", 1),
  "prompt-healed": (_facts, add) => add("heals", 1),
  "context-reclaimed": (facts, add) => {
    add("reclaims", 1);
    add("cacheLossTokens", numberIn(facts, "cacheLoss") ?? 0);
  },
  "file-diverged": (_facts, add) => add("divergedFiles", 1),
  rewound: (_facts, add) => add("rewinds", 1),
  "effect-undone": ({ how }, add) => {
    if (how === "not-undone") add("effectsNotUndone", 1);
  },
};

function addTokens(usage: Json | undefined, add: Add): void {
  add("inputTokens", numberIn(usage, "input") ?? 0);
  add("outputTokens", numberIn(usage, "output") ?? 0);
}

/** Whether an event may be worth anything. */
export function isCounted(kind: KernelEvent["kind"]): boolean {
  return Object.hasOwn(ADDS, kind);
}

/** Counts what an event is worth. */
export function count({ kind, facts }: KernelEvent, add: Add): void {
  if (isCounted(kind)) ADDS[kind]?.(facts, add);
}
