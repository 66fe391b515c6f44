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

type Counts = Partial<Record<Counted, number>>;

/** What each event adds. An event that is not here adds nothing. */
const ADDS: { readonly [K in KernelEvent["kind"]]?: (facts: KernelEvent["facts"]) => Counts } = {
  "call-closed": ({ status, reason }) => ({
    calls: 1,
    ...(status === "success" ? {} : { rollbacks: 1 }),
    ...(reason === "conflict" ? { conflicts: 1 } : {}),
    ...(reason === "denied" ? { denials: 1 } : {}),
  }),
  "call-rerun": () => ({ conflicts: 1 }),
  "request-over": ({ failure, usage, attempt }) => ({
    requests: 1,
    ...(Number(attempt) > 1 ? { retries: 1 } : {}),
    ...(failure === "misaligned" ? { refusals: 1 } : {}),
    inputTokens: numberIn(usage, "input") ?? 0,
    outputTokens: numberIn(usage, "output") ?? 0,
  }),
  "aside-over": ({ usage }) => ({
    asides: 1,
    inputTokens: numberIn(usage, "input") ?? 0,
    outputTokens: numberIn(usage, "output") ?? 0,
  }),
  "history-repaired": () => ({ repairs: 1 }),
  "fault-raised": ({ fault }) => ({
    faults: 1,
    ...(fault === "misaligned-request-refused" ? { refusals: 1 } : {}),
    ...(fault === "flush-miss" ? { boundariesRefused: 1 } : {}),
  }),
  "boundary-crossed": () => ({ boundaries: 1 }),
  "writeback-committed": () => ({ writebacks: 1 }),
  "writeback-rejected": () => ({ writebacksRejected: 1 }),
  "prompt-healed": () => ({ heals: 1 }),
  "context-reclaimed": (facts) => ({ reclaims: 1, cacheLossTokens: numberIn(facts, "cacheLoss") ?? 0 }),
  "file-diverged": () => ({ divergedFiles: 1 }),
  rewound: () => ({ rewinds: 1 }),
  "effect-undone": ({ how }) => (how === "not-undone" ? { effectsNotUndone: 1 } : {}),
};

export function addsOf({ kind, facts }: KernelEvent): readonly (readonly [Counted, number])[] {
  const counts = ADDS[kind]?.(facts) ?? {};
  return (Object.entries(counts) as [Counted, number][]).filter(([, by]) => by !== 0);
}
