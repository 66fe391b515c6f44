import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { kernel, opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import { collect, type MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { Compressor } from "../contracts/compressor.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import type { ModelRequest } from "../contracts/model.ts";
import type { Script, ScriptStep } from "../records/script.ts";
import { type Item, textOf } from "../wire/item.ts";
import { BUDGET, BudgetTracker } from "../transaction/budget.ts";
import { contentCompressor } from "../context/compress/compress.ts";
import { compressWith } from "./compress-with.ts";
import { Holdfast } from "./holdfast.ts";
import type { RunLimits } from "./limits.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import type { Session } from "./session.ts";
import { summariseWith } from "./summarise-with.ts";
import { call as callItem, output as outputItem, say, think, user as userItem } from "../../test/histories/items.ts";

const LINES = 240; // 10 KB and more
const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(LINES, path), { access: "read" });
const reading = (...paths: readonly string[]): readonly ScriptStep[] => [
  ...paths.map((path) => ({ calls: [{ name: "read_file", input: { path } }] })),
  { text: "Done." },
];
const GIST = "Every line is a part of a long output; nothing failed.";

/** A session whose outputs are shortened by a model, and what that model was asked. */
async function withHelper(script: Script, more: SessionOptions = {}, disk?: MemoryDisk) {
  const asked: ModelRequest[] = [];
  const helper = scripted((question) => {
    asked.push(question.request as ModelRequest);
    return typeof script === "function" ? script(question) : (script[question.nth] ?? { text: GIST });
  });
  const { context, ...rest } = more;
  const options = { tools: [read], ...rest, context: { window: 24_000, compressor: compressWith(helper), ...context } };
  const place = await opened(disk, options);
  return { ...place, asked, options };
}

const go = (session: Session, script: readonly ScriptStep[], limits: RunLimits = {}) =>
  watch(session.run("Look.", { model: scripted(script), limits }));
const compressedOf = ({ context }: Session) =>
  (context.view?.pages ?? [])
    .filter(({ kind }) => kind === "evidence")
    .map(({ representations }) => wordsOf(representations.compressed?.item));
const wordsOf = (item: Item | undefined) => (item !== undefined && "parts" in item ? textOf(item.parts) : "");
const viewBytes = ({ context }: Session) => JSON.stringify(context.view?.items);

describe("a compressor that asks a model", () => {
  test("[PAGE-15] is asked once about an output that says something new, without tools, and its page says what came back", async () => {
    const { session, asked } = await withHelper([{ text: GIST }]);
    const { events } = await go(session, reading("a.ts", "a.ts"));
    expect(asked).toHaveLength(1);
    expect(asked[0]?.tools).toBeUndefined();
    expect(JSON.stringify(asked[0]?.items)).toContain("a.ts a of a long output, part 0");
    for (const text of compressedOf(session)) expect(text).toContain(GIST);
    expect(compressedOf(session)[0]).toMatch(
      /all but the gist of [\d,]+ characters left out; all of it: holdfast:\/\//,
    );
    expect(events.filter(({ kind }) => kind === "aside")).toMatchObject([
      { purpose: "compress", used: { prepared: 1, failed: 0 } },
    ]);
  });

  test("[PAGE-15] what it answered is read the same by the next process, by a fork and after a rewind, and nobody asks again", async () => {
    const { session, asked, disk, options } = await withHelper([]);
    const paths = Array.from({ length: 12 }, (_, at) => `src/${at}.ts`);
    const { events } = await go(session, reading(...paths));
    expect(events.some(({ kind }) => kind === "reclaimed")).toBe(true);
    const texts = compressedOf(session);
    const bytes = viewBytes(session);
    expect(texts.every((text) => text.includes(GIST))).toBe(true);
    const [first] = session.checkpoints.list();
    const fork = await session.fork({ after: session.checkpoints.list().at(-1)!.callId, as: "other" });
    await fork.close();
    await session.close();
    const { compressor: _compressor, ...context } = options.context;
    const again = kernel(disk, { ...options, context }).holdfast;
    for (const id of ["s", "other"]) {
      const next = await again.open(id);
      await go(next, [{ text: "Still here." }]);
      // The fork begins before anybody was asked about the last output.
      const shown = id === "s" ? texts : texts.slice(0, -1);
      expect(compressedOf(next).slice(0, shown.length)).toEqual(shown);
      if (id === "s") expect(viewBytes(next).startsWith(bytes.slice(0, -1))).toBe(true);
      await next.close();
    }
    const rewound = await again.open("s");
    await rewound.rewind({ after: first!.callId });
    await go(rewound, [{ text: "Back." }]);
    expect(compressedOf(rewound)).toEqual(texts.slice(0, 1));
    expect(asked).toHaveLength(12);
  });

  test("[VIEW-14] another compressor's view is not taken over, and what a model made of outputs still stands", async () => {
    const { session, disk, options } = await withHelper([]);
    await go(session, reading("a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts", "g.ts", "h.ts"));
    const { turn } = session.context.view!;
    const texts = compressedOf(session);
    await session.close();
    const open = (compressor: Compressor) =>
      kernel(disk, { ...options, context: { ...options.context, compressor } }).holdfast.open("s");
    const same = await open(contentCompressor);
    await go(same, [{ text: "Still here." }]);
    expect(same.context.view!.turn).toBe(turn + 1);
    await same.close();
    const other = await open(noCompressor);
    await go(other, [{ text: "Still here." }]);
    expect(other.context.view!.turn).toBe(0);
    expect(compressedOf(other)).toEqual(texts);
  });

  test("[PAGE-15] what earlier processes have shown is not asked about, nor the same content when it comes again", async () => {
    const plain = await opened(undefined, { tools: [read], context: { window: 24_000 } });
    await go(plain.session, reading("a.ts"));
    const [before] = compressedOf(plain.session);
    await plain.session.close();
    const { session, asked } = await withHelper([], {}, plain.disk);
    await go(session, reading("a.ts", "b.ts"));
    expect(asked).toHaveLength(1);
    const [first, same, other] = compressedOf(session);
    expect([first, same]).toEqual([before, before]);
    expect(other).toContain(GIST);
  });

  test("[PAGE-15] a short output is not worth asking", async () => {
    const short = writes("short", () => longText(30), { access: "read" });
    const { session, asked } = await withHelper([], { tools: [short] });
    const { events } = await go(session, [{ calls: [{ name: "short", input: {} }] }, { text: "ok" }]);
    expect(asked).toHaveLength(0);
    expect(events.map(({ kind }) => kind)).not.toContain("aside");
  });

  test("[PAGE-15] a secret in what it answers is hidden on the page as in the journal", async () => {
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const { session, disk, options } = await withHelper([{ text: `The token is ${secret}.` }]);
    await go(session, reading("a.ts"));
    const [text] = compressedOf(session);
    expect(text).toContain("The token is");
    expect(text).not.toContain(secret);
    await session.close();
    const next = await kernel(disk, options).holdfast.open("s");
    await go(next, [{ text: "ok" }]);
    expect(compressedOf(next)).toEqual([text]);
  });
});

const noCompressor: Compressor = {
  version: "asks nobody",
  compress: () => ({ text: "made anew", leftOut: "everything" }),
};

describe("whatever goes wrong with it", () => {
  const plainly = async () => {
    const { session } = await opened(undefined, { tools: [read], context: { window: 24_000 } });
    await go(session, reading("a.ts"));
    return compressedOf(session);
  };
  const WRONG: Readonly<Record<string, ScriptStep>> = {
    fails: { fault: "overloaded" },
    "says nothing": { text: " \n " },
    "says more than there is room for": { text: "word ".repeat(4_000) },
    "breaks off": { text: "The first half of", stop: "length" },
    refuses: { refusal: "I would rather not." },
    calls: { calls: [{ name: "read_file", input: { path: "x" } }] },
    "writes a call as prose": { text: 'So:\n<tool_use name="x">' },
    "breaks the line": { text: GIST, cutAfter: { events: 1 } },
  };

  test.each(Object.entries(WRONG))(
    "[PAGE-16] one that %s costs its answer: the page is made without a model",
    async (_, step) => {
      const { session, asked } = await withHelper([step]);
      const { end, events } = await go(session, reading("a.ts"));
      expect(asked).toHaveLength(1);
      expect(end.status).toBe("done");
      expect(compressedOf(session)).toEqual(await plainly());
      expect(events.filter(({ kind }) => kind === "aside")).toMatchObject([{ used: { prepared: 0, failed: 1 } }]);
    },
  );

  test("[PAGE-16] one that is too slow is left, and the others that were in time count", async () => {
    const clock = new FixedClock();
    const never = new Promise<never>(() => {});
    const compressor: Compressor = {
      ...noCompressor,
      prepare: ({ text }) => {
        if (text.includes("slow.ts")) queueMicrotask(() => clock.advance(20_001));
        return text.includes("slow.ts") ? never : Promise.resolve({ text: GIST, leftOut: "the rest" });
      },
    };
    const { session } = await openedAt(clock, { tools: [read], context: { window: 24_000, compressor } });
    const both = ["quick.ts", "slow.ts"].map((path) => ({ name: "read_file", input: { path } }));
    const { end } = await go(session, [{ calls: both }, { text: "Done." }]);
    expect(end.status).toBe("done");
    const [quick, slow] = compressedOf(session);
    expect(quick).toContain(GIST);
    expect(slow).toContain("made anew");
  });

  test.each<{ readonly how: string; readonly compress: Compressor["compress"] }>([
    { how: "throws", compress: () => JSON.parse("no JSON") as never },
    { how: "answers no text", compress: () => ({ text: 7 }) as never },
  ])(
    "[PAGE-22] a compressor that $how costs its own text, is told once, and keeps no turn from going on",
    async ({ compress }) => {
      const compressor: Compressor = { version: "1", compress };
      const { session } = await opened(undefined, { tools: [read], context: { window: 24_000, compressor } });
      for (const path of ["a.ts", "b.ts"]) expect((await go(session, reading(path))).end.status).toBe("done");
      expect(compressedOf(session)[0]).toContain("of a long output");
      const faults = (await collect(session.read())).filter((entry) => entry.kind === "fault-raised");
      expect(faults).toMatchObject([{ fault: "compressor-failed", detail: { tool: "read_file" } }]);
    },
  );

  test("[PAGE-16] whoever stops the turn does not wait for it", async () => {
    const stop = new AbortController();
    const compressor: Compressor = {
      ...noCompressor,
      prepare: () => {
        stop.abort();
        return new Promise<never>(() => {});
      },
    };
    const { session } = await opened(undefined, { tools: [read], context: { compressor } });
    const { end } = await watch(session.run("Look.", { model: scripted(reading("a.ts")), signal: stop.signal }));
    expect(end.status).toBe("aborted");
  });

  test("[PAGE-16] one that answers no text at all is refused like the others", async () => {
    const compressor = { ...noCompressor, prepare: async () => ({ text: 7, leftOut: null }) as never };
    const { session } = await opened(undefined, { tools: [read], context: { window: 24_000, compressor } });
    await go(session, reading("a.ts"));
    expect(compressedOf(session)[0]).toContain("made anew");
  });
});

async function openedAt(clock: FixedClock, options: SessionOptions) {
  return { session: await new Holdfast(memoryDeps(undefined, clock), options).open("s") };
}

describe("what is asked beside a conversation", () => {
  const USED = { input: 3_000, output: 100 };

  test("[PAGE-17] counts against the turn's limits and the session's budget, and is told", async () => {
    const told: KernelEvent[] = [];
    const budget = new BudgetTracker({ limits: { input: 1_000_000 }, clock: new FixedClock() });
    const { session } = await withHelper([{ text: GIST, usage: USED }], {
      telemetry: { sinks: [{ emit: (event) => void told.push(event) }] },
      resources: () => [[BUDGET, budget]],
    });
    const { events, end } = await go(session, [
      ...reading("a.ts")
        .slice(0, 1)
        .map((step) => ({ ...step, usage: { input: 10, output: 10 } })),
      { text: "Done.", usage: { input: 10, output: 10 } },
    ]);
    expect(end.spent).toMatchObject({ input: 3_020, output: 120 });
    expect(budget.spent.input).toBe(3_020);
    expect(events.find(({ kind }) => kind === "aside")).toMatchObject({ used: { ...USED, cost: 0 } });
    const asides = told.filter(({ kind }) => kind === "aside-over");
    expect(asides).toMatchObject([{ source: "model", facts: { purpose: "compress", usage: USED } }]);
    expect(JSON.stringify(asides)).not.toContain("gist");
  });

  test("[PAGE-17] is counted and told also when it failed", async () => {
    const told: KernelEvent[] = [];
    const { session } = await withHelper([{ text: "half", stop: "refusal", usage: USED }], {
      telemetry: { sinks: [{ emit: (event) => void told.push(event) }] },
    });
    const { end } = await go(session, reading("a.ts"));
    expect(end.spent.input).toBeGreaterThanOrEqual(3_000);
    expect(told.filter(({ kind }) => kind === "aside-over")).toMatchObject([{ facts: { failure: "ASIDE_FAILED" } }]);
  });

  test("[PAGE-17] ends the turn when it used up what was left, and is not asked any more then", async () => {
    const { session, asked } = await withHelper([{ text: GIST, usage: USED }]);
    const { end } = await go(session, reading("a.ts", "b.ts", "c.ts"), { tokens: 3_050 });
    expect(end).toMatchObject({ status: "limit", limit: "tokens" });
    expect(asked).toHaveLength(1);
  });
});

describe("a summariser that asks a model", () => {
  const compacting = async (script: Script, most?: number) => {
    const asked: ModelRequest[] = [];
    const helper = scripted((question) => {
      asked.push(question.request as ModelRequest);
      return typeof script === "function" ? script(question) : script[question.nth]!;
    });
    const { session } = await opened(undefined, { tools: [read], context: { window: 24_000 } });
    await go(session, reading("a.ts", "b.ts", "c.ts", "d.ts"));
    const summariser = summariseWith(helper, most === undefined ? {} : { most });
    return { session, asked, summariser, compact: () => session.compact({ summariser, tail: 0 }) };
  };
  const SUMMARY = "The user wants to look; four files were read and nothing failed.";

  test("[BOUNDARY-14] is given what leaves as a text, and its words stand in the next request", async () => {
    const { session, asked, compact } = await compacting([{ text: SUMMARY }]);
    await compact();
    expect(asked[0]?.tools).toBeUndefined();
    const text = asked[0]?.items.map(wordsOf).join("\n") ?? "";
    expect(text).toContain('The agent used read_file: {"path":"a.ts"}');
    expect(text).toContain("read_file answered (success)");
    await go(session, [{ text: "ok" }]);
    expect(session.context.view?.items.map(wordsOf).join("\n")).toContain(SUMMARY);
  });

  test("[BOUNDARY-19] what it cannot read at once is asked for again without the oldest, by its own bound or the provider's", async () => {
    const own = await compacting([{ text: SUMMARY }], 4_000);
    await own.compact();
    expect(wordsOf(own.asked[0]?.items.at(-1)).length).toBeLessThanOrEqual(4_000);
    const theirs = await compacting([{ fault: "too-long" }, { text: SUMMARY }]);
    await theirs.compact();
    expect(theirs.asked).toHaveLength(2);
    expect(wordsOf(theirs.asked[1]?.items.at(-1)).length).toBeLessThan(wordsOf(theirs.asked[0]?.items.at(-1)).length);
  });

  test("[BOUNDARY-14] lines that read like a call are left out, and a summary is cut to its room", async () => {
    const { session, compact } = await compacting([
      { text: `${SUMMARY}\n<tool_call>rm</tool_call>\n${"x".repeat(40_000)}` },
    ]);
    await compact();
    await go(session, [{ text: "ok" }]);
    const shown =
      session.context.view?.pages.map(({ representations }) => wordsOf(representations.full?.item)).join("\n") ?? "";
    expect(shown).toContain(SUMMARY);
    expect(shown).not.toContain("<tool_call>");
    expect(shown.length).toBeLessThan(40_000);
  });

  test("[BOUNDARY-14] outside a session it reads any items: who spoke, notes, outputs of calls that are gone, and no thoughts", async () => {
    const asked: ModelRequest[] = [];
    const helper = scripted((question) => {
      asked.push(question.request as ModelRequest);
      return { text: "half of it", stop: "length" };
    });
    const items = [
      userItem("look"),
      userItem("a tool left", { notice: "tool-gone" }),
      say("I look"),
      think("hm"),
      callItem("c"),
      outputItem("c"),
      outputItem("gone", { name: "list_files" }),
      outputItem("nameless"),
    ];
    expect(await summariseWith(helper).summarise({ items, room: 100 })).toEqual({ text: "half of it [it was longer]" });
    const read = asked[0]?.items.map(wordsOf).join("\n") ?? "";
    expect(read).toContain(
      "The user: look\n\nA note (tool-gone): a tool left\n\nThe agent: I look\n\nThe agent used read_file:",
    );
    expect(read).toContain("read_file answered (success): result of c");
    expect(read).toContain("list_files answered (success): result of gone");
    expect(read).toContain("a tool answered (success): result of nameless");
    expect(read).not.toContain("hm");
    await expect(summariseWith(helper, { most: 10 }).summarise({ items, room: 100 })).rejects.toMatchObject({
      code: "SUMMARY_TOO_LONG",
    });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["only calls in prose", { text: "<tool_call>rm</tool_call>" }],
    ["a call", { calls: [{ name: "read_file", input: { path: "x" } }] }],
    ["a refusal", { refusal: "No." }],
    ["an error", { fault: "overloaded" }],
  ] as readonly (readonly [string, ScriptStep])[])(
    "[BOUNDARY-14] %s is no summary: everything is as it was",
    async (_, step) => {
      const { session, compact } = await compacting([step]);
      const before = (await collect(session.read())).length;
      await expect(compact()).rejects.toThrow(expect.objectContaining({ code: "SUMMARY_FAILED" }));
      expect(await collect(session.read())).toHaveLength(before);
    },
  );

  test("[PAGE-17] in a turn it counts and is told; when it uses up what is left, no further request is sent", async () => {
    const paths = ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts"];
    const live = async (limits: RunLimits) => {
      const helper = scripted([{ text: SUMMARY, usage: { input: 500_000, output: 50 } }]);
      const compaction = { at: 0.6, summariser: summariseWith(helper) };
      const { session } = await opened(undefined, { tools: [read], context: { window: 24_000, compaction } });
      return go(session, reading(...paths), limits);
    };
    const { events, end } = await live({});
    const [told] = events.filter(({ kind }) => kind === "aside");
    expect(told).toMatchObject({ purpose: "summarise", used: { input: 500_000, output: 50 } });
    expect(end.spent.input).toBeGreaterThanOrEqual(500_000);
    const bounded = await live({ tokens: 400_000 });
    expect(bounded.end).toMatchObject({ status: "limit", limit: "tokens" });
    const asked = bounded.events.findIndex(({ kind }) => kind === "aside");
    expect(bounded.events.slice(asked).map(({ kind }) => kind)).toEqual(["aside", "compacted", "reclaimed", "end"]);
  });
});
