import { describe, expect, test } from "vitest";
import { call, output, say, sketch, user } from "../../test/histories/items.ts";
import type { HoldfastError } from "../base/errors.ts";
import { toolCallId } from "../wire/item.ts";
import { CONTEXT_DEFAULTS, contextConfig } from "./config.ts";
import { countToolUse, HistoryCounters } from "./counters.ts";
import { normalize } from "./normalize.ts";
import { flushPending } from "./pending.ts";
import { getHistoryForPrompt, loadSession, recoverFromCrash } from "./session.ts";
import { truncateOutput } from "./truncate.ts";

const crashed = [user(), call("c1"), user("again"), output("stale")];
const saved = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).join("\n");
const off = { ...CONTEXT_DEFAULTS, autoRecoverFromCrash: false };

describe("loading", () => {
  test("[R01] a saved log with a dangling call and a stale output is repaired, counted, and each repair is a record", () => {
    const counters = new HistoryCounters();
    const loaded = loadSession(saved(crashed));
    expect(sketch(loaded.history)).toEqual(["user", "call c1", "syn c1", "user"]);
    expect(loaded.report.summary()).toBe("1 missing outputs, 1 orphan outputs");
    expect(loaded).toMatchObject({
      mode: "writable",
      records: [
        { kind: "history-repaired", fault: "missing-output", callId: "c1", detail: { action: "answered" } },
        { kind: "history-repaired", fault: "orphan-output", callId: "stale", detail: { action: "left-out" } },
      ],
    });
    counters.count(recoverFromCrash(crashed));
    expect(counters.violations).toMatchObject({ "missing-output": 1, "orphan-output": 1, "wrong-name": 0 });
  });

  test("[R01] a JSON array loads as lines do; a BOM and a torn line are told, not swallowed", () => {
    expect(loadSession(`\uFEFF${JSON.stringify(crashed)}`).history).toHaveLength(4);
    const torn = loadSession(`${saved(crashed)}\n{"kind":"us`);
    expect(torn.history).toHaveLength(4);
    expect(torn.quarantined).toMatchObject([{ place: 5, text: '{"kind":"us' }]);
    expect(loadSession('{"kind":"sung"}\n7\n{"kind":"call"}').quarantined.map(({ why }) => why)).toEqual([
      'unknown kind "sung"',
      "not an object",
      "callKind is missing or malformed",
    ]);
  });

  test("[N35] a status word of another tool is read as failed, kept, and reported", () => {
    const odd = { ...output("c1"), status: "aborted" };
    const loaded = loadSession(saved([user(), call("c1"), odd]));
    expect(loaded.history[2]).toMatchObject({ status: "failed", statusText: "aborted" });
    expect(loaded.report.unknownStatuses).toEqual([2]);
  });

  test("[PAIR-25] with recovery off a crashed session opens read-only with its report", () => {
    const loaded = loadSession(saved(crashed), { config: off });
    expect(loaded).toMatchObject({ mode: "read-only", history: crashed });
    expect(loaded.report.isValid()).toBe(false);
    expect(loadSession(saved([user()]), { config: off }).mode).toBe("writable");
  });
});

describe("configuration", () => {
  test("[PAIR-25] the seed's keys, with enforcement on by default", () => {
    expect(contextConfig()).toEqual({
      enforceHistoryInvariants: true,
      autoRecoverFromCrash: true,
      warnOnInvariantViolations: true,
    });
    expect(contextConfig({ enforce_history_invariants: false })).toMatchObject({ enforceHistoryInvariants: false });
  });

  test("[PAIR-25] an unknown key names the nearest; a wrong type is refused", () => {
    const thrown = (table: Record<string, unknown>) => {
      try {
        contextConfig(table);
        return undefined;
      } catch (error) {
        return error as HoldfastError;
      }
    };
    expect(thrown({ enforce_history: true })?.details).toMatchObject({ didYouMean: "enforce_history_invariants" });
    expect(thrown({ auto_recover_from_crash: "yes" })?.code).toBe("BAD_OPTION");
  });

  test("[PAIR-25] warnings off silences the log, never the counters", () => {
    const lines: string[] = [];
    const counters = new HistoryCounters();
    const warn = (line: string) => lines.push(line);
    getHistoryForPrompt(crashed, { warn, counters, config: { ...CONTEXT_DEFAULTS, warnOnInvariantViolations: false } });
    expect(lines).toEqual([]);
    expect(counters.repairs["missing-output"]).toBe(1);
    getHistoryForPrompt(crashed, { warn, counters });
    expect(lines).toHaveLength(1);
  });

  test("[PAIR-25] enforcement refuses what repair cannot mend: a call that is still running", () => {
    const inFlight = new Map([[toolCallId("c1"), {}]]);
    const log = [user(), call("c1")];
    expect(() => getHistoryForPrompt(log, { inFlight })).toThrow(
      expect.objectContaining({ code: "HISTORY_CALLS_OPEN", details: { calls: ["c1"], tools: ["read_file"] } }),
    );
    const lax = { ...CONTEXT_DEFAULTS, enforceHistoryInvariants: false };
    expect(getHistoryForPrompt(log, { inFlight, config: lax }).items).toBe(log);
  });
});

describe("what still fails after a repair that was told to mend only some of it", () => {
  test("[PAIR-25] is refused with its report while invariants are enforced, and sent when they are not", () => {
    const log = [user(), call("c1"), output("stale")];
    const half = { only: ["orphan-output"] } as const;
    expect(() => getHistoryForPrompt(log, half)).toThrowError(
      expect.objectContaining({
        code: "HISTORY_INVALID",
        details: expect.objectContaining({ summary: "1 missing outputs, 0 orphan outputs" }),
      }),
    );
    const lax = { ...CONTEXT_DEFAULTS, enforceHistoryInvariants: false };
    expect(sketch(getHistoryForPrompt(log, { ...half, config: lax }).items)).toEqual(["user", "call c1"]);
  });

  test("[PAIR-25] a key of the table that was mistyped is told with the one that was meant", () => {
    for (const [typed, meant] of [
      ["auto_recover", "auto_recover_from_crash"],
      ["warn_on_violations", "warn_on_invariant_violations"],
      ["enforce", "enforce_history_invariants"],
    ] as const)
      expect(() => contextConfig({ [typed]: true })).toThrowError(
        expect.objectContaining({ code: "BAD_OPTION", details: { option: `context.${typed}`, didYouMean: meant } }),
      );
  });
});

describe("a saved session", () => {
  test("[PAIR-25] is read past blank lines, and what is no item of its kind is set aside with the field at fault", () => {
    const odd = [
      { kind: "system", parts: [], role: "developer" },
      { kind: "system", parts: [], role: "king" },
      { kind: "other", by: "model" },
      { kind: "other", by: "host" },
      { kind: "other", by: "nobody" },
    ];
    const { history, quarantined } = loadSession(`\n${saved(odd)}\n\n${JSON.stringify(user())}\n`);
    expect(sketch(history)).toEqual(["system", "other", "other", "user"]);
    expect(quarantined.map(({ place, why }) => [place, why])).toEqual([
      [3, "role is missing or malformed"],
      [6, "by is missing or malformed"],
    ]);
  });
});

describe("pending, counting, truncating", () => {
  test("[N27] nothing is written for a running id whose call was compacted away", () => {
    const pending = new Map([
      [toolCallId("gone"), { status: "canceled", reason: "interrupted" } as const],
      [toolCallId("c1"), { status: "timeout", reason: "deadline" } as const],
    ]);
    expect(flushPending([user(), call("c1")], pending)).toMatchObject([{ callId: "c1", status: "timeout" }]);
    expect(flushPending([user(), call("c1"), output("c1")], pending)).toEqual([]);
  });

  test("[PAIR-26] calls, endings and time are counted per tool", () => {
    const at = (second: number) => ({ at: `2026-01-01T00:00:0${second}.000Z` });
    const log = [
      call("a", at(0)),
      output("a", at(2)),
      call("b"),
      output("b", { status: "failed" }),
      call("c", { name: "x" }),
    ];
    expect(countToolUse(normalize(log).items).get("read_file")).toEqual({
      calls: 2,
      statuses: { success: 1, failed: 1, canceled: 0, timeout: 0 },
      totalMs: 2000,
      timed: 1,
    });
    expect(countToolUse(normalize(log).items).get("x")).toMatchObject({ calls: 1, statuses: { canceled: 1 } });
  });

  test("[PAIR-26] what cannot be laid at a tool's door is counted for none", () => {
    const { callId: _callId, ...nameless } = call("x");
    const { callId: _outputId, ...event } = output("x", { name: "clock" });
    const uses = countToolUse([nameless, event, output("nobody"), call("a"), output("a")]);
    expect([...uses.keys()]).toEqual(["read_file"]);
    expect(uses.get("read_file")).toMatchObject({ calls: 2, statuses: { success: 1, failed: 0 }, timed: 0 });
  });

  test("[T19] where one part has all the room it needs, it stays as it is", () => {
    const short = { type: "text", text: "" } as const;
    const cut = truncateOutput(output("c1", { parts: [short, { type: "text", text: "b".repeat(300) }] }), 80);
    expect(cut.parts[0]).toBe(short);
  });

  test("[PAIR-32] what was taken is told as it is, whatever the limit and wherever a part is empty", () => {
    const long = { type: "text", text: "hello world" } as const;
    const empty = { type: "text", text: "" } as const;
    const gone = { type: "text", text: "\n[… 11 characters removed …]\n" };
    for (const limit of [0, -5, -0.5])
      expect(truncateOutput(output("c1", { parts: [long] }), limit).parts).toEqual([gone]);
    expect(truncateOutput(output("c1", { parts: [long, empty] }), 4).parts).toEqual([
      { type: "text", text: "he\n[… 7 characters removed …]\nld" },
      empty,
    ]);
  });

  test("[N27] a running call that was left without an id, or that nobody ended, gets nothing", () => {
    const { callId: _callId, ...nameless } = call("x");
    expect(flushPending([user(), nameless, call("c1")], new Map())).toEqual([]);
  });

  test("[T19] an output over the limit keeps head and tail, says how much went, and stays valid text", () => {
    const long = output("c1", { status: "failed", parts: [{ type: "text", text: `${"😀".repeat(500)}end` }] });
    for (const limit of [10, 11, 100, 101, 502, 503]) {
      const cut = truncateOutput(long, limit);
      const [part] = cut.parts;
      const text = part?.type === "text" ? part.text : "";
      expect(text.isWellFormed()).toBe(true);
      expect(text).toMatch(/^(😀)+\n\[… \d+ characters removed …\]\n[^]*end$/u);
      const removed = Number(/(\d+) characters/.exec(text)?.[1]);
      expect(text.replace(/\n\[.*\]\n/, "").length + removed).toBe(1003);
      expect(cut).toMatchObject({ callId: "c1", status: "failed" });
    }
    expect(truncateOutput(long, 1003)).toBe(long);
  });

  test("[T19] pictures stay, and text parts share the room", () => {
    const picture = { type: "image", media: { url: "https://example.invalid/a.png" } } as const;
    const long = output("c1", {
      parts: [{ type: "text", text: "a".repeat(100) }, picture, { type: "text", text: "b".repeat(300) }],
    });
    const cut = truncateOutput(long, 80);
    expect(cut.parts[1]).toBe(picture);
    expect(
      cut.parts.map((part) => (part.type === "text" ? part.text.replaceAll(/\n\[.*\]\n/g, "").length : 0)),
    ).toEqual([20, 0, 60]);
  });
});

test("[PAIR-27] a whole session is returned untouched by every station", () => {
  const log = [user(), call("c1"), output("c1"), say()];
  expect(getHistoryForPrompt(log).items).toBe(log);
  expect(recoverFromCrash(log).history).toBe(log);
  expect(recoverFromCrash(log).records).toEqual([]);
});
