import { context, trace } from "@opentelemetry/api";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { eventCounters, jsonLines, openTelemetry, structuredLog } from "../../../../src/telemetry/entry.ts";
import type { Keeper } from "../keeper.ts";
import { openHoldfast } from "./holdfast-sqlite.ts";

/** The same, told to the real OpenTelemetry SDK, a log and counters. What leaves the process is thrown away. */
const keeper: Keeper = {
  pace: "fast",
  open: (start, folder) => {
    const nowhere = {
      export: (_spans: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }),
      shutdown: async () => {},
    };
    const tracers = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(nowhere)] });
    const meters = new MeterProvider();
    const api = {
      trace: { getTracer: tracers.getTracer.bind(tracers), setSpan: trace.setSpan.bind(trace) },
      metrics: { getMeter: meters.getMeter.bind(meters) },
      context,
    };
    let lines = 0;
    const log = structuredLog(jsonLines((line) => (lines += line.length)));
    return openHoldfast(start, folder, undefined, { sinks: [openTelemetry(api as never), log, eventCounters()] });
  },
};
export default keeper;
