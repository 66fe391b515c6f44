import type { KernelEvent } from "../../contracts/event-sink.ts";
import { numberIn } from "../facts.ts";
import { count, type Counted } from "../happened.ts";
import { labelsOf } from "./names.ts";
import type { OtelAttributes, OtelCounter, OtelMeter } from "./vendor.ts";

/** What is counted under which name. What GenAI has a name for is not counted a second time. */
const COUNTERS: { readonly [K in Counted]?: readonly [name: string, unit: string, description: string] } = {
  calls: ["holdfast.calls", "{call}", "Tool calls that ended, however they ended."],
  rollbacks: ["holdfast.rollbacks", "{call}", "Calls that were rolled back."],
  conflicts: ["holdfast.conflicts", "{call}", "Calls that met another's change: run again, or closed."],
  denials: ["holdfast.denials", "{call}", "Calls that were not allowed to run."],
  retries: ["holdfast.retries", "{request}", "Requests that were asked again."],
  repairs: ["holdfast.repairs", "{repair}", "Faults of a conversation that were repaired before it was sent."],
  faults: ["holdfast.faults", "{fault}", "Promises that were missed, by kind."],
  heals: ["holdfast.heals", "{request}", "Requests whose prompt was built anew to fit the catalog."],
  refusals: ["holdfast.refusals", "{request}", "Requests that were not sent, because prompt and catalog disagreed."],
  reclaims: ["holdfast.reclaims", "{view}", "Views whose pages were lowered to make room."],
  cacheLossTokens: ["holdfast.cache.loss", "{token}", "Tokens that a provider had to read again, uncached."],
  boundaries: [
    "holdfast.boundaries",
    "{boundary}",
    "Moments that gave context up, after what was dirty was committed.",
  ],
  boundariesRefused: ["holdfast.boundaries_refused", "{boundary}", "Boundaries not crossed: something was dirty."],
  writebacks: ["holdfast.writebacks", "{change}", "Changes of durable pages that were committed."],
  writebacksRejected: ["holdfast.writebacks_rejected", "{change}", "Changes of durable pages that were rejected."],
  asides: ["holdfast.asides", "{request}", "Questions to a model beside a conversation."],
  divergedFiles: ["holdfast.diverged_files", "{file}", "Files that somebody else changed after a commit was decided."],
  rewinds: ["holdfast.rewinds", "{rewind}", "Returns to a tool boundary."],
  effectsNotUndone: ["holdfast.effects_not_undone", "{effect}", "Effects that could not be undone."],
};

/** Turns events into counts and durations. */
export function metricsOf(meter: OtelMeter): (event: KernelEvent) => void {
  const counters = new Map<Counted, OtelCounter>();
  for (const [counted, [name, unit, description]] of Object.entries(COUNTERS))
    counters.set(counted as Counted, meter.createCounter(name, { unit, description }));
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Tokens that requests read and wrote.",
  });
  const durations = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "How long requests and tool calls took.",
  });
  return (event) => {
    let labels: OtelAttributes | undefined; // most events are not counted
    count(event, (counted, by) => {
      if (by !== 0) counters.get(counted)?.add(by, (labels ??= labelsOf(event)));
    });
    if (event.kind !== "request-over" && event.kind !== "aside-over" && event.kind !== "call-closed") return;
    labels ??= labelsOf(event);
    const elapsedMs = numberIn(event.facts, "elapsedMs");
    if (elapsedMs !== undefined) durations.record(elapsedMs / 1000, labels);
    for (const type of ["input", "output"] as const) {
      const used = numberIn(event.facts["usage"], type);
      if (used !== undefined) tokens.record(used, { ...labels, "gen_ai.token.type": type });
    }
  };
}
