import type { EventSink } from "../../contracts/event-sink.ts";
import { metricsOf } from "./metrics.ts";
import { spansOf } from "./spans.ts";
import type { OtelApi } from "./vendor.ts";

export interface OpenTelemetryOptions {
  /** The name of the instrumentation. Default `holdfast`. */
  readonly name?: string;
  readonly version?: string;
  readonly spans?: boolean;
  readonly metrics?: boolean;
}

/**
 * Spans and metrics under the names of the GenAI conventions: `import * as api from "@opentelemetry/api"`, and hand it over.
 * What was said is in them only when the kernel was told to tell it.
 */
export function openTelemetry(api: OtelApi, options: OpenTelemetryOptions = {}): EventSink {
  const { name = "holdfast", version, spans = true, metrics = true } = options;
  const traced = spans ? spansOf(api, api.trace.getTracer(name, version)) : undefined;
  const measured = metrics ? metricsOf(api.metrics.getMeter(name, version)) : undefined;
  return {
    emit(event) {
      traced?.(event);
      measured?.(event);
    },
  };
}
