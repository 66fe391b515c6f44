import { describe, expect, test } from "vitest";
import { call, output, say, system, user } from "../../test/histories/items.ts";
import { bytesOf, deps, longText, pages, session, viewOf } from "../../test/support/pages.ts";
import { checkWire } from "../wire/check.ts";
import { writeMessages } from "../wire/project.ts";
import { validateHistory } from "../history/repair.ts";
import type { Item } from "../wire/item.ts";
import { deriveView } from "./derive.ts";
import { explainPage } from "./explain.ts";
import { PageMaker } from "./ingest.ts";
import { isBelow, minFidelity } from "./kind.ts";
import { makePage } from "./make-page.ts";
import type { Page } from "./page.ts";
import { constraintPage, planPage } from "./producers.ts";
import { traceLine, viewChosen } from "./record.ts";
import { resumeView } from "./resume.ts";
import type { View } from "./view.ts";

const total = (from: readonly Page[]) =>
  from.reduce((sum, { representations }) => sum + representations.full!.tokens, 0);
const levelAt = (view: View, at: number) => view.entries.find(({ from, to }) => from <= at && at < to)?.level;
const rule = (id: string, text: string) => constraintPage({ id, text, scope: "session", source: "pin" }, deps);

describe("between reclaims", () => {
  test("[VIEW-6] a view is the one before and what is new, the same objects and the same bytes", () => {
    const all = pages([system("be good"), ...session(40)]);
    let previous = viewOf(all.slice(0, 2), { budget: 1_000_000 });
    for (let to = 4; to < all.length; to += 1) {
      if (all[to - 1]!.representations.full!.item.kind === "call") continue;
      const view = viewOf(all.slice(0, to), { budget: 1_000_000, previous });
      expect(view.reclaim).toBeUndefined();
      expect(view.items.slice(0, previous.items.length)).toEqual(previous.items);
      expect(bytesOf(view.items).startsWith(bytesOf(previous.items).slice(0, -1))).toBe(true);
      previous = view;
    }
  });

  test("[VIEW-6] the caller's list may grow in place", () => {
    const all = [...pages(session(10))];
    const list = all.slice(0, 3);
    const first = viewOf(list, { budget: 1_000_000 });
    list.push(...all.slice(3));
    const view = viewOf(list, { budget: 1_000_000, previous: first });
    expect(first.pages).toHaveLength(3);
    expect(view.entries).toHaveLength(all.length);
  });
});

describe("pressure", () => {
  const all = pages([system("be good"), ...session(60)]);
  const budget = Math.floor(total(all) / 2);

  function walk(options: { readonly tail?: readonly Page[] } = {}): readonly View[] {
    const views: View[] = [];
    for (let to = 4; to <= all.length; to += 2)
      views.push(
        viewOf(all.slice(0, to), { budget, ...(views.length > 0 ? { previous: views.at(-1)! } : {}), ...options }),
      );
    return views;
  }

  test("[VIEW-7] over the high mark pages are lowered once, to the low mark, and the loss is told", () => {
    const views = walk();
    const reclaims = views.filter(({ reclaim }) => reclaim !== undefined);
    expect(reclaims.length).toBeGreaterThan(0);
    expect(reclaims.length).toBeLessThan(5);
    for (const { reclaim, tokens } of reclaims) {
      expect(reclaim).toMatchObject({ why: "pressure" });
      expect(reclaim!.tokensBefore).toBeGreaterThan(budget * 0.95);
      expect(tokens).toBeLessThanOrEqual(budget * 0.4);
      expect(reclaim!.tokensAfter).toBe(tokens);
      expect(reclaim!.cacheLoss + reclaim!.prefixTokens).toBeLessThanOrEqual(tokens);
      expect(reclaim!.changed).toBeGreaterThan(0);
    }
    for (const { tokens } of views) expect(tokens).toBeLessThanOrEqual(budget);
  });

  test("[VIEW-9] the user's message and the newest step stay whole", () => {
    for (const view of walk().filter(({ reclaim }) => reclaim !== undefined)) {
      const last = view.pages.length - 1;
      const asked = view.pages.findLastIndex(({ representations }) => representations.full?.item.kind === "user");
      for (const at of [asked, last - 1, last])
        if (view.pages[at]!.representations.full!.item.kind !== "assistant") expect(levelAt(view, at)).toBe("full");
    }
  });

  test("[VIEW-15] the tail comes last, changes with every request and leaves the prefix alone", () => {
    const plan = (at: number) => planPage("main", { objective: `goal ${at}`, steps: [] }, deps);
    const first = viewOf(all.slice(0, 4), { budget, tail: [plan(1)] });
    const view = viewOf(all.slice(0, 6), { budget, previous: first, tail: [plan(2)] });
    expect(first.stableItems).toBe(first.items.length - 1);
    expect(view.items.slice(0, first.stableItems)).toEqual(first.items.slice(0, first.stableItems));
    expect(bytesOf([view.items.at(-1)!])).toContain("goal 2");
    expect(view.tokens).toBeLessThanOrEqual(budget);
  });

  test("[VIEW-15] a tail that is too long is lowered, never below its floor", () => {
    const steps = Array.from({ length: 400 }, (_, at) => ({
      title: `step ${at} is a long story`,
      status: "todo" as const,
    }));
    const plan = planPage("main", { objective: "the goal", steps }, deps);
    const view = viewOf(all.slice(0, 4), { budget, tail: [plan, rule("R", longText(200))] });
    expect(view.entries.slice(view.stableItems).map(({ level }) => level)).toEqual(["pointer", "structured"]);
    expect(bytesOf(view.items)).toContain("Goal: the goal");
  });

  test("[VIEW-16] every page can be explained, and the trace of two runs is the same", () => {
    const trace = walk().map(traceLine);
    expect(walk().map(traceLine)).toEqual(trace);
    for (const line of trace) expect(line).not.toContain("\n");
    const last = walk().at(-1)!;
    for (const { id, kind } of last.pages) {
      const why = explainPage(last, id);
      expect(why).toMatchObject({ page: id, kind, floor: minFidelity(kind) });
      expect(why!.words).not.toBe("");
    }
    expect(explainPage(last, "nobody")).toBeUndefined();
  });

  test("[VIEW-14] journalled levels give the same bytes to whoever opens the session next", () => {
    const views = walk();
    for (const cut of [0, 5, views.length >> 1, views.length - 2]) {
      const records = views.slice(0, cut + 1).map(viewChosen);
      const view = views[cut]!;
      const remade = pages([system("be good"), ...session(60)]);
      const resumed = resumeView(remade.slice(0, view.pages.length), records, { ...deps.counter })!;
      expect(bytesOf(resumed.items)).toBe(bytesOf(view.items.slice(0, view.stableItems)));
      const next = views[cut + 1]!;
      const again = viewOf(remade.slice(0, next.pages.length), { budget, previous: resumed });
      expect(bytesOf(again.items)).toBe(bytesOf(next.items));
      expect(again.turn).toBe(next.turn);
    }
  });

  test("[VIEW-14] levels of other pages or of another renderer are not taken over", () => {
    const view = walk().at(-1)!;
    const record = viewChosen(view);
    const { levels } = record;
    expect(resumeView(view.pages, [{ levels, renderer: "older" }])).toBeUndefined();
    expect(resumeView(view.pages.slice(0, 5), [record])).toBeUndefined();
    expect(resumeView(pages(session(60, 61)).slice(1), [record])).toBeUndefined();
    expect(resumeView(view.pages, [])).toBeUndefined();
  });

  test("[VIEW-18] reset chooses anew each time, and asks for a reclaim are heard", () => {
    const [first, second] = [walk().at(-2)!, walk().at(-1)!];
    const anew = viewOf(all, { budget, previous: second, policy: "reset" });
    expect(anew.tokens).toBeGreaterThan(budget * 0.4);
    expect(anew.reclaim).toMatchObject({ why: "reset" });
    const asked = viewOf(first.pages, { budget, previous: first, reclaim: true });
    expect(asked.reclaim).toMatchObject({ why: "asked" });
    expect(asked.tokens).toBeLessThanOrEqual(budget * 0.4);
  });

  test("[VIEW-18] oracle lifts what will be wanted", () => {
    const plain = viewOf(all, { budget, policy: "reset" });
    const wanted = all.findIndex(({ kind }, at) => kind === "evidence" && levelAt(plain, at) !== "full");
    const coming = new Map([[all[wanted]!.id, 500]]);
    expect(levelAt(viewOf(all, { budget, policy: "oracle", coming }), wanted)).toBe("full");
  });

  test("[VIEW-7] a page that was wanted comes back at a reclaim, not before", () => {
    const views = walk();
    const view = views.at(-1)!;
    const at = view.entries.findIndex(
      ({ why, level, from, to }) =>
        why === "reclaimed" && level !== "full" && to - from === 1 && view.pages[from]!.kind === "evidence",
    );
    const { from } = view.entries[at]!;
    const demands = new Map([[view.pages[from]!.id, "full"]] as const);
    expect(viewOf(view.pages, { budget, previous: view, demands }).items).toEqual(view.items);
    const back = viewOf(view.pages, { budget, previous: view, demands, reclaim: true });
    expect(levelAt(back, from)).toBe("full");
  });
});

describe("what must be there", () => {
  test("[VIEW-8] a tail over the budget is refused, also when there is nothing else", () => {
    const tail = [rule("R", longText(10))];
    for (const list of [[], pages([user("hi")])])
      expect(deriveView(list, { budget: 5, tail, counter: deps.counter })).toMatchObject({
        ok: false,
        unmet: [{ page: tail[0]!.id }],
      });
  });

  test("[VIEW-8] [P05] floors over the budget refuse the view and name what is unmet", () => {
    const rules = Array.from({ length: 3 }, (_, at) => rule(`R${at}`, longText(10)));
    const refused = deriveView([...rules, ...pages([user("hi")])], { budget: 250, counter: deps.counter });
    expect(refused).toMatchObject({ ok: false, fault: "floors-exceed-budget", budget: 250 });
    if (refused.ok) return;
    expect(refused.unmet.length).toBeGreaterThan(0);
    expect(refused.needed).toBeGreaterThan(250);
    expect(refused.largest.map(({ page, level }) => `${page} ${level}`)).toEqual(
      rules.map(({ id }) => `${id} structured`),
    );
  });

  test("[VIEW-1] [P19] nine pins of 500 characters are all there, counted in the budget", () => {
    const rules = Array.from({ length: 9 }, (_, at) => rule(`R${at}`, `${at}`.repeat(500)));
    const all = [...rules, ...pages(session(40))];
    const view = viewOf(all, { budget: 4_000 });
    for (let at = 0; at < 9; at += 1) {
      expect(bytesOf(view.items)).toContain(`${at}`.repeat(500));
      expect(isBelow(levelAt(view, at)!, "structured")).toBe(false);
    }
    expect(view.tokens).toBeLessThanOrEqual(4_000);
  });

  test("[VIEW-9] outputs of one step that would not fit together are lowered, largest first, and none is refused", () => {
    const ids = Array.from({ length: 8 }, (_, at) => `c${at}`);
    const items: Item[] = [user("all at once"), ...ids.map((id) => call(id, { step: 1 }))];
    items.push(...ids.map((id, at) => output(id, { parts: [{ type: "text", text: longText(100 + at * 40) }] })));
    const view = viewOf(pages(items), { budget: 2_500 });
    expect(view.tokens).toBeLessThanOrEqual(2_500);
    expect(view.items.filter(({ kind }) => kind === "output")).toHaveLength(8);
    expect(levelAt(view, 0)).toBe("full");
  });

  test("[VIEW-9] one output over its share comes in compressed, with a handle", () => {
    const all = pages([user("look"), call("c"), output("c", { parts: [{ type: "text", text: longText(2_000) }] })]);
    const view = viewOf(all, { budget: 10_000 });
    expect(levelAt(view, 2)).toBe("compressed");
    expect(explainPage(view, all[2]!.id)).toMatchObject({ why: "over-cap" });
    expect(bytesOf(view.items)).toContain(all[2]!.handle);
  });

  test("[VIEW-10] [P17] a page whose text changed and that has no new form is unmet", () => {
    const all = pages(session(3));
    const stale = { ...all[2]!, digest: "0".repeat(64) };
    expect(deriveView(all.with(2, stale), { budget: 100_000 })).toMatchObject({
      ok: false,
      unmet: [{ page: stale.id, level: "pointer" }],
    });
    const first = viewOf(all, { budget: 100_000 });
    expect(deriveView(all.with(2, stale), { budget: 100_000, previous: first }).ok).toBe(false);
  });

  test("[VIEW-8] a budget that is none is the caller's mistake", () => {
    for (const budget of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => deriveView([], { budget })).toThrowError(expect.objectContaining({ code: "BAD_OPTION" }));
  });
});

describe("pairs", () => {
  test("[VIEW-3] [P24] while a call is there its output is at least a pointer, in the budget", () => {
    const all = pages(session(50));
    const view = viewOf(all, { budget: Math.floor(total(all) / 10) });
    expect(validateHistory(view.items).isValid()).toBe(true);
    const calls = view.items.filter(({ kind }) => kind === "call");
    const outputs = view.items.filter(({ kind }) => kind === "output");
    expect(calls.length).toBeGreaterThan(0);
    expect(outputs).toHaveLength(calls.length);
    expect(checkWire(writeMessages(view.items, "anthropic").messages, "anthropic")).toEqual([]);
  });

  test("[VIEW-12] [C12] a call whose output is gone is paired again after the last cut", () => {
    const items = session(30);
    const cut = items.filter((item) => !(item.kind === "output" && item.callId === "c7"));
    const all = pages(cut);
    for (const budget of [1_000_000, Math.floor(total(all) / 3)]) {
      const view = viewOf(all, { budget });
      expect(validateHistory(view.items).isValid()).toBe(true);
      const made = view.entries.filter(({ from, to }) => from === to);
      expect(made.map(({ item }) => item.kind)).toEqual(["output"]);
      expect(view.tokens).toBeLessThanOrEqual(budget);
      expect(view.tokens).toBe(view.entries.reduce((sum, { tokens }) => sum + tokens, 0));
    }
  });

  test("[VIEW-12] [K58] trimmed by budget, no pair is split, rules stay, and deriving again changes nothing", () => {
    const all = [
      makePage({ id: "sys", item: system("You are careful.") }, deps),
      rule("R1", "Never push."),
      ...pages(session(50)),
    ];
    const budget = Math.floor(total(all) / 8);
    const view = viewOf(all, { budget });
    expect(validateHistory(view.items).isValid()).toBe(true);
    for (const words of ["You are careful.", "Never push."]) expect(bytesOf(view.items)).toContain(words);
    const again = viewOf(all, { budget, previous: view });
    expect(again.items).toEqual(view.items);
  });

  test("[VIEW-12] an output that arrives later takes the place of the one that repair made", () => {
    const items = session(3);
    const all = pages(items);
    const open = viewOf(all.slice(0, -1), { budget: 1_000_000 });
    expect(open.entries.some(({ from, to }) => from === to)).toBe(true);
    const whole = viewOf(all, { budget: 1_000_000, previous: open });
    expect(whole.items).toEqual(items);
    expect(whole.settled).toBe(true);
  });

  test("[VIEW-13] [P21] entries, levels and pages are aligned, and what no item covers is told", () => {
    const orphan = output("nobody");
    const items = [
      ...session(6),
      orphan,
      ...session(2)
        .slice(1)
        .map((item) => ("callId" in item ? { ...item, callId: `late-${item.callId}` } : item) as Item),
    ];
    const view = viewOf(pages(items), { budget: 1_000_000 });
    const at = items.indexOf(orphan);
    expect(view.dropped).toEqual([[at, at + 1]]);
    expect(view.entries.map(({ item }) => item)).toEqual(view.items);
    const covered = view.entries.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, nth) => from + nth));
    expect(new Set(covered).size).toBe(covered.length);
    expect([...covered, at].toSorted((a, b) => a - b)).toEqual(items.map((_, nth) => nth));
  });
});

describe("a conversation that changes", () => {
  test("[VIEW-17] a rewind cuts the view and keeps the prefix", () => {
    const all = pages(session(20));
    const view = viewOf(all, { budget: 1_000_000 });
    const back = viewOf(all.slice(0, 9), { budget: 1_000_000, previous: view });
    expect(back.items).toEqual(view.items.slice(0, 9));
    const maker = new PageMaker(deps);
    const other = [...all.slice(0, 9), maker.add(user("another way"), "other-1"), maker.add(say("well"), "other-2")];
    const forked = viewOf(other, { budget: 1_000_000, previous: view });
    expect(forked.items.slice(0, 9)).toEqual(view.items.slice(0, 9));
    expect(forked.items).toHaveLength(11);
  });

  test("[VIEW-17] a rewind into a span shortens it", () => {
    const all = pages(session(80));
    const view = viewOf(all, { budget: 3_000 });
    const span = view.entries.find(({ from, to }) => to - from > 1)!;
    expect(span).toBeDefined();
    const cut = span.to - 2;
    const back = viewOf(all.slice(0, cut), { budget: 3_000, previous: view });
    expect(back.entries.at(-1)!.to).toBe(cut);
    expect(back.reclaim).toMatchObject({ why: "changed" });
  });

  test("[VIEW-5] a pointer that is cut inside an answer swallows no call whose output stays behind", () => {
    const all = pages(session(30));
    const first = viewOf(all, { budget: 4_000 });
    const folded = first.entries.find(({ from, to }) => to - from > 2)!;
    expect(folded).toBeDefined();
    for (let cut = folded.from + 1; cut < folded.to; cut += 1) {
      const other = all.map((page, at) => (at < cut ? page : { ...page, id: `other ${page.id}` }));
      const view = viewOf(other, { budget: 1_000_000, previous: first });
      expect({ cut, dropped: view.dropped }).toEqual({ cut, dropped: [] });
      expect(view.entries[0]!.item === first.entries[0]!.item).toBe(folded.from > 0);
    }
  });

  test("[VIEW-17] a page that says something else changes in its place, and the loss is told", () => {
    const all = pages(session(10));
    const view = viewOf(all, { budget: 1_000_000 });
    const other = makePage({ id: all[0]!.id, item: user("look at something else") }, deps);
    const changed = viewOf(all.with(0, other), { budget: 1_000_000, previous: view });
    expect(changed.reclaim).toMatchObject({ why: "changed", prefixTokens: 0, changed: 1 });
    expect(changed.items.slice(1)).toEqual(view.items.slice(1));
  });
});
