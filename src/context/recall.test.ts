import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { SeededRandom } from "../base/random.ts";
import { call, output, user } from "../../test/histories/items.ts";
import { bytesOf, longText, pages, session, viewOf } from "../../test/support/pages.ts";
import { contentText } from "./content-text.ts";
import { FaultObserver, NO_COUNTS, missedIn, thrashOf, withFault } from "./faults.ts";
import { handleOf, looksLikeHandle } from "./handle.ts";
import type { Page } from "./page.ts";
import { type Backing, HandleTable } from "./recall.ts";
import type { View } from "./view.ts";

const textOfPage = (page: Page) => contentText(page.representations.full!.item);

function tableOf(list: readonly Page[]): HandleTable {
  const table = new HandleTable();
  table.addPages(list);
  return table;
}

describe("a handle", () => {
  const words = "erste Zeile\nzweite Zeile: ünïcödé 😀\nThird line\n";
  const [page] = pages([output("c", { parts: [{ type: "text", text: words }] })]);
  const table = tableOf([page!]);
  const { handle } = page!;

  test("[RECALL-1] [P12] gives back exactly the bytes that were kept", () => {
    expect(table.recall({ handle })).toMatchObject({ ok: true, text: words, page });
  });

  test("[RECALL-1] is the same for the same content in one lineage, and another in every other", () => {
    expect(pages([output("d", { parts: [{ type: "text", text: words }] })])[0]!.handle).toBe(handle);
    const elsewhere = pages([output("c", { parts: [{ type: "text", text: words }] })], { lineage: "another" })[0]!;
    expect(elsewhere.digest).toBe(page!.digest);
    expect(elsewhere.handle).not.toBe(handle);
    expect(looksLikeHandle(handle)).toBe(true);
  });

  test("[RECALL-3] answers lines, bytes and the lines that hold a text", () => {
    expect(table.recall({ handle, lines: { from: 2, to: 3 } })).toMatchObject({
      text: "zweite Zeile: ünïcödé 😀\nThird line",
    });
    expect(table.recall({ handle, lines: { from: 3, to: 99 } })).toMatchObject({ text: "Third line\n" });
    expect(table.recall({ handle, bytes: { from: 0, to: 5 } })).toMatchObject({ text: "erste" });
    expect(table.recall({ handle, grep: "ZEILE" })).toMatchObject({
      text: "1: erste Zeile\n2: zweite Zeile: ünïcödé 😀",
      about: "2 of 2 matching lines",
    });
    expect(table.recall({ handle, grep: "(.*" })).toMatchObject({ ok: false, fault: { code: "no-match" } });
  });

  test("[RECALL-3] cuts no character in two, wherever the bytes are cut", () => {
    const all = Buffer.from(words);
    for (let from = 0; from < all.length; from += 1)
      for (let to = from + 1; to <= all.length; to += 3) {
        const answer = table.recall({ handle, bytes: { from, to } });
        if (answer.ok) expect(words).toContain(answer.text);
        if (answer.ok) expect(answer.text).not.toContain("�");
      }
  });

  test("[RECALL-2] a range that is not there is a miss that says how long the text is", () => {
    for (const range of [
      { lines: { from: 9, to: 12 } },
      { bytes: { from: 900, to: 901 } },
      { lines: { from: Number.NaN, to: 2 } },
    ])
      expect(table.recall({ handle, ...range })).toMatchObject({ ok: false, fault: { code: "no-match" } });
  });

  test.each([
    ["no-match", "holdfast://aaaaaaaaaaaaaaaaaaaaaaaaaa", undefined],
    ["no-match", "not a handle", undefined],
    ["denied", handle, () => ({ ok: false, code: "denied", detail: "another user's" })],
    ["backend-error", handle, () => ({ ok: false, code: "backend-error", detail: "connection reset" })],
    ["corrupt", handle, () => ({ ok: true, text: words.replace("erste", "ersta") })],
    ["corrupt", handle, () => ({ ok: true, text: "" })],
  ] satisfies readonly (readonly [string, string, Backing | undefined])[])(
    "[RECALL-2] [P13] [P16] a miss is told as %s, never as empty text",
    (code, asked, backing) => {
      const answer = table.recall({ handle: asked }, backing as Backing | undefined);
      expect(answer).toMatchObject({ ok: false, fault: { code, handle: asked } });
      if (!answer.ok) expect(answer.fault.detail).not.toBe("");
    },
  );

  test("[RECALL-2] [P13] bytes that are gone are a fault", () => {
    const { full: _full, ...rest } = page!.representations;
    expect(tableOf([{ ...page!, representations: rest }]).recall({ handle })).toMatchObject({
      ok: false,
      fault: { code: "backend-error" },
    });
  });
});

describe("somebody else's handle", () => {
  test("[RECALL-4] forged in a million ways, it never resolves", () => {
    const list = pages(session(40));
    const table = tableOf(list);
    const random = new SeededRandom("forger");
    const letters = "abcdefghijklmnopqrstuvwxyz234567";
    const genuine = new Set(list.map(({ handle }) => handle.slice("holdfast://".length)));
    let resolved = 0;
    for (let time = 0; time < 1_000_000; time += 1) {
      const real = list[time % list.length]!.handle.slice("holdfast://".length);
      const at = random.below(26);
      const other = letters[random.below(32)]!;
      // One letter off, a mix of two, or made up: what a forger has at hand.
      const near = `${real.slice(0, at)}${other}${real.slice(at + 1)}`;
      const mix = `${real.slice(0, at)}${list[(time + 1) % list.length]!.handle.slice("holdfast://".length + at)}`;
      const forged = time % 2 === 0 ? near : mix;
      if (!genuine.has(forged) && table.recall({ handle: `holdfast://${forged}` }).ok) resolved += 1;
    }
    expect(resolved).toBe(0);
  });

  test("[RECALL-4] made under another lineage for content that is here, it does not resolve", () => {
    const list = pages(session(5));
    const table = tableOf(list);
    for (const page of list)
      for (const lineage of ["", "guess", page.handle, page.digest, textOfPage(page)])
        expect(table.recall({ handle: handleOf(lineage, page.digest) })).toMatchObject({ ok: false });
    for (const page of list) expect(table.recall({ handle: `holdfast://${page.digest.slice(0, 26)}` }).ok).toBe(false);
  });

  test("[RECALL-4] in a text it is a text: nothing is resolved, replaced or listed", () => {
    const [secret] = pages([output("c", { parts: [{ type: "text", text: "the secret" }] })]);
    const [quoting] = pages([user(`see ${secret!.handle} and holdfast://aaaaaaaaaaaaaaaaaaaaaaaaaa`)]);
    const view = viewOf([quoting!], { budget: 1_000 });
    expect(bytesOf(view.items)).toContain(secret!.handle);
    expect(bytesOf(view.items)).not.toContain("the secret");
    expect(tableOf([quoting!]).recall({ handle: secret!.handle }).ok).toBe(false);
  });
});

describe("a span", () => {
  const list = pages(session(80));
  const view = viewOf(list, { budget: 3_000 });
  const table = tableOf(list);
  table.addView(view);

  test("[RECALL-5] lists every page it stands for, and each of them resolves", () => {
    const spans = view.entries.filter(({ from, to }) => to - from > 1);
    expect(spans.length).toBeGreaterThan(0);
    for (const { item, from, to } of spans) {
      const handle = /holdfast:\/\/[a-z2-7]{26}/.exec(bytesOf([item]))![0];
      const listed = table.recall({ handle });
      expect(listed.ok).toBe(true);
      const lines = listed.ok ? listed.text.split("\n") : [];
      expect(lines).toHaveLength(to - from);
      for (const [nth, line] of lines.entries())
        expect(table.recall({ handle: line.split(" ")[0]! })).toMatchObject({ text: textOfPage(list[from + nth]!) });
    }
  });

  test("[RECALL-5] [P12] whatever a view leaves out can be got back by the handles in it, without running a tool again", () => {
    const observer = new FaultObserver();
    observer.note(list);
    for (const { item, from, to, level } of view.entries) {
      if (to - from !== 1 || level === "full") continue;
      const handle = /holdfast:\/\/[a-z2-7]{26}/.exec(bytesOf([item]))?.[0];
      if (handle === undefined) continue;
      const answer = table.recall({ handle });
      observer.recalled(answer);
      expect(answer).toMatchObject({ ok: true, text: textOfPage(list[from]!) });
    }
    expect(observer.counts.hits).toBeGreaterThan(0);
    expect(observer.counts.faults).toMatchObject({ refetch: 0, "duplicate-tool": 0 });
  });
});

describe("the order of upgrades", () => {
  /** Every fifth step the model wants an old file again, and looks for it through the handles that it sees. */
  function faultsUnder(order: "utility" | "lru", budget: number): ReturnType<typeof thrashOf> {
    const list = pages(session(60));
    const observer = new FaultObserver();
    const table = new HandleTable();
    let previous: View | undefined;
    for (let to = 3; to <= list.length; to += 2) {
      const view = viewOf(list.slice(0, to), { budget, order, ...(previous === undefined ? {} : { previous }) });
      table.addPages(list.slice(0, to));
      table.addView(view);
      observer.note(list.slice(0, to));
      observer.assembled(view);
      const wanted = list[to % 5 === 0 ? (to * 7) % to : to - 1]!;
      const answer = table.recall({ handle: wanted.handle });
      observer.recalled(answer);
      if (!answer.ok) observer.call(call("again", { input: { path: wanted.title } }), view);
      previous = view;
    }
    return thrashOf(observer.counts);
  }

  test.each([2_000, 4_000, 12_000])(
    "[VIEW-11] [P11] by utility or by recency gives the same faults at %i tokens",
    (budget) => {
      expect(faultsUnder("utility", budget)).toBe(0);
      expect(faultsUnder("lru", budget)).toBe(0);
    },
  );
});

describe("faults", () => {
  const list = pages(session(80));
  const view = viewOf(list, { budget: 3_000 });
  const observer = () => {
    const made = new FaultObserver();
    made.note(list);
    return made;
  };
  const read = (at: number) => call("again", { input: { path: `src/file-${at}.ts` } });

  test("[RECALL-6] [P14] a call repeated in plain sight is an alert, after an eviction a fault", () => {
    const watching = observer();
    expect(watching.call(read(79), view)).toBe("alert");
    expect(watching.call(read(0), view)).toBe("duplicate-tool");
    expect(watching.call(call("x", { input: { path: "src/file-0.ts", limit: 3 } }), view)).toBe("refetch");
    expect(watching.call(read(999), view)).toBe("first");
    expect(watching.counts).toMatchObject({ alerts: 1, faults: { "duplicate-tool": 1, refetch: 1 } });
  });

  test("[FAULT-4] calls that do not say what they are about, or are about something else, are no refetch", () => {
    const evicted = (input: Json, nth: number) => [
      call(`n${nth}`, { step: `n${nth}`, name: "status", input }),
      output(`n${nth}`, { parts: [{ type: "text", text: longText(60, `answer ${nth}`) }] }),
    ];
    const long = `cd src && ${"x".repeat(200)}`;
    const asked: readonly Json[] = [{}, { verbose: true }, { path: "", limit: 3 }, { command: `${long} 1` }, ["a"]];
    const items = [...asked.flatMap(evicted), ...session(80)];
    const all = pages(items);
    const watching = new FaultObserver();
    watching.note(all);
    const shown = viewOf(all, { budget: 3_000 });
    const meets = (input: Json) => watching.call(call("again", { name: "status", input }), shown);
    expect([{ deep: 1 }, { path: "", limit: 9 }, ["b"], { command: `${long} 2` }].map(meets)).toEqual(
      Array.from({ length: 4 }, () => "first"),
    );
    expect(meets({ command: `${long} 1`, timeout: 5 })).toBe("refetch");
    expect(meets({ verbose: true })).toBe("duplicate-tool");
  });

  test("[RECALL-6] [FAULT-2] [P15] thrash is events for each hit", () => {
    expect(thrashOf({ ...withFault(NO_COUNTS, "refetch", 4), alerts: 6, hits: 99 })).toBe(0.1);
    expect(thrashOf(NO_COUNTS)).toBe(0);
  });

  test("[RECALL-6] a view of ours misses no pin, and one that did would be counted", () => {
    const watching = observer();
    watching.assembled(view);
    expect(thrashOf(watching.counts)).toBe(0);
    const pinnedPage = { ...list[0]!, pin: "hard" as const };
    const without = {
      ...view,
      pages: view.pages.with(0, pinnedPage),
      entries: view.entries.filter(({ from }) => from > 0),
    };
    expect(missedIn(without)).toEqual([{ fault: "pinned-invariant-miss", page: pinnedPage.id }]);
    watching.assembled(without);
    expect(watching.counts.faults["pinned-invariant-miss"]).toBe(1);
  });
});

test("[RECALL-1] two pictures of one size are two contents", () => {
  const picture = (base64: string) =>
    user("", { parts: [{ type: "image", media: { mediaType: "image/png", base64 } }] });
  const [one, other] = pages([picture("AAAA"), picture("AAAB")]);
  expect(one!.handle).not.toBe(other!.handle);
});

test("[RECALL-1] a page whose text lies elsewhere is proven by its digest, whatever kind it is", () => {
  for (const item of [
    user("said by somebody"),
    output("c", { parts: [{ type: "text", text: "put out by a tool" }] }),
  ]) {
    const [page] = pages([item]);
    const { full: _full, ...without } = page!.representations;
    const table = tableOf([{ ...page!, representations: without }]);
    const text = contentText(item);
    expect(table.recall({ handle: page!.handle })).toMatchObject({ ok: false, fault: { code: "backend-error" } });
    expect(table.recall({ handle: page!.handle }, () => ({ ok: true, text }))).toMatchObject({ ok: true, text });
    expect(table.recall({ handle: page!.handle }, () => ({ ok: true, text: `${text}!` }))).toMatchObject({
      ok: false,
      fault: { code: "corrupt" },
    });
  }
});
