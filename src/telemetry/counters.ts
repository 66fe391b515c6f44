import type { EventSink, KernelEvent } from "../contracts/event-sink.ts";
import { wordIn } from "./facts.ts";
import { count, type Counted, isCounted } from "./happened.ts";

/** A count for everything that is counted. */
export type EventCounts = Readonly<Record<Counted, number>>;

/** An event sink that counts what happens, across all sessions that it receives events of. */
export interface EventCounters extends EventSink {
  readonly counts: EventCounts;
  /** How often each kind of fault occurred. */
  readonly faults: Readonly<Record<string, number>>;
  /** For each tool: how many of its calls ended with each status. */
  readonly tools: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Makes counters that start at zero. Pass them to the kernel as an event sink. */
export function eventCounters(): EventCounters {
  const counts = { ...NOTHING };
  // Names come from models, too: under `__proto__` a plain object would count in everybody's prototype.
  const faults: Tally = new Map();
  const tools = new Map<string, Tally>();
  const add = (counted: Counted, by: number) => {
    counts[counted] += by;
  };
  return {
    get counts() {
      return { ...counts };
    },
    get faults() {
      return Object.fromEntries(faults);
    },
    get tools() {
      return Object.fromEntries(tools.entries().map(([tool, ends]) => [tool, Object.fromEntries(ends)]));
    },
    hears: isCounted,
    emit(event) {
      count(event, add);
      const fault = faultIn(event);
      if (fault !== undefined) addOne(faults, fault);
      if (event.kind !== "call-closed") return;
      const tool = wordIn(event.facts, "tool");
      const ends: Tally = tools.get(tool) ?? new Map();
      tools.set(tool, ends);
      addOne(ends, wordIn(event.facts, "status"));
    },
  };
}

type Tally = Map<string, number>;

function addOne(tally: Tally, name: string): void {
  tally.set(name, (tally.get(name) ?? 0) + 1);
}

function faultIn({ kind, facts: { fault } }: KernelEvent): string | undefined {
  return (kind === "fault-raised" || kind === "history-repaired") && typeof fault === "string" ? fault : undefined;
}

const NOTHING: Record<Counted, number> = {
  calls: 0,
  rollbacks: 0,
  conflicts: 0,
  denials: 0,
  requests: 0,
  retries: 0,
  asides: 0,
  repairs: 0,
  faults: 0,
  heals: 0,
  refusals: 0,
  reclaims: 0,
  cacheLossTokens: 0,
  boundaries: 0,
  boundariesRefused: 0,
  writebacks: 0,
  writebacksRejected: 0,
  divergedFiles: 0,
  rewinds: 0,
  effectsNotUndone: 0,
  inputTokens: 0,
  outputTokens: 0,
};
