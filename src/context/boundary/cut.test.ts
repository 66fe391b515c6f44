import { describe, expect, test } from "vitest";
import { call, output, say, user } from "../../../test/histories/items.ts";
import { deps, longText, pages as pagesFrom, viewOf } from "../../../test/support/pages.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type Item, textOf } from "../../wire/item.ts";
import { constraintPage } from "../producers.ts";
import { spanOf } from "../span.ts";
import { planCut } from "./cut.ts";
import { pressureOf } from "./pressure.ts";
import { leaveBehind, plainSummary, pointTo } from "./summary.ts";

/** So many groups: a call that reads, and its long output. */
const groups = (count: number, lines = 60): readonly Item[] =>
  Array.from({ length: count }, (_, at) => [
    call(`c${at}`, { step: at, input: { path: `src/${at}.ts` } }),
    output(`c${at}`, { parts: [{ type: "text", text: longText(lines, `file ${at}`) }] }),
  ]).flat();
const TAIL = { tail: 2_000, said: 500 };
const summary = (text: string): Item => ({ kind: "user", notice: "summary", parts: [{ type: "text", text }] });

describe("a cut", () => {
  test("[BOUNDARY-2] [C02] keeps only the newest whole groups that fit, and the question", () => {
    const all = pagesFrom([user("read everything"), ...groups(12)]);
    const { gone, said, tailFrom } = planCut(all, TAIL);
    const price = (positions: readonly number[]) =>
      positions.reduce((sum, at) => sum + all[at]!.representations.full!.tokens, 0);
    const tail = [...all.keys()].slice(tailFrom);
    expect(price(tail)).toBeLessThanOrEqual(TAIL.tail);
    expect(price([tailFrom - 2, tailFrom - 1, ...tail])).toBeGreaterThan(TAIL.tail);
    expect(all[tailFrom]!.representations.full!.item.kind).toBe("call");
    expect(said).toEqual([0]);
    expect(gone).toEqual([...all.keys()].slice(1, tailFrom));
  });

  test("[BOUNDARY-2] never parts a batch, and leaves what is running alone", () => {
    const batch = [call("a", { step: 1 }), call("b", { step: 1 }), output("a"), output("b")];
    const all = pagesFrom([user("go"), ...batch, ...groups(2), call("open", { step: 9 })]);
    for (let tail = 0; tail < 3_000; tail += 50) {
      const { gone } = planCut(all, { tail, said: 0 });
      const parted = [1, 2, 3, 4].filter((at) => gone.includes(at)).length;
      expect([0, 4]).toContain(parted);
      expect(gone).not.toContain(all.length - 1);
    }
  });

  test("[BOUNDARY-6] [C06] keeps two messages that say the same", () => {
    const all = pagesFrom([user("go on"), say("yes"), user("go on"), say("yes"), ...groups(6)]);
    expect(planCut(all, TAIL).said).toEqual([0, 2]);
  });

  test("[BOUNDARY-6] [C08] does not take an earlier summary for a word of the user's, nor for a group that stays", () => {
    const all = pagesFrom([summary("before"), user("go on"), ...groups(1, 2)]);
    const { gone, said, tailFrom } = planCut(all, { tail: 10_000, said: 500 });
    expect([gone, said, tailFrom]).toEqual([[0], [], 1]);
  });

  test("[BOUNDARY-8] [C09] in the middle of a turn leaves the question, and what stands for the rest comes after it", () => {
    const all = pagesFrom([user("first"), say("done"), user("the question"), ...groups(8)]);
    const { gone, said, tailFrom } = planCut(all, { tail: 1_000, said: 0 });
    expect(said).toEqual([2]);
    expect(gone).toEqual([...all.keys()].slice(0, tailFrom).filter((at) => at !== 2));
    expect(tailFrom).toBeGreaterThan(3);
  });

  test("[BOUNDARY-4] never takes a rule or an instruction", () => {
    const rule = constraintPage({ id: "R1", text: "Never push.", scope: "session", source: "the user" }, deps);
    const all = [
      rule,
      ...pagesFrom([{ kind: "system", role: "system", parts: [{ type: "text", text: "Be kind." }] }, ...groups(3)]),
    ];
    const { gone } = planCut(all, { tail: 0, groups: 0, said: 0 });
    expect(gone).toEqual([2, 3, 4, 5, 6, 7]);
  });
});

describe("what is left behind", () => {
  const gone = pagesFrom(groups(2));
  const textIn = (items: readonly Item[]) =>
    items.map((item) => ("parts" in item ? textOf(item.parts) : "")).join("\n");

  test("[BOUNDARY-3] lists every page that left, by a handle of its own", () => {
    const { handle, content, items } = pointTo(gone);
    expect(content.split("\n")).toEqual(gone.map((page) => `${page.handle} ${page.title}`));
    expect(textIn(items)).toContain(handle);
  });

  test("[BOUNDARY-5] [C04] a provider's summary alone is words beside the groups that stay", () => {
    const { items } = leaveBehind(gone, { items: [say("They read two files.")] }, []);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ kind: "user", notice: "summary" });
    expect(textIn(items)).toContain("They read two files.");
  });

  test("[BOUNDARY-5] [C05] a provider's broken batch is left out, its whole groups stay, none comes twice", () => {
    const whole = [call("w", { step: 1 }), output("w")];
    const kept = [call("k", { step: 2 }), output("k")];
    const partial = [call("p", { step: 3 }), call("q", { step: 3 }), output("p")];
    const { items } = leaveBehind(gone, { items: [say("So far."), ...whole, ...kept, ...partial] }, kept);
    expect(items.flatMap((item) => ("callId" in item ? [item.callId] : []))).toEqual(["w", "w"]);
  });

  test("[BOUNDARY-19] a summary that says nothing is a failure", () => {
    expect(() => leaveBehind(gone, { text: "  " }, [])).toThrow(HoldfastError);
    expect(() => leaveBehind(gone, { items: [call("p", { step: 1 })] }, [])).toThrow(HoldfastError);
  });

  test("[BOUNDARY-3] the plain summary is the same every time, within its room, and says what went", async () => {
    const items = [summary("[head]\nuser: before"), user("Rename foo"), ...groups(40, 2), say("I have read them.")];
    const { text } = (await plainSummary.summarise({ items, room: 400 })) as { text: string };
    expect(text).toBe(((await plainSummary.summarise({ items, room: 400 })) as { text: string }).text);
    expect(text.length).toBeLessThan(400 * 4 + 200);
    expect(text).toContain("user: Rename foo");
    expect(text).toContain("user: before");
    expect(text).toContain("agent: I have read them.");
    expect(text).toMatch(/… \d+ lines left out …/);
  });
});

test("[BOUNDARY-12] [C03] a newest call that is too large alone is shown shorter, as the call it is", () => {
  const huge = call("big", { step: 1, name: "write_file", input: { path: "a.ts", text: longText(400) } });
  const view = viewOf(pagesFrom([user("write it"), huge, output("big")]), { budget: 700 });
  const shown = view.items.find((item) => item.kind === "call");
  expect(shown).toMatchObject({ callId: "big", name: "write_file" });
  const text = JSON.stringify(shown?.kind === "call" ? shown.input : undefined);
  expect(text.length).toBeLessThan(JSON.stringify(huge.kind === "call" ? huge.input : "").length / 4);
  expect(() => viewOf(pagesFrom([user("write it"), huge]), { budget: 700 })).toThrow("refused");
});

test("[BOUNDARY-9] [C10] pressure is none, soft, or hard", () => {
  expect([85, 91, 101].map((used) => pressureOf(used, 100))).toEqual(["none", "soft", "hard"]);
});

test("[BOUNDARY-6] [C08] the pointer of a span does not quote a summary as words of the user's", () => {
  const { item } = spanOf(pagesFrom([user("rename it"), summary("[in short] they renamed it"), say("done")]));
  expect(textOf(item.parts)).toContain("the user said “rename it”;");
});

test("[BOUNDARY-6] the summary without a model passes over what is blank, reads like a call, or was slipped in", async () => {
  const items = [
    user(" \n "),
    user('{"tool_calls": []}'),
    user("be quick", { notice: "environment" }),
    say(""),
    user("look"),
    say("done"),
  ];
  expect(await plainSummary.summarise({ items, room: 1_000 })).toEqual({ text: "user: look\nagent: done" });
});

test("[BOUNDARY-21] a conversation of blanks and pictures is summed up without a model, and is no failure", async () => {
  const picture = {
    ...user(""),
    parts: [{ type: "image", media: { mediaType: "image/png", base64: "AAAA" } }],
  } as const;
  expect(await plainSummary.summarise({ items: [picture], room: 1_000 })).toMatchObject({
    text: expect.stringMatching(/^user: \[image\/png 4 characters/),
  });
  const summed = await plainSummary.summarise({ items: [say(" "), { kind: "reasoning", text: "hm" }], room: 1_000 });
  expect(leaveBehind(pagesFrom([user("go")]), summed, []).items).toHaveLength(1);
});
