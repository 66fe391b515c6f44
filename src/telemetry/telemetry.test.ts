import { runInNewContext } from "node:vm";
import * as api from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { describe, expect, test } from "vitest";
import { counter, steps, writes } from "../../test/support/calls.ts";
import { opened, step } from "../../test/support/durable.ts";
import { quickjs, scripted, watch } from "../../test/support/loop.ts";
import { MemoryDisk } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { EventSink, KernelEvent } from "../contracts/event-sink.ts";
import { eventCounters } from "./counters.ts";
import { jsonLines, structuredLog } from "./log.ts";
import { openTelemetry } from "./otel/sink.ts";
import type { OtelApi } from "./otel/vendor.ts";

const WORDS = "words-that-somebody-said";

const outer = writes<string>("outer", async (_input, call) => {
  await call.run({ name: "step", input: { n: "inner" } });
  return WORDS;
});
const breaks = writes("breaks", async () => {
  throw new Error(WORDS);
});
const gated = writes("gated", async () => "never", { approval: true });
const TOOLS = { tools: [step, outer, breaks, gated] };

function listen(sinks: readonly EventSink[] = [], more: object = {}) {
  const events: KernelEvent[] = [];
  const sink: EventSink = { emit: (event) => void events.push(event) };
  return { events, telemetry: { sinks: [sink, ...sinks], ...more } };
}

const call = (name: string, input: unknown = {}) => ({ name, input: input as never });

/** One turn with calls of every kind of ending. */
async function liveOn(telemetry: object) {
  const { session, disk } = await opened(new MemoryDisk(), { ...TOOLS, telemetry } as never);
  const model = scripted(
    [
      {
        calls: [
          call("step", { n: "a" }),
          call("outer", WORDS),
          call("breaks"),
          call("nobody"),
          call("step", { n: "b", fail: true }),
        ],
      },
      { fault: "overloaded" },
      { text: WORDS, usage: { input: 120, output: 30 } },
      { calls: [call("gated")] },
    ],
    { name: "test-1" },
  );
  await watch(session.run(WORDS, { model, retry: { firstMs: 0, mostMs: 0 } }));
  await watch(session.run("and now", { model }));
  await session.reply(session.waiting[0]!.callId, { approve: false });
  return { session, disk };
}

test("[TELEMETRY-11] calls of tools that nobody has are counted under their names, whatever these are", async () => {
  const counters = eventCounters();
  const { session } = await opened(undefined, { tools: [step], telemetry: { sinks: [counters] } } as never);
  const names = ["__proto__", "constructor", "toString"];
  for (const name of names) await session.runTool({ name, input: {} });
  await session.append({ kind: "fault-raised", fault: "constructor", detail: {} });
  expect(Object.entries(counters.tools)).toEqual(names.map((name) => [name, { failed: 1 }]));
  expect(counters.faults).toEqual({ constructor: 1 });
  for (const builtIn of [{}, Object, Reflect.get({}, "toString") as object])
    expect(Reflect.get(builtIn, "failed")).toBeUndefined();
});

describe("the stream", () => {
  test("[TELEMETRY-1] tells of every call once, however it ended, also of those inside others", async () => {
    const { events, telemetry } = listen();
    await liveOn(telemetry);
    const ended = events
      .filter(({ kind }) => kind === "call-closed")
      .map(({ facts }) => [facts["tool"], facts["status"], facts["reason"]]);
    expect(ended).toHaveLength(7);
    expect(ended).toEqual(
      expect.arrayContaining([
        ["step", "success", undefined],
        ["step", "success", undefined],
        ["outer", "success", undefined],
        ["breaks", "failed", "threw"],
        ["nobody", "failed", expect.any(String)],
        ["step", "failed", "no"],
        ["gated", "failed", "denied"],
      ]),
    );
    const ids = events.filter(({ kind }) => kind === "call-closed").map(({ facts }) => facts["callId"]);
    expect(new Set(ids).size).toBe(7);
  });

  test("[TELEMETRY-1] tells of calls that a crash had left open, when they are closed", async () => {
    const disk = new MemoryDisk();
    const first = await opened(disk, TOOLS);
    await first.session.begin({ name: "step", input: { n: "x" } });
    await first.deps.store.close();
    const { events, telemetry } = listen();
    await opened(disk, { ...TOOLS, telemetry });
    expect(events.map(({ kind }) => kind)).toEqual(["call-closed", "session-recovered", "session-opened"]);
    expect(events[0]?.facts).toMatchObject({ status: "canceled", effects: "unknown" });
  });

  test("[TELEMETRY-2] [K63] counts each source without gaps", async () => {
    const { events, telemetry } = listen();
    const { session } = await liveOn(telemetry);
    const nths = Map.groupBy(events, ({ source }) => source);
    expect(nths.size).toBeGreaterThan(4);
    for (const [, told] of nths) expect(told.map(({ nth }) => nth)).toEqual(told.map((_, at) => at + 1));
    expect(new Set(events.map((event) => event.session))).toEqual(new Set([session.id]));
  });

  test("[TELEMETRY-2] tells of a record when it is durable, in the order of the journal", async () => {
    const { events, telemetry } = listen();
    const { session } = await liveOn(telemetry);
    const told = events.flatMap(({ seq, kind }) => (seq === undefined ? [] : [`${seq} ${kind}`]));
    const kept: string[] = [];
    for await (const entry of session.read()) kept.push(`${entry.seq} ${entry.kind}`);
    expect(told).toEqual(kept);
  });

  test("[TELEMETRY-3] holds nothing that anybody said, unless it was asked for", async () => {
    const { events, telemetry } = listen();
    await liveOn(telemetry);
    expect(JSON.stringify(events)).not.toContain(WORDS);
    const capturing = listen([], { content: true });
    await liveOn(capturing.telemetry);
    const said = capturing.events.filter((event) => JSON.stringify(event.content ?? null).includes(WORDS));
    expect(new Set(said.map(({ kind }) => kind))).toEqual(
      new Set(["user-said", "model-said", "call-opened", "call-closed"]),
    );
  });

  test("[TELEMETRY-3] holds no reason that somebody gave for a change of the mode or the tools", async () => {
    const [{ events, telemetry }, asking] = [listen(), listen([], { content: true })];
    for (const heard of [telemetry, asking.telemetry]) {
      const { session } = await opened(new MemoryDisk(), { ...TOOLS, telemetry: heard } as never);
      await session.setMode("plan", WORDS);
      await session.catalog.remove(["breaks"], WORDS);
      await session.close();
    }
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["mode-changed", "catalog-changed"]));
    expect(JSON.stringify(events)).not.toContain(WORDS);
    const changed = asking.events.find(({ kind }) => kind === "catalog-changed");
    expect(changed?.content).toMatchObject({ reason: expect.any(String) });
  });

  test("[TELEMETRY-3] hides secrets in what was asked for", async () => {
    const { events, telemetry } = listen([], { content: true });
    const { session } = await opened(new MemoryDisk(), { telemetry });
    await session.append({ kind: "user-said", text: `ghp_${"a7Z9".repeat(9)}` });
    expect(events.at(-1)?.content).toEqual({ text: "[redacted:github-token]" });
  });
});

describe("those who listen", () => {
  const rude: Record<string, EventSink> = {
    throws: {
      emit: () => {
        throw new Error("sink broke");
      },
    },
    rejects: { emit: () => Promise.reject(new Error("sink broke")) },
    hangs: { emit: () => new Promise<void>(() => {}) },
    scribbles: {
      emit: (event) => {
        scribble(event);
        (event as { kind: string }).kind = "throws: nobody can change it";
      },
    },
  };

  function scribble(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const inner of Object.values(value)) scribble(inner);
    for (const name of Object.keys(value)) Reflect.set(value, name, "scribbled");
    Reflect.set(value, "more", "scribbled");
  }

  test.each(Object.entries(rude))("[TELEMETRY-4] [K63] change nothing: one that %s", async (_how, sink) => {
    const failures: unknown[] = [];
    const quiet = listen();
    const { session } = await liveOn({ ...quiet.telemetry, content: true });
    const loud = listen([sink], {
      content: true,
      onFailure: (failure: unknown) => {
        failures.push(failure);
        throw new Error("and so did whoever listens for that");
      },
    });
    const other = await liveOn({ ...loud.telemetry, sinks: [sink, ...loud.telemetry.sinks] });
    expect(other.session.state.session.get(steps)).toEqual(session.state.session.get(steps));
    expect(other.session.state.session.get(counter)).toBe(session.state.session.get(counter));
    expect(await other.session.conversation()).toEqual(await session.conversation());
    expect(loud.events.map(({ kind }) => kind)).toEqual(quiet.events.map(({ kind }) => kind));
    expect(JSON.stringify(loud.events)).not.toContain("scribbled");
    if (sink !== rude["hangs"]) expect(failures.length).toBeGreaterThanOrEqual(loud.events.length);
  });
});

describe("sinks that hear of some kinds", () => {
  const only = (...kinds: readonly KernelEvent["kind"][]) => {
    const events: KernelEvent[] = [];
    const sink = {
      emit: (event: KernelEvent) => void events.push(event),
      hears: (kind: string) => kinds.includes(kind as never),
    };
    return { events, sink };
  };

  test("[TELEMETRY-2] hear the same of those, under the same numbers, whoever else listens", async () => {
    const all = listen();
    await liveOn(all.telemetry);
    const [beside, alone] = [only("call-closed", "turn-over"), only("call-closed", "turn-over")];
    await liveOn(listen([beside.sink]).telemetry);
    await liveOn({ sinks: [alone.sink] });
    const wanted = all.events
      .filter(({ kind }) => kind === "call-closed" || kind === "turn-over")
      .map(({ kind, source, nth, facts }) => [kind, source, nth, facts["tool"], facts["conversation_history_size"]]);
    for (const { events } of [beside, alone])
      expect(
        events.map(({ kind, source, nth, facts }) => [
          kind,
          source,
          nth,
          facts["tool"],
          facts["conversation_history_size"],
        ]),
      ).toEqual(wanted);
    expect(
      alone.events.every(({ kind, facts }) => kind !== "call-closed" || typeof facts["elapsedMs"] === "number"),
    ).toBe(true);
  });

  test("[TELEMETRY-4] one whose promise is of another realm, or of a library, rejects without harm and is reported", async () => {
    const failures: string[] = [];
    const reject = runInNewContext("(why) => Promise.reject(why)") as (why: string) => Promise<void>;
    const then = (_: unknown, rejected: (why: string) => void) => rejected("lazy");
    // oxlint-disable-next-line no-thenable -- a promise of a library, which answers when it is asked
    const lazy = Object.fromEntries([["then", then]]) as unknown as Promise<void>;
    const sinks: readonly EventSink[] = [{ emit: () => reject("foreign") }, { emit: () => lazy }];
    const telemetry = { sinks, onFailure: ({ error }: { readonly error: unknown }) => failures.push(String(error)) };
    const { session } = await opened(undefined, { tools: [step], telemetry } as never);
    expect(await session.runTool({ name: "step", input: { n: "a" } })).toMatchObject({ ok: true });
    await session.close();
    expect(new Set(failures)).toEqual(new Set(["foreign", "lazy"]));
  });

  test("[TELEMETRY-4] one that cannot say what it hears is told everything", async () => {
    const all = listen();
    await liveOn(all.telemetry);
    const events: KernelEvent[] = [];
    const ill: EventSink = {
      emit: (event) => void events.push(event),
      hears: () => {
        throw new Error("ill");
      },
    };
    const failures: unknown[] = [];
    await liveOn({ sinks: [ill], onFailure: ({ error }: { readonly error: unknown }) => failures.push(error) });
    expect(events.map(({ kind }) => kind)).toEqual(all.events.map(({ kind }) => kind));
    expect(failures).toHaveLength(events.length);
    const lazy = {
      emit: () => {},
      get hears(): () => boolean {
        throw new Error("later");
      },
    };
    await liveOn({ sinks: [lazy] });
  });
});

describe("counters", () => {
  test("[TELEMETRY-5] count calls, rollbacks, denials, retries, tokens, faults and repairs", async () => {
    const counters = eventCounters();
    const { session } = await liveOn({ sinks: [counters] });
    await session.append({ kind: "fault-raised", fault: "refetch", detail: {} });
    await session.append({ kind: "history-repaired", fault: "missing-output", detail: {} });
    expect(counters.counts).toMatchObject({
      calls: 7,
      rollbacks: 4,
      denials: 1,
      requests: 4,
      retries: 1,
      inputTokens: 120,
      outputTokens: 30,
      faults: 1,
      repairs: 2, // the tool that nobody offers, and the one made up here
      conflicts: 0,
    });
    expect(counters.faults).toMatchObject({ refetch: 1, "missing-output": 1 });
    expect(counters.tools["step"]).toEqual({ success: 2, failed: 1 });
  });

  test("[TELEMETRY-5] count a call that was run again because of another's change", async () => {
    const counters = eventCounters();
    const going = Promise.withResolvers<void>();
    const slow = writes("slow", async (_input, handle) => {
      const now = handle.get(counter);
      await going.promise;
      handle.dispatch(counter.set(now + 100));
    });
    const { session } = await opened(new MemoryDisk(), { tools: [slow, step], telemetry: { sinks: [counters] } });
    const running = session.runTool({ name: "slow", input: {} });
    await session.runTool({ name: "step", input: { n: "a" } });
    going.resolve();
    expect(await running).toMatchObject({ ok: true, attempts: 2 });
    expect(counters.counts).toMatchObject({ conflicts: 1, rollbacks: 0 });
  });

  test("[TELEMETRY-5] count a rewind, and what a reclaim cost", async () => {
    const counters = eventCounters();
    const { session } = await opened(new MemoryDisk(), { telemetry: { sinks: [counters] } });
    const { callId } = await session.runTool({ name: "step", input: { n: "a" } });
    await session.rewind({ before: callId });
    void counters.emit({
      kind: "context-reclaimed",
      source: "context",
      nth: 1,
      session: session.id,
      at: "" as never,
      facts: { cacheLoss: 700 },
    });
    expect(counters.counts).toMatchObject({ rewinds: 1, reclaims: 1, cacheLossTokens: 700 });
  });
});

describe("the log", () => {
  test("[TELEMETRY-6] is one JSON line an event, louder where somebody should look", async () => {
    const lines: string[] = [];
    await liveOn({ sinks: [structuredLog(jsonLines((line) => lines.push(line)))] });
    const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.every((line) => line.endsWith("\n") && line.indexOf("\n") === line.length - 1)).toBe(true);
    expect(read.find(({ event, tool }) => event === "call-closed" && tool === "breaks")).toMatchObject({
      level: "warn",
      message: "holdfast call-closed",
      session: "s",
      status: "failed",
      reason: "threw",
    });
    expect(read.find(({ event, tool }) => event === "call-closed" && tool === "outer")).toMatchObject({
      level: "info",
      elapsedMs: expect.any(Number),
    });
    expect(lines.join("")).not.toContain(WORDS);
  });
});

describe("the signals of how history is used", () => {
  const SIGNALS = [
    "history_record_appended",
    "conversation_history_size",
    "history_access_detected",
    "history_query_patterns",
    "history_records_read",
  ] as const;
  const signals = (events: readonly KernelEvent[], tool: string) =>
    events
      .filter(({ kind, facts }) => kind === "call-closed" && facts["tool"] === tool)
      .map(({ facts }) => SIGNALS.map((name) => facts[name]));

  test("[USE-3] are told with every call that ended, also where no program ran, in the log of any level", async () => {
    const { events, telemetry } = listen();
    const lines: string[] = [];
    const log = structuredLog(jsonLines((line) => void lines.push(line)));
    await liveOn({ ...telemetry, sinks: [...telemetry.sinks, log] });
    const ended = events.filter(({ kind }) => kind === "call-closed");
    const sizes = ended.map(({ facts }) => facts["conversation_history_size"]);
    for (const { facts } of ended)
      expect(facts).toMatchObject({
        history_record_appended: true,
        history_access_detected: false,
        history_query_patterns: [],
        history_records_read: 0,
      });
    expect(sizes).toEqual([2, 3, 4, 5, 6, 7, 9]); // the user spoke before the first, and before the last
    const logged = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "call-closed");
    expect(logged.map((line) => line["conversation_history_size"])).toEqual(sizes);
  });

  test("[USE-3] say of a program what its text reads and what it did read, however it ended", async () => {
    const { events, telemetry } = listen();
    const { session } = await opened(new MemoryDisk(), { telemetry, code: quickjs({ limits: { timeMs: 60_000 } }) });
    for (const n of ["a", "b"]) await session.runTool({ name: "step", input: { n } });
    const H = "context.conversation_history";
    for (const code of [
      `return ${H}.filter((r) => r.outcome_summary.ok).map((r) => r.call_id)`,
      `if (${H}.length > 99) return ${H}[0]; return 0`,
      `${H}.slice(-1)[0].call_id; throw new Error("no")`,
      'return globalThis["con" + "text"]["conversation" + "_history"].map((r) => r.call_id).length',
    ])
      await session.runTool({ name: "run_code", input: { code } });
    expect(signals(events, "run_code")).toEqual([
      [true, 3, true, ["filter", "map"], 2],
      [true, 4, true, ["count", "index"], 0],
      [true, 5, true, ["index", "slice"], 1],
      [true, 6, false, [], 5],
    ]);
  });

  test("[USE-3] count on in a session that was reopened, and where retention has cut", async () => {
    const disk = new MemoryDisk();
    const first = await opened(disk, {});
    for (const n of ["a", "b", "c"]) await first.session.runTool({ name: "step", input: { n } });
    await first.session.checkpoint();
    await first.session.runTool({ name: "step", input: { n: "d" } });
    await first.session.close();
    await first.deps.store.close();
    const { events, telemetry } = listen();
    const again = await opened(disk, { telemetry });
    await again.session.runTool({ name: "step", input: { n: "e" } });
    await again.holdfast.retain(again.session, { records: 6 });
    await again.session.runTool({ name: "step", input: { n: "f" } });
    expect(signals(events, "step").map(([, size]) => size)).toEqual([5, 3]);
    expect(await again.session.callRecords()).toHaveLength(3);
    await again.session.close();
    await again.deps.store.close();
    const third = await opened(disk, { telemetry });
    await third.session.runTool({ name: "step", input: { n: "g" } });
    expect(signals(events, "step").at(-1)?.[1]).toBe(4);
  });
});

test("[USE-3] [REDACT-10] records that were dropped for a secret no longer count as history", async () => {
  const { events, telemetry } = listen();
  const { holdfast, session } = await opened(new MemoryDisk(), { telemetry });
  await session.append({ kind: "user-said", text: "remember hunter2-of-old-times" });
  await session.runTool({ name: "step", input: { n: "hunter2-of-old-times" } });
  await session.runTool({ name: "step", input: { n: "clean" } });
  await session.close();
  holdfast.registerSecret("hunter2-of-old-times");
  const { dropped, left } = await holdfast.dropSecrets("s");
  expect([dropped.length > 1, left]).toEqual([true, []]);
  const again = await holdfast.open("s");
  await again.runTool({ name: "step", input: { n: "after" } });
  const size = events.findLast(({ kind }) => kind === "call-closed")?.facts["conversation_history_size"];
  expect(size).toBe((await again.callRecords()).length);
  expect(size).toBeLessThan(4);
  await again.close();
});

describe("OpenTelemetry", () => {
  async function traced(telemetry: object = {}) {
    const spans = new InMemorySpanExporter();
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
    const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 });
    const meters = new MeterProvider({ readers: [reader] });
    const own = {
      trace: { getTracer: tracers.getTracer.bind(tracers), setSpan: api.trace.setSpan.bind(api.trace) },
      metrics: { getMeter: meters.getMeter.bind(meters) },
      context: api.context,
    };
    const { session } = await liveOn({ sinks: [openTelemetry(own as never)], ...telemetry });
    await session.close();
    await reader.forceFlush();
    const points = metrics
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap((scope) => scope.metrics)
      .flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map((point) => ({ name: descriptor.name, unit: descriptor.unit, ...point })),
      );
    await meters.shutdown();
    return { spans: spans.getFinishedSpans(), points };
  }

  test("[TELEMETRY-7] gets a span for each turn, request and call, nested, under the names of GenAI", async () => {
    const { spans } = await traced();
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [turn] = named("invoke_agent holdfast");
    expect(named("invoke_agent holdfast")).toHaveLength(2);
    expect(named("chat test-1")).toHaveLength(4);
    expect(spans.filter(({ name }) => name.startsWith("execute_tool"))).toHaveLength(7);
    const last = named("chat test-1")[2]!;
    expect(last.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "test-1",
      "gen_ai.conversation.id": "s",
      "gen_ai.usage.input_tokens": 120,
      "gen_ai.usage.output_tokens": 30,
      "gen_ai.response.finish_reasons": ["stop"],
    });
    expect([last.kind, last.parentSpanContext?.spanId]).toEqual([api.SpanKind.CLIENT, turn!.spanContext().spanId]);
    const failed = named("chat test-1")[1]!;
    expect([failed.status.code, failed.attributes["error.type"]]).toEqual([api.SpanStatusCode.ERROR, "overloaded"]);
    const [call] = named("execute_tool outer");
    const inner = named("execute_tool step").find(
      ({ parentSpanContext }) => parentSpanContext?.spanId === call!.spanContext().spanId,
    );
    expect(inner?.attributes["gen_ai.tool.name"]).toBe("step");
    const [broken] = named("execute_tool breaks");
    expect(broken).toMatchObject({
      kind: api.SpanKind.INTERNAL,
      status: { code: api.SpanStatusCode.ERROR },
      attributes: {
        "gen_ai.tool.call.id": expect.any(String),
        "error.type": "threw",
        "holdfast.call.status": "failed",
      },
    });
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(WORDS);
  });

  test("[TELEMETRY-7] a sub-agent's turn is nested in the call that it works for, in whichever session that is", async () => {
    const { spans, telemetry } = ownSpans();
    const model = scripted([{ calls: [call("step", { n: "a" })] }, { text: "did it" }]);
    const agents = [{ name: "helper", description: "helps", model }];
    const { session } = await opened(undefined, { tools: [step], agents, telemetry } as never);
    const calls = [call("helper", { task: "help" })];
    await watch(session.run("go", { model: scripted([{ calls }, { text: "done" }]) }));
    await session.close();
    const all = spans.getFinishedSpans();
    const above = (name: string): readonly string[] => {
      const path: string[] = [];
      for (let at = all.find((span) => span.name === name); at !== undefined; ) {
        path.push(at.name);
        const parent = at.parentSpanContext?.spanId;
        at = all.find((span) => span.spanContext().spanId === parent);
      }
      return path;
    };
    expect(above("execute_tool step")).toEqual([
      "execute_tool step",
      "invoke_agent holdfast",
      "execute_tool helper",
      "invoke_agent holdfast",
    ]);
  });

  test("[TELEMETRY-12] sees a turn that failed as an error, and one that was stopped as none", async () => {
    const { spans, telemetry } = ownSpans();
    const { session } = await opened(undefined, { tools: [step], telemetry } as never);
    const model = scripted([{ fault: "refused-request" }, { text: "cut", stop: "length" }]);
    for (const status of ["failed", "stopped"])
      expect((await watch(session.run("go", { model }))).end.status).toBe(status);
    await session.close();
    const turns = spans.getFinishedSpans().filter(({ name }) => name === "invoke_agent holdfast");
    expect(turns.map(({ status, attributes }) => [status.code, attributes["error.type"]])).toEqual([
      [api.SpanStatusCode.ERROR, "failed"],
      [api.SpanStatusCode.UNSET, undefined],
    ]);
  });

  test("[TELEMETRY-7] gets what was said only when the kernel tells it", async () => {
    const { spans } = await traced({ content: true });
    const outer = spans.find(({ name }) => name === "execute_tool outer");
    expect(outer?.attributes["gen_ai.tool.call.arguments"]).toContain(WORDS);
    expect(outer?.attributes["gen_ai.tool.call.result"]).toContain(WORDS);
  });

  test("[TELEMETRY-8] gets counts and durations with few labels, none of them an id", async () => {
    const { points } = await traced();
    const of = (name: string) => points.filter((point) => point.name === name);
    const tokens = of("gen_ai.client.token.usage");
    expect(tokens.find(({ attributes }) => attributes["gen_ai.token.type"] === "input")?.value).toMatchObject({
      sum: 120,
    });
    expect(of("gen_ai.client.operation.duration").map(({ unit }) => unit)).toContain("s");
    const rolledBack = of("holdfast.rollbacks").reduce((sum, { value }) => sum + Number(value), 0);
    expect(rolledBack).toBe(4);
    expect(of("holdfast.calls").find(({ attributes }) => attributes["gen_ai.tool.name"] === "breaks")?.value).toBe(1);
    for (const { attributes } of points)
      expect(Object.keys(attributes).filter((name) => name.endsWith(".id"))).toEqual([]);
  });

  test("[TELEMETRY-13] measures calls of tools that nobody has as one series, and names them in spans", async () => {
    const { spans, points } = await traced();
    const calls = points.filter(({ name }) => name === "holdfast.calls").map(({ attributes }) => attributes);
    expect(new Set(calls.map((labels) => labels["gen_ai.tool.name"]))).toEqual(
      new Set(["step", "outer", "breaks", "gated", "_OTHER"]),
    );
    expect(spans.map(({ name }) => name)).toContain("execute_tool nobody");
    const { events, telemetry } = listen();
    const refusing = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no" }] }) } };
    const strict = writes("strict", async () => "never", { input: refusing as never, inputSchema: {} });
    const { session } = await opened(undefined, { tools: [strict], telemetry } as never);
    for (const name of ["made-up-1", "strict"]) await session.runTool({ name, input: {} });
    await session.setMode("plan", "to see");
    await session.runTool({ name: "made-up-2", input: {} });
    const told = events.filter(({ kind }) => kind === "call-closed").map(({ facts }) => facts);
    expect(told.map(({ tool, unknownTool }) => [tool, unknownTool])).toEqual([
      ["made-up-1", true],
      ["strict", undefined],
      ["made-up-2", true],
    ]);
    await session.close();
  });

  describe("in batches", () => {
    const around = (nth: number) => ({ nth }) as never;
    /** An API that only notes what it is asked for. */
    function noting({ failsAt = "" } = {}) {
      const told: unknown[] = [];
      let active = 0;
      const span = (name: string) => ({
        setAttributes: () => {},
        addEvent: () => {},
        setStatus: () => {},
        end: () => void told.push(`${name} ends`),
      });
      const own: OtelApi = {
        trace: {
          getTracer: () => ({
            startSpan: (name, _options, context) => {
              if (name === failsAt) throw new Error(`no ${name}`);
              told.push([name, context]);
              return span(name);
            },
          }),
          setSpan: (context) => context,
        },
        metrics: {
          getMeter: () => ({ createCounter: () => ({ add() {} }), createHistogram: () => ({ record() {} }) }),
        },
        context: { active: () => around(active) },
      };
      return { own, told, activate: (nth: number) => (active = nth) };
    }
    const event = (kind: KernelEvent["kind"], tool: string, session = "s") =>
      ({
        kind,
        source: "tool",
        nth: 1,
        session,
        at: "2026-01-01T00:00:00.000Z",
        facts: { tool, callId: tool },
      }) as never;

    test("[TELEMETRY-10] they wait as long as they may, and are under what was active when they happened", async () => {
      const clock = new FixedClock();
      const { own, told, activate } = noting();
      const sink = openTelemetry(own, { clock, delayMs: 50 });
      activate(1);
      const heard = sink.emit(event("call-opened", "a"));
      activate(2);
      void sink.emit(event("call-opened", "b"));
      activate(3);
      void sink.emit(event("call-closed", "a"));
      expect(told).toEqual([]);
      clock.advance(50);
      await heard;
      expect(told).toEqual([["execute_tool a", around(1)], ["execute_tool b", around(2)], "execute_tool a ends"]);
    });

    test("[TELEMETRY-10] not beyond the end of a session, not too many of them, and not at all where that is wanted", () => {
      for (const [last, options] of [
        ["session-closed", {}],
        ["call-opened", { delayMs: 0 }],
      ] as const) {
        const { own, told } = noting();
        const sink = openTelemetry(own, { clock: new FixedClock(), ...options });
        void sink.emit(event("call-opened", "a"));
        void sink.emit(event(last, "b"));
        expect(told).toContainEqual(["execute_tool a", around(0)]);
      }
      const { own, told } = noting();
      const sink = openTelemetry(own, { clock: new FixedClock() });
      for (let nth = 0; nth < 3_000; nth += 1) void sink.emit(event("call-opened", `t${nth}`));
      expect(told.length).toBeGreaterThan(1_900);
      expect(told.slice(0, 2)).toEqual([
        ["execute_tool t0", around(0)],
        ["execute_tool t1", around(0)],
      ]);
    });

    test("[TELEMETRY-10] what is in no span and in no count does not wait", () => {
      const { own, told } = noting();
      for (const options of [{}, { spans: false }, { metrics: false }]) {
        const sink = openTelemetry(own, { clock: new FixedClock(), ...options });
        for (const kind of ["state-changed", "checkpoint-kept", "session-opened"] as const)
          expect(sink.emit(event(kind, "a"))).toBeUndefined();
        expect(sink.emit(event("call-closed", "a"))).toBeInstanceOf(Promise);
        void sink.emit(event("session-closed", "a"));
      }
      expect(told).toEqual([]);
    });

    test("[TELEMETRY-10] a delay that is none, or is misspelt, is refused", () => {
      const { own } = noting();
      for (const bad of [{ delayMs: Number.NaN }, { delayMs: -1 }, { delay: 5 }])
        expect(() => openTelemetry(own, bad as never)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
    });

    test("[TELEMETRY-10] [TELEMETRY-4] one that is not heard is reported, and the others are heard", async () => {
      const { own, told } = noting({ failsAt: "execute_tool breaks" });
      const failures: unknown[] = [];
      const onFailure = ({ error }: { readonly error: unknown }) => void failures.push(error);
      const { session } = await liveOn({ sinks: [openTelemetry(own)], onFailure });
      await session.close();
      expect(told.filter((one) => String(one).startsWith("execute_tool step"))).not.toEqual([]);
      expect(told).toContain("execute_tool outer ends");
      expect(failures.flatMap((failure) => (failure as AggregateError).errors)).toEqual([
        new Error("no execute_tool breaks"),
      ]);
    });
  });
});

/** The spans that one kernel makes, apart from those of its neighbours. */
function ownSpans() {
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const own = {
    ...api,
    trace: { getTracer: tracers.getTracer.bind(tracers), setSpan: api.trace.setSpan.bind(api.trace) },
  };
  return { spans, telemetry: { sinks: [openTelemetry(own as never, { metrics: false })] } };
}
