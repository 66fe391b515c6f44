import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KernelEvent } from "../contracts/event-sink.ts";
import { eventCounters } from "./counters.ts";
import { jsonLines, type Logger, structuredLog } from "./log.ts";
import { attributesOf, factsOf, labelsOf } from "./otel/names.ts";

const event = (kind: KernelEvent["kind"], facts: object = {}, more: object = {}): KernelEvent =>
  ({ kind, source: "session", nth: 1, session: "s", at: "2026-01-01T00:00:00.000Z", facts, ...more }) as KernelEvent;

const OWN = ["level", "message", "event", "source", "nth", "session", "at", "seq", "content"];

describe("a line of the log", () => {
  const lineOf = (one: KernelEvent) => {
    const lines: string[] = [];
    void structuredLog(jsonLines((line) => void lines.push(line), { level: "debug" })).emit(one);
    return JSON.parse(lines[0] ?? "") as Readonly<Record<string, unknown>>;
  };

  test.each<readonly [string, KernelEvent]>([
    ["error", event("effect-undone", { how: "not-undone" })],
    ["info", event("effect-undone", { how: "undone" })],
    ["warn", event("call-closed", { status: "failed" })],
    ["info", event("call-closed", { status: "success" })],
    ["warn", event("turn-over", { status: "failed" })],
    ["info", event("turn-over", { status: "waiting" })],
    ["info", event("turn-over", { status: "done" })],
    ["warn", event("fault-raised")],
    ["debug", event("view-chosen")],
    ["debug", event("turn-begun")],
    ["debug", event("request-begun")],
    ["debug", event("call-opened")],
    ["info", event("request-over")],
  ])("[TELEMETRY-6] is %s where that is deserved", (level, one) => {
    expect(lineOf(one)).toMatchObject({ level, event: one.kind, session: "s" });
  });

  test.each([
    ["debug", ["view-chosen", "call-opened", "call-closed", "fault-raised", "effect-undone"]],
    ["info", ["call-closed", "fault-raised", "effect-undone"]],
    ["warn", ["call-closed", "fault-raised", "effect-undone"]],
    ["error", ["effect-undone"]],
  ] as const)(
    "[TELEMETRY-6] is written from the level %s on, and what is not written is not asked for",
    (level, kinds) => {
      const lines: string[] = [];
      const log = structuredLog(jsonLines((line) => void lines.push(line), { level }));
      const all = [
        event("view-chosen"),
        event("call-opened"),
        event("call-closed", { status: "failed" }),
        event("call-closed", { status: "success" }),
        event("fault-raised"),
        event("effect-undone", { how: "not-undone" }),
      ];
      for (const one of all) void log.emit(one);
      const written = lines.map((line) => (JSON.parse(line) as { readonly event: KernelEvent["kind"] }).event);
      expect([...new Set(written)]).toEqual(kinds);
      expect(all.filter(({ kind }) => written.includes(kind)).every(({ kind }) => log.hears?.(kind))).toBe(true);
      expect(log.hears?.("view-chosen")).toBe(level === "debug");
      expect(log.hears?.("call-opened")).toBe(level === "debug");
    },
  );

  test("[TELEMETRY-6] whoever puts something around a logger is heard", () => {
    const lines: string[] = [];
    const warned: string[] = [];
    const base = jsonLines((line) => void lines.push(line));
    const around: Logger = { ...base, warn: (_fields, message) => void warned.push(message) };
    void structuredLog(around).emit(event("fault-raised"));
    expect([warned, lines]).toEqual([["holdfast fault-raised"], []]);
  });

  test("[TELEMETRY-6] a level that there is not is refused", () => {
    expect(() => jsonLines(() => {}, { level: "loud" as never })).toThrow(
      expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option: "level" }) }),
    );
  });

  test("[TELEMETRY-6] says every fact and nothing else, whatever they are called and whatever is said", () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('"', "\\", "\n", "\u2028", "level", "message", "event", "__proto__x"),
    );
    // Engines that once read an object with the key \\ read the key " of the next one as \\ too (V8 in Node 24.21).
    const name = word.filter((letters) => !letters.includes("\\"));
    const told = fc.record({
      kind: fc.oneof(fc.constantFrom("call-closed", "turn-over", "effect-undone", "view-chosen"), word),
      source: fc.constantFrom("tool", "unknown"),
      nth: fc.nat(),
      session: word,
      at: word,
      seq: fc.option(fc.nat(), { nil: undefined }),
      content: fc.option(fc.jsonValue(), { nil: undefined }),
      facts: fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.constant(undefined)), { noNullPrototype: true }),
    });
    fc.assert(
      fc.property(told, (one) => {
        const { kind, facts, ...own } = one;
        const free = Object.entries(facts).filter(([name]) => !OWN.includes(name));
        const line = { ...Object.fromEntries(free), ...own, event: kind, message: `holdfast ${kind}` };
        const { level, ...rest } = lineOf(one as unknown as KernelEvent);
        expect(["debug", "info", "warn", "error"]).toContain(level);
        expect(rest).toEqual(JSON.parse(JSON.stringify(line)));
      }),
    );
  });

  test("[TELEMETRY-6] a fact is a field of its line also when objects have a meaning for its name", () => {
    const lines: string[] = [];
    const facts = JSON.parse('{"__proto__":{"tool":"forged"},"tool":"ls"}') as KernelEvent["facts"];
    void structuredLog(jsonLines((line) => void lines.push(line))).emit(event("call-closed", facts));
    expect(lines.join("")).toContain('"__proto__":{"tool":"forged"},"tool":"ls"}');
  });

  test("[TELEMETRY-6] no fact stands in the place of what the line says of itself, and what was said stands when it is told", () => {
    const facts = { session: "forged", at: "never", tool: "ls" };
    const line = lineOf(event("call-opened", facts, { seq: 7, content: { args: 1 } }));
    expect(line).toMatchObject({
      session: "s",
      at: "2026-01-01T00:00:00.000Z",
      tool: "ls",
      seq: 7,
      content: { args: 1 },
    });
    const lines: string[] = [];
    jsonLines((text) => void lines.push(text)).info({}, "bare");
    expect(lines).toEqual(['{"level":"info","message":"bare"}\n']);
  });
});

test("[TELEMETRY-5] conflicts, refusals, effects that stand and what a reclaim lost are counted, and an event of no account is not", () => {
  const counters = eventCounters();
  for (const one of [
    event("call-closed", { status: "failed", reason: "conflict" }),
    event("request-over", { failure: "misaligned" }),
    event("fault-raised", { fault: "misaligned-request-refused" }),
    event("fault-raised", { fault: "flush-miss" }),
    event("context-reclaimed", {}),
    event("context-reclaimed", { cacheLoss: 40 }),
    event("effect-undone", { how: "not-undone" }),
    event("effect-undone", { how: "undone" }),
    event("user-said"),
  ])
    void counters.emit(one);
  expect(counters.counts).toMatchObject({
    calls: 1,
    rollbacks: 1,
    conflicts: 1,
    refusals: 2,
    faults: 2,
    boundariesRefused: 1,
    reclaims: 2,
    cacheLossTokens: 40,
    effectsNotUndone: 1,
  });
});

describe("names for others", () => {
  test("[TELEMETRY-7] the model that answered is told, else the one that was asked, and none where nobody answered", () => {
    const model = (facts: object) => attributesOf(event("request-over", facts))["gen_ai.response.model"];
    expect(model({ answered: "m-2", model: "anthropic:m" })).toBe("m-2");
    expect(model({ model: "anthropic:m" })).toBe("m");
    expect(model({ model: "anthropic:m", failure: "overloaded" })).toBeUndefined();
    expect(labelsOf(event("aside-over", { model: "" }))).not.toHaveProperty("gen_ai.request.model");
    expect(labelsOf(event("aside-over", { model: "openai:m" }))["gen_ai.request.model"]).toBe("m");
  });

  test("[TELEMETRY-7] [TELEMETRY-8] a provider without a name of theirs has ours, and an event without names has none", () => {
    const about = { provider: "ai-sdk", model: "x:m" };
    expect(attributesOf(event("request-begun", about))["gen_ai.provider.name"]).toBe("ai-sdk");
    expect(labelsOf(event("request-over", { ...about, failure: "silent" }))).toMatchObject({ "error.type": "silent" });
    expect(attributesOf(event("user-said"))).toEqual({});
    expect(labelsOf(event("user-said"))).toEqual({});
    expect(factsOf(event("rewound", { scope: ["state"], deep: { a: 1 }, none: null }))).toEqual({
      "holdfast.rewound.scope": ["state"],
      "holdfast.rewound.deep": '{"a":1}',
    });
  });
});
