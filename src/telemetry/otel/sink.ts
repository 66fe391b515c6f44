import { type Clock, SystemClock } from "../../base/clock.ts";
import { AMOUNT, BOOLEAN, checkOptions, OBJECT, type OptionRules, TEXT } from "../../base/options.ts";
import type { EventSink, KernelEvent } from "../../contracts/event-sink.ts";
import { isCounted } from "../happened.ts";
import { metricsOf } from "./metrics.ts";
import { isTraced, spansOf } from "./spans.ts";
import type { OtelApi, OtelContext } from "./vendor.ts";

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** The name of the tracer and the meter. Default `holdfast`. */
  readonly name?: string;
  /** The version of the tracer and the meter. Default: none. */
  readonly version?: string;
  /** Whether spans are reported. Default `true`. */
  readonly spans?: boolean;
  /** Whether metrics are reported. Default `true`. */
  readonly metrics?: boolean;
  /**
   * How long events may wait before they are passed on together, in milliseconds, so that the calls that they report
   * are not slowed down. Closing a session passes on everything. Default 50; 0 passes on each event at once.
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
 * An event sink that reports spans and metrics under the names of the GenAI conventions. Pass it the API: `import * as
 * api from "@opentelemetry/api"`. Spans contain content only if the kernel was set up to put content into events.
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
