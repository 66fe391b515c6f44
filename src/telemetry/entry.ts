/** `holdfast/telemetry`: who hears of what happens in sessions. Loads no vendor. */
export type { EventSink, EventSource, KernelEvent, MomentKind } from "../contracts/event-sink.ts";
export { eventCounters, type EventCounters, type EventCounts } from "./counters.ts";
export { jsonLines, type JsonLinesOptions, type Logger, structuredLog } from "./log.ts";
export { openTelemetry, type OpenTelemetryOptions } from "./otel/sink.ts";
export type {
  OtelApi,
  OtelContext,
  OtelCounter,
  OtelHistogram,
  OtelMeter,
  OtelSpan,
  OtelTracer,
} from "./otel/vendor.ts";
