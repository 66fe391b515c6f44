import { type Clock, SystemClock } from "../../base/clock.ts";
import { AMOUNT, BOOLEAN, checkOptions, OBJECT, type OptionRules, TEXT } from "../../base/options.ts";
import type { EventSink, KernelEvent } from "../../contracts/event-sink.ts";
import { isCounted } from "../happened.ts";
import { metricsOf } from "./metrics.ts";
import { isTraced, spansOf } from "./spans.ts";
import type { OtelApi, OtelContext } from "./vendor.ts";

export interface OpenTelemetryOptions {
  /** The name of the instrumentation. Default `holdfast`. */
  readonly name?: string;
  readonly version?: string;
  readonly spans?: boolean;
  readonly metrics?: boolean;
  /**
   * How long events may wait to be handed on together, and not by the call that they tell of. None waits longer than its
   * session is open. Default 50 milliseconds; 0: none waits.
   */
  readonly delayMs?: number;
  readonly clock?: Clock;
}

const OPTIONS: OptionRules<OpenTelemetryOptions> = {
  name: TEXT,
  version: TEXT,
  spans: BOOLEAN,
  metrics: BOOLEAN,
  delayMs: AMOUNT,
  clock: OBJECT,
};

/** So many are handed on at once, whatever is under way: somebody keeps the process busy, and memory has an end. */
const MOST_WAITING = 1_024;

/**
 * Spans and metrics under the names of the GenAI conventions: `import * as api from "@opentelemetry/api"`, and hand it over.
 * What was said is in them only when the kernel was told to tell it.
 */
export function openTelemetry(api: OtelApi, options: OpenTelemetryOptions = {}): EventSink {
  checkOptions(options, OPTIONS);
  const { name = "holdfast", version, spans = true, metrics = true, delayMs = 50 } = options;
  const { clock = new SystemClock() } = options;
  const traced = spans ? spansOf(api, api.trace.getTracer(name, version)) : undefined;
  const measured = metrics ? metricsOf(api.metrics.getMeter(name, version)) : undefined;
  let waiting: { readonly event: KernelEvent; readonly around: OtelContext }[] = [];
  const handOn = (): void => {
    const now = waiting;
    waiting = [];
    const failures: unknown[] = [];
    for (const { event, around } of now)
      try {
        traced?.(event, around);
        measured?.(event);
      } catch (failure) {
        failures.push(failure); // the others are heard all the same
      }
    if (failures.length > 0) throw new AggregateError(failures, "Some events were not heard.");
  };
  const isHeard = (kind: KernelEvent["kind"]): boolean =>
    (spans && isTraced(kind)) || (metrics && isCounted(kind)) || kind === "session-closed";
  return {
    hears: isHeard,
    emit(event) {
      if (!isHeard(event.kind)) return undefined;
      // Where it happened is known only now; when it happened it says itself.
      const isFirst = waiting.push({ event, around: api.context.active() }) === 1;
      if (delayMs === 0 || waiting.length >= MOST_WAITING || event.kind === "session-closed") return handOn();
      return isFirst ? clock.sleep(delayMs).then(handOn) : undefined;
    },
  };
}
