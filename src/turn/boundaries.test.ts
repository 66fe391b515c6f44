import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { kernel, OPTIONS, opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import { between, collect, type MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { HoldfastError } from "../base/errors.ts";
import { countingIds } from "../base/ids.ts";
import type { WritebackTuple } from "../context/writeback/tuple.ts";
import type { Model, ModelRequest } from "../contracts/model.ts";
import type { Summariser, SummaryAsk } from "../contracts/summariser.ts";
import type { ScriptStep } from "../records/script.ts";
import { type Item, textOf } from "../wire/item.ts";
import { Holdfast } from "./holdfast.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import type { RunOptions } from "./run-options.ts";
import type { Session } from "./session.ts";

const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(60, path), { access: "read" });
const open = (disk?: MemoryDisk, more: SessionOptions = {}) =>
  opened(disk, { tools: [read], context: { window: 32_000 }, ...more });
const reading = (files: number, from = 0): readonly ScriptStep[] => [
  ...Array.from({ length: files }, (_, at) => ({
    calls: [{ name: "read_file", input: { path: `src/file-${from + at}.ts` } }],
  })),
  { text: "Done." },
];
const RULE = { id: "R1", text: "Never push to main.", scope: "session", source: "the user" } as const;
const noted = (value: string, scope: WritebackTuple["scope"] = "session"): WritebackTuple => ({
  kind: "preference",
  page: "style",
  field: "notes",
  op: "append",
  value,
  scope,
});
const wordsOf = (items: readonly Item[]) => items.map((item) => ("parts" in item ? textOf(item.parts) : "")).join("\n");
const recordsOf = async (session: Session, kind: string) =>
  (await collect(session.read())).filter((entry) => entry.kind === kind);
const say = async (
  session: Session,
  text: string,
  script: readonly ScriptStep[] = [{ text: "ok" }],
  how: Pick<RunOptions, "window"> = {},
) => {
  const sent: ModelRequest[] = [];
  const model = scripted(script);
  const ask: Model["ask"] = (request, options) => {
    sent.push(request);
    return model.ask(request, options);
  };
  const { end, events } = await watch(session.run(text, { ...how, model: { ...model, ask } }));
  return { end, events, sent };
};
const handlesIn = (items: readonly Item[]) => JSON.stringify(items).match(/holdfast:\/\/[a-z2-7]{26}/g) ?? [];

/** A store whose shelf for the project nobody can reach while `down`. */
async function withShelfDown(more: SessionOptions = {}) {
  const deps = memoryDeps();
  const fault = { down: false };
  const store = between(deps.store, {
    before: (batch) => {
      if (fault.down && "session" in batch && String(batch.session).startsWith("pages:")) throw new Error("unplugged");
      return undefined;
    },
  });
  const options = { ...OPTIONS, tools: [read], context: { window: 32_000 }, ids: countingIds(), ...more };
  const holdfast = new Holdfast({ ...deps, store }, options);
  const session = await holdfast.open("s");
  return { holdfast, session, fault, deps };
}

describe("every boundary", () => {
  const CROSSINGS: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
    compaction: (session) => session.compact({ tail: 500 }),
    reset: (session) => session.reset(),
    prune: (session) => session.prune({ keep: 1 }),
    overflow: (session) => say(session, "too much?", [{ fault: "too-long" }, { text: "ok" }]),
    "mode-flip": (session) => session.setMode("plan"),
    exit: (session) => session.close(),
  };

  test.each(Object.entries(CROSSINGS))(
    "[BOUNDARY-1] [W09] commits what is dirty first: %s",
    async (boundary, crossing) => {
      const { disk, session } = await open();
      await say(session, "read", reading(6));
      await session.writeback.stage(noted("tabs"));
      await session.writeback.stage(noted("no emoji", "project"));
      await crossing(session);
      if (boundary !== "exit") await session.close();
      const again = (await open(disk)).session;
      const kinds = (await collect(again.read())).map((entry) =>
        entry.kind === "boundary-crossed" ? `${entry.boundary}` : entry.kind,
      );
      expect(kinds.filter((kind) => kind === "writeback-committed")).toHaveLength(2);
      expect(kinds.indexOf(boundary)).toBeGreaterThan(kinds.lastIndexOf("writeback-committed"));
      expect(again.recovered.staged).toBeUndefined();
      const { sent } = await say(again, "and now?");
      expect(wordsOf(sent[0]!.items)).toMatch(/tabs[^]*no emoji/);
    },
  );

  test.each(Object.entries(CROSSINGS))(
    "[BOUNDARY-1] [W09] is refused when that fails, and the miss is told: %s",
    async (boundary, crossing) => {
      const { session, fault } = await withShelfDown();
      await say(session, "read", reading(6));
      await session.writeback.stage(noted("no emoji", "project"));
      fault.down = true;
      const before = session.context.view;
      await expect(crossing(session)).rejects.toMatchObject({ code: "BOUNDARY_REFUSED", details: { boundary } });
      expect(session.context.counts.faults["flush-miss"]).toBe(1);
      expect(await recordsOf(session, "boundary-crossed")).toEqual([]);
      expect(await recordsOf(session, "fault-raised")).toMatchObject([{ fault: "flush-miss", detail: { boundary } }]);
      expect(session.mode).toBe("act");
      expect(session.context.view?.turn ?? 0).toBeGreaterThanOrEqual(before?.turn ?? 0);
      fault.down = false;
      await crossing(session);
    },
  );

  test("[BOUNDARY-1] goes on when a restore in between makes dirty again what it has just committed", async () => {
    const deps = memoryDeps();
    const meanwhile: Promise<unknown>[] = [];
    const restores: (() => Promise<unknown>)[] = [];
    const store = between(deps.store, {
      before: (batch) => {
        if (JSON.stringify(batch).includes("writeback-committed"))
          meanwhile.push(...restores.splice(0).map((restore) => restore()));
        return undefined;
      },
    });
    const holdfast = new Holdfast({ ...deps, store }, { ...OPTIONS, tools: [read], ids: countingIds() });
    const session = await holdfast.open("s");
    await say(session, "read", reading(6));
    await session.writeback.stage(noted("tabs"));
    const dirty = await session.state.snapshot();
    restores.push(() => session.state.restore(dirty));
    expect(await session.reset()).toMatchObject({ crossed: true });
    await Promise.all(meanwhile);
    expect(session.writeback.pending).toEqual([]);
    expect(await recordsOf(session, "writeback-committed")).toHaveLength(2);
  });

  test("[BOUNDARY-1] [C11] so is one that a jump from little to too much makes by itself", async () => {
    const { session, fault } = await withShelfDown({ context: { window: 12_000 } });
    await say(session, "read", reading(3));
    await session.writeback.stage(noted("no emoji", "project"));
    fault.down = true;
    expect((await say(session, "still little")).end.status).toBe("done");
    await expect(say(session, "read on", reading(9, 3))).rejects.toMatchObject({ code: "BOUNDARY_REFUSED" });
    fault.down = false;
    const { end } = await say(session, "go on", reading(9, 12));
    expect(end.status).toBe("done");
    const kinds = (await collect(session.read())).map(({ kind }) => kind);
    expect(kinds.indexOf("boundary-crossed")).toBeGreaterThan(kinds.indexOf("writeback-committed"));
  });

  test("[BOUNDARY-1] [W10] flushes each time, not every second time", async () => {
    const { session } = await open();
    for (let nth = 0; nth < 4; nth += 1) {
      await say(session, `read ${nth}`, reading(4, nth * 4));
      await session.writeback.stage(noted(`note ${nth}`));
      const { committed, crossed } = await session.compact({ tail: 500 });
      expect([committed.length, crossed]).toEqual([1, true]);
    }
  });

  test("[BOUNDARY-1] [W11] nine resets in thirty turns lose nothing", async () => {
    const { session } = await open();
    for (let turn = 0; turn < 30; turn += 1) {
      await say(session, `turn ${turn}`);
      await session.writeback.stage(noted(`note ${turn}`));
      if (turn % 3 === 2 && turn < 27) await session.reset();
    }
    await session.writeback.commit();
    expect(await recordsOf(session, "boundary-crossed")).toHaveLength(9);
    expect(session.context.counts.faults["flush-miss"]).toBe(0);
    const text = wordsOf((await say(session, "what do you know?")).sent[0]!.items);
    for (let turn = 0; turn < 30; turn += 1) expect(text).toContain(`note ${turn}`);
  });

  test("[TURN-88] a session that two could not close goes on, and a third closes it in another way", async () => {
    const { session, fault } = await withShelfDown();
    await session.writeback.stage(noted("no emoji", "project"));
    fault.down = true;
    const closing = await Promise.allSettled([session.close(), session.close()]);
    expect(closing).toMatchObject([0, 1].map(() => ({ reason: { code: "BOUNDARY_REFUSED" } })));
    expect((await say(session, "still there?")).sent).toHaveLength(1);
    await Promise.all([expect(session.close()).rejects.toThrow("boundary"), session.close({ leave: "staged" })]);
  });

  test("[BOUNDARY-1] an exit that is refused can leave what is staged to the next opening", async () => {
    const { session, fault, deps } = await withShelfDown();
    await session.writeback.stage(noted("no emoji", "project"));
    fault.down = true;
    await expect(session.close()).rejects.toMatchObject({ code: "BOUNDARY_REFUSED" });
    await session.close({ leave: "staged" });
    const again = (await open(deps.disk)).session;
    expect(again.recovered.staged).toEqual(["s.000001"]);
    expect(again.writeback.pending).toEqual([]);
  });

  test("[TURN-89] a kernel that is closed leaves what no exit can commit to the next opening", async () => {
    const { holdfast, session, fault, deps } = await withShelfDown();
    await session.writeback.stage(noted("no emoji", "project"));
    fault.down = true;
    await holdfast.close();
    await expect(say(session, "still there?")).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
    expect((await open(deps.disk)).session.recovered.staged).toEqual(["s.000001"]);
  });
});

describe("after a compaction", () => {
  test("[BOUNDARY-3] [BOUNDARY-4] [W18] rules stand verbatim, the session is whole, every page that left resolves, in any process", async () => {
    const context = { window: 32_000, rules: [{ ...RULE, id: "R0", text: "Be terse." }] };
    const { disk, session } = await open(undefined, { context });
    await session.context.pin(RULE);
    await say(session, "read", reading(12));
    const before = await session.conversation();
    const shown = session.context.view!.pages.map(({ handle }) => handle);
    const { left } = await session.compact({ tail: 1_000 });
    expect(left).toBeGreaterThan(15);
    const { sent } = await say(session, "and now?");
    const { items } = sent[0]!;
    expect(wordsOf(items)).toContain(RULE.text);
    expect(wordsOf(items)).toContain("Be terse.");
    expect(wordsOf(items).length).toBeLessThan(JSON.stringify(before).length / 3);
    expect((await session.conversation()).slice(0, before.length)).toEqual(before);
    await session.close();
    const again = (await open(disk, { context })).session;
    const next = (await say(again, "and then?")).sent[0]!;
    expect(JSON.stringify(next.items.slice(0, sent[0]!.stableItems))).toBe(
      JSON.stringify(items.slice(0, sent[0]!.stableItems)),
    );
    for (const handle of [...shown, ...handlesIn(items)])
      expect(again.context.recall({ handle })).toMatchObject({ ok: true });
  });

  test("[BOUNDARY-3] after the tenth every rule is verbatim and every handle ever shown resolves", async () => {
    const { disk, session } = await open();
    await session.context.pin(RULE);
    const handles = new Set<string>();
    for (let nth = 0; nth < 10; nth += 1) {
      const { sent } = await say(session, `read ${nth}`, reading(5, nth * 5));
      for (const { items } of sent) for (const handle of handlesIn(items)) handles.add(handle);
      expect((await session.compact({ tail: 800 })).crossed).toBe(true);
    }
    await session.close();
    const again = (await open(disk)).session;
    const { sent } = await say(again, "what was the first file?");
    expect(wordsOf(sent[0]!.items)).toContain(RULE.text);
    expect(handles.size).toBeGreaterThan(8);
    for (const handle of handles) expect(again.context.recall({ handle })).toMatchObject({ ok: true });
    // From list to list, back to the first page.
    const [list] = handlesIn(sent[0]!.items);
    const seen = new Set<string>();
    const follow = (handle: string) => {
      if (seen.has(handle)) return;
      seen.add(handle);
      const answer = again.context.recall({ handle });
      if (answer.ok) for (const inner of answer.text.match(/holdfast:\/\/[a-z2-7]{26}/g) ?? []) follow(inner);
    };
    follow(list!);
    const texts = [...seen]
      .map((handle) => again.context.recall({ handle }))
      .flatMap((one) => (one.ok ? [one.text] : []));
    expect(texts.some((text) => text.includes("src/file-0.ts a of a long output"))).toBe(true);
  });

  test("[BOUNDARY-10] a rewind to before it shows what was shown then, and there is a record of it", async () => {
    const { session } = await open();
    await say(session, "read", reading(6));
    const { callId } = session.checkpoints.list().at(-1)!;
    await session.compact({ tail: 500 });
    expect(await recordsOf(session, "boundary-crossed")).toMatchObject([{ boundary: "compaction" }]);
    const short = wordsOf((await say(session, "short?")).sent[0]!.items);
    expect(short).not.toContain("src/file-0.ts a of a long output");
    await session.rewind({ after: callId });
    const long = wordsOf((await say(session, "long?")).sent[0]!.items);
    expect(long).toContain("src/file-0.ts a of a long output");
  });

  test("[BOUNDARY-10] nothing that could leave is no boundary", async () => {
    const { session } = await open();
    expect(await session.compact()).toMatchObject({ crossed: false, left: 0 });
    await say(session, "hello");
    expect(await session.compact()).toMatchObject({ crossed: false });
    expect(await recordsOf(session, "boundary-crossed")).toEqual([]);
    await expect(session.prune({ keep: -1 })).rejects.toMatchObject({ code: "BAD_OPTION" });
  });
});

describe("a summariser", () => {
  const answering = (answer: (ask: SummaryAsk, nth: number) => ReturnType<Summariser["summarise"]>) => {
    const asks: SummaryAsk[] = [];
    const summariser: Summariser = {
      name: "a test's",
      summarise: (ask) => {
        asks.push(ask);
        return answer(ask, asks.length);
      },
    };
    return { summariser, asks };
  };

  test("[BOUNDARY-5] [C04] says what stands in place of what left, and the newest groups follow", async () => {
    const { session } = await open();
    await say(session, "read", reading(6));
    const { summariser } = answering(async () => ({ text: "Six files were read." }));
    await session.compact({ tail: 1_500, summariser });
    const { items } = (await say(session, "and now?")).sent[0]!;
    const text = wordsOf(items);
    expect(text.indexOf("read\n")).toBeLessThan(text.indexOf("Six files were read."));
    expect(text.indexOf("Six files were read.")).toBeLessThan(text.indexOf("src/file-5.ts a of"));
    expect(text).not.toContain("src/file-0.ts a of");
  });

  test("[TURN-64] [T11] the conversation's version changes when it is replaced or rolled back, and not when it grows", async () => {
    const { session, disk } = await open();
    const before = session.conversationVersion;
    await say(session, "read", reading(6));
    expect(session.conversationVersion).toBe(before);
    await session.compact({ tail: 1_500 });
    const replaced = session.conversationVersion;
    await say(session, "more", reading(1));
    const [last] = session.checkpoints.list().toReversed();
    await session.rewind({ before: last!.callId, scope: ["conversation"] });
    const rolledBack = session.conversationVersion;
    expect([before < replaced, replaced < rolledBack]).toEqual([true, true]);
    await session.checkpoint({ tag: "here" });
    await session.close();
    await using again = (await open(disk)).session;
    expect(again.conversationVersion).toBe(rolledBack);
  });

  test("[BOUNDARY-19] [C07] that is given too much is asked again without the oldest group, and then without more", async () => {
    const { session } = await open();
    await say(session, "read", reading(6));
    const { summariser, asks } = answering(async (_ask, nth) => {
      if (nth < 3) throw new HoldfastError("SUMMARY_TOO_LONG");
      return { text: "They read." };
    });
    expect((await session.compact({ tail: 500, summariser })).crossed).toBe(true);
    expect(asks.map(({ items }) => items.length)).toEqual([
      asks[0]!.items.length,
      asks[0]!.items.length - 2,
      asks[0]!.items.length - 6,
    ]);
  });

  test.each<readonly [string, () => ReturnType<Summariser["summarise"]>]>([
    ["finds even one group too much", () => Promise.reject(new HoldfastError("SUMMARY_TOO_LONG"))],
    ["fails", () => Promise.reject(new Error("no such model"))],
    ["says nothing", () => Promise.resolve({ text: "" })],
  ])("[BOUNDARY-19] [C07] that %s leaves everything as it was", async (_what, answer) => {
    const { session } = await open();
    await say(session, "read", reading(6));
    await session.writeback.stage(noted("tabs"));
    const { seq } = session.journal.head;
    const { summariser } = answering(answer);
    await expect(session.compact({ tail: 500, summariser })).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    expect([session.journal.head.seq, session.writeback.pending.length]).toEqual([seq, 1]);
    expect(wordsOf((await say(session, "and now?")).sent[0]!.items)).toContain("src/file-0.ts a of");
  });
});

describe("by itself", () => {
  const at = (share: number, summariser?: Summariser): SessionOptions => ({
    context: { window: 24_000, compaction: { at: share, ...(summariser === undefined ? {} : { summariser }) } },
  });

  test("[BOUNDARY-9] [C10] a session is compacted before the request that would be over the trigger, and is light again", async () => {
    const { session } = await open(undefined, at(0.5));
    const { events, end } = await say(session, "read", reading(14));
    expect(end.status).toBe("done");
    expect(events.filter(({ kind }) => kind === "compacted").length).toBeGreaterThan(0);
    const pressed = events.filter((event) => event.kind === "reclaimed" && event.reclaim.why === "pressure");
    expect(pressed).toEqual([]);
    expect(session.context.view!.tokens).toBeLessThan(session.context.view!.budget * 0.5);
  });

  test("[BOUNDARY-9] [C10] near the trigger it is compacted when the turn ends, and then no longer near", async () => {
    const { session: measured } = await open(undefined, at(0.99));
    await say(measured, "read", reading(5));
    const { tokens, budget } = measured.context.view!;
    const { session } = await open(undefined, at(tokens / budget / 0.95));
    const { events } = await say(session, "read", reading(5));
    expect(events.map(({ kind }) => kind).slice(-2)).toEqual(["compacted", "end"]);
    await say(session, "and now?");
    expect(session.context.pressure).toBe("none");
    const { session: calm } = await open(undefined, at(tokens / budget / 0.85));
    expect((await say(calm, "read", reading(5))).events.map(({ kind }) => kind)).not.toContain("compacted");
  });

  test("[BOUNDARY-18] for a model with a smaller window it is compacted to that window", async () => {
    const { session } = await open(undefined, { context: { window: 128_000, compaction: { at: 0.5 } } });
    await say(session, "read", reading(12));
    const { events } = await say(session, "and now?", [{ text: "ok" }], { window: 24_000 });
    expect(events.map(({ kind }) => kind)).toContain("compacted");
    const { tokens, budget } = session.context.view!;
    expect(tokens / budget).toBeLessThan(0.5);
    expect(tokens).toBeGreaterThan(0);
  });

  test("[BOUNDARY-19] a summary that fails is told, and pages are lowered instead", async () => {
    const summariser: Summariser = { name: "broken", summarise: () => Promise.reject(new Error("no")) };
    const { session } = await open(undefined, at(0.5, summariser));
    const { events, end } = await say(session, "read", reading(14));
    expect(end.status).toBe("done");
    expect(events.filter(({ kind }) => kind === "compaction-failed")).toHaveLength(1);
    expect(await recordsOf(session, "boundary-crossed")).toMatchObject([{ boundary: "prune" }]);
  });
});

describe("resuming", () => {
  test("[BOUNDARY-11] [P18] [P20] with only the newest groups keeps pins, and the journal keeps everything", async () => {
    const { disk, session } = await open();
    await session.context.pin(RULE);
    await say(session, "read", reading(10));
    const before = await session.conversation();
    await session.close();
    const { holdfast } = kernel(disk, { tools: [read], context: { window: 32_000 } });
    const again = await holdfast.open("s", { recent: 3 });
    const { sent } = await say(again, "and now?");
    const text = wordsOf(sent[0]!.items);
    expect(text).toContain(RULE.text);
    expect(text).toContain("src/file-9.ts a of");
    expect(text).not.toContain("src/file-6.ts a of");
    expect((await again.conversation()).slice(0, before.length)).toEqual(before);
  });
});

test("[BOUNDARY-1] a mode flip makes room when there is need of it, because the provider reads everything anew", async () => {
  const { session } = await open(undefined, { context: { window: 24_000 } });
  await say(session, "read", reading(8));
  const { tokens } = session.context.view!;
  await session.setMode("plan");
  const { events } = await say(session, "plan it");
  expect(events.map(({ kind }) => kind)).toContain("reclaimed");
  expect(session.context.view!.tokens).toBeLessThan(tokens);
  expect((await say(session, "and more")).events.map(({ kind }) => kind)).not.toContain("reclaimed");
});

test("[FAULT-1] [W09] a flush-miss of an earlier process is known again, once", async () => {
  const { session, fault, deps } = await withShelfDown();
  await session.writeback.stage(noted("no emoji", "project"));
  fault.down = true;
  await expect(session.close()).rejects.toMatchObject({ code: "BOUNDARY_REFUSED" });
  await session.close({ leave: "staged" });
  const again = (await open(deps.disk)).session;
  await say(again, "hello");
  await say(again, "and again");
  expect(again.context.counts.faults["flush-miss"]).toBe(1);
  expect(Object.keys(again.context.counts.faults)).toHaveLength(6);
});

test("[BOUNDARY-3] every handle that reclaims have ever shown resolves in the next process, and lists what it listed", async () => {
  const { disk, session } = await open(undefined, { context: { window: 12_000 } });
  const shown = new Map<string, string>();
  const { sent } = await say(session, "read", reading(40));
  for (const { items } of sent)
    for (const handle of handlesIn(items)) {
      const answer = session.context.recall({ handle });
      if (answer.ok) shown.set(handle, answer.text);
    }
  expect(shown.size).toBeGreaterThan(20);
  await session.close();
  const again = (await open(disk, { context: { window: 12_000 } })).session;
  await say(again, "and now?");
  for (const [handle, text] of shown) expect(again.context.recall({ handle })).toMatchObject({ ok: true, text });
});

describe("what a boundary kept", () => {
  type Step = (at: number) => { readonly text?: string };
  const save = writes<{ readonly path: string }>("save", ({ path }) => `kept ${path}. ${longText(60, path)}`);
  const saving = (step: Step): readonly ScriptStep[] => [
    ...Array.from({ length: 6 }, (_, at) => ({
      ...step(at),
      calls: [{ name: "save", input: { path: `file-${at}` } }],
    })),
    { text: "Done." },
  ];
  const HIDING: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
    "plan mode hides": (session) => session.setMode("plan"),
    "was withdrawn": (session) => session.catalog.remove(["save"]),
  };
  const resultsIn = (items: readonly Item[]) => [...wordsOf(items).matchAll(/kept (file-\d)/g)].map(([, file]) => file);

  test.each(Object.entries(HIDING))("[BOUNDARY-17] is told where its tool %s", async (_, hide) => {
    for (const step of [() => ({}), (at) => ({ text: `Step ${at}.` })] satisfies readonly Step[]) {
      const { disk, session } = await open(undefined, { tools: [save] });
      await say(session, "save", saving(step));
      await session.compact({ tail: 2_500 });
      const kept = resultsIn((await say(session, "and?")).sent[0]?.items ?? []);
      expect(kept).toEqual(["file-3", "file-4", "file-5"]);
      await hide(session);
      const { sent } = await say(session, "now?");
      expect(sent[0]?.items.some(({ kind }) => kind === "call")).toBe(false);
      expect(resultsIn(sent[0]?.items ?? [])).toEqual(kept);
      for (const at of [3, 4, 5].filter((nth) => "text" in step(nth)))
        expect(wordsOf(sent[0]?.items ?? [])).toContain(`Step ${at}.`);
      await session.close();
      const again = (await open(disk, { tools: [save] })).session;
      await hide(again);
      expect(resultsIn((await say(again, "still?")).sent[0]?.items ?? [])).toEqual(kept);
    }
  });
});
