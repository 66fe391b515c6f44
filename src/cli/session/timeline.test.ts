import { expect, test } from "vitest";
import type { JournalEntry } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { contextLines, explanationLines, pageLines } from "./context-text.ts";
import { timelineOf } from "./timeline.ts";
import { linesOf } from "./timeline-text.ts";
import { SILENT } from "../silent.ts";

const AT = "2026-11-15T12:00:00.000Z";
const screen: Terminal = { ...SILENT, columns: 100 };

/** Entries as a journal gives them, of kinds that take long to bring about. */
async function* journal(...drafts: readonly object[]): AsyncIterable<JournalEntry> {
  for (const [nth, draft] of drafts.entries()) yield { seq: nth + 1, at: AT, ...draft } as unknown as JournalEntry;
}

async function told(full: boolean, ...drafts: readonly object[]): Promise<readonly string[]> {
  const { events } = await timelineOf(journal(...drafts), { limit: 0, all: true });
  return events.flatMap((event) => linesOf(event, screen, full)).map((line) => line.slice(17).trimEnd());
}

test("[CLI-7] what waited, what was answered and what was undone outside are told with their reasons", async () => {
  const effect = { kind: "effect-undone", tool: "pay", name: "payment", key: "7" };
  expect(
    await told(
      false,
      { kind: "call-waiting", callId: "c", tool: "ask_user", for: "answer" },
      { kind: "call-waiting", callId: "c", tool: "shell", for: "approval" },
      { kind: "approval-given", callId: "c", approved: true },
      { kind: "approval-given", callId: "c", approved: false, reason: "not now" },
      { ...effect, how: "undone" },
      { ...effect, how: "not-undone", detail: "closed" },
      { kind: "file-diverged", path: "a.txt" },
      { kind: "file-diverged", path: "a.txt", kept: "in rescue" },
    ),
  ).toEqual([
    "waits     ask_user waits for an answer",
    "waits     shell waits for consent",
    "reply     allowed",
    "reply     refused: not now",
    "outside   payment (7) was undone",
    "outside   payment (7) was not undone: closed",
    "diverged  somebody else changed a.txt; theirs is in place",
    "diverged  somebody else changed a.txt; theirs is in place, ours is in rescue",
  ]);
});

test("[CLI-7] why a model did not answer is told in words, or as it was kept", async () => {
  const failed = (failure: object) => ({ kind: "model-failed", attempt: 2, failure });
  const failure = { kind: "rate-limited", message: "Slow down.", retryable: true, reached: "no", status: 429 };
  expect(await told(false, failed(failure), failed({ why: "other" }))).toEqual([
    "failed    the model did not answer (attempt 2): rate-limited: Slow down.",
    'failed    the model did not answer (attempt 2): {"why":"other"}',
  ]);
});

test("[CLI-34] a path that somebody else changed is told in one line, whatever it is called", async () => {
  expect(await told(false, { kind: "file-diverged", path: "a\nb\u001b[2J" })).toEqual([
    'diverged  somebody else changed "a\\nb\\u001b[2J"; theirs is in place',
  ]);
});

test("[CLI-7] what was recovered, repaired, rewound, kept and lost is told in a line each", async () => {
  const recovered = { kind: "session-recovered", closedCalls: [], damaged: [], previousWriter: "died" };
  const lines = await told(
    true,
    { ...recovered, mended: "its row was altered" },
    { kind: "history-repaired", fault: "unknown-tool", detail: { toolName: "read", action: "noted" } },
    { kind: "history-repaired", fault: "broken-bond", detail: { at: 3 } },
    { kind: "history-repaired", fault: "odd", detail: "words" },
    { kind: "rewound", to: 3, scope: ["state"] },
    { kind: "rewound", to: 3, scope: ["conversation"], side: "before", callId: "c" },
    { kind: "checkpoint-kept", openCalls: [] },
    { kind: "checkpoint-kept", openCalls: [], tag: "by hand" },
    { kind: "damaged", through: 12, detail: "missing" },
    { kind: "something-new" },
  );
  const text = lines.join(" ").replaceAll(/\s+/g, " ");
  for (const words of [
    "its row was altered",
    "unknown-tool of read, noted",
    'broken-bond {"at":3}',
    "odd words",
    "back to record 3: state",
    "back to before a call, record 3",
    "checkpoint by hand",
    "records up to 12 are damaged: missing",
    "something-new",
  ])
    expect(text).toContain(words);
});

test("[CLI-7] a call is told whole: its parent, what it said in parts, or that it is open, or that its beginning is lost", async () => {
  const lines = await told(
    true,
    { kind: "call-opened", callId: "c1", tool: "outer", args: { a: 1 } },
    { kind: "call-opened", callId: "c1.1", tool: "inner", args: {}, parent: "c1" },
    { kind: "call-closed", callId: "c1.1", tool: "inner", status: "success", output: { n: 1 } },
    {
      kind: "call-closed",
      callId: "c1",
      tool: "outer",
      status: "failed",
      reason: "no",
      parts: [{ type: "text", text: "first\nsecond" }],
    },
    { kind: "call-closed", callId: "c2", tool: "lost", status: "canceled" },
    { kind: "call-opened", callId: "c3", tool: "open", args: {} },
    { kind: "model-said", step: 1 },
    { kind: "user-said", text: "  one\n  two" },
    { kind: "rewound", to: 0, scope: ["conversation"] },
  );
  const text = lines.join("\n");
  for (const words of ["outer", '{"n":1}', "second", "lost", "canceled", "open", "(taken back)"])
    expect(text).toContain(words);
});

const SPENT = { input: 0, output: 0, cacheRead: 0 };
const SEEN = { seq: 9, at: AT, turn: 0, counted: 1_000, unknownPages: 0, since: [], spent: SPENT };

test("[CLI-8] a request whose pages cannot be made again is told by how many stood at which level", () => {
  const runs = [
    ["full", 2],
    ["span", 3],
    ["compressed", 1],
  ];
  const lines = contextLines(
    "work",
    { ...SEEN, runs, unknownPages: 2, usage: { input: 10, output: 1 } } as never,
    SILENT,
  ).join("\n");
  expect(lines).toContain("its pages cannot be rebuilt here");
  expect(lines).toMatch(/pointer +3 pages/);
  expect(lines).toMatch(/full +2 pages/);
  expect(lines).toContain("2 pages before the conversation");
  expect(lines).toContain("the provider does not say");
  expect(lines).not.toContain("around it");
});

test("[CLI-8] a request is told with what its provider's cache held, in a SILENT as on a screen", () => {
  const view = { entries: [{ level: "full", from: 0, to: 1, tokens: 700 }], tokens: 700, pages: [] };
  const seen = {
    ...SEEN,
    runs: [],
    view,
    spent: { input: 20, output: 1, cacheRead: 5 },
    usage: { input: 10, output: 1 },
  };
  for (const terminal of [SILENT, screen]) {
    const lines = contextLines("work", seen as never, terminal)
      .join(" ")
      .replaceAll(/\s+/g, " ");
    expect(lines).toContain("0 % of 10 tokens came from the provider's cache; 25 % over the session");
  }
  const nothing = {
    ...seen,
    budget: 0,
    around: 300,
    since: [{}],
    spent: SPENT,
    usage: { input: 10, output: 1, cacheRead: 4 },
  };
  expect(contextLines("work", nothing as never, SILENT).join("\n")).toMatch(/of 0 \(0 %\)/);
});

test("[CLI-8] pages are told with their costs where they have some, and none as nothing", () => {
  const page = {
    page: "000000001.0",
    title: "said by the user",
    kind: "conversation",
    level: "full",
    floor: "pointer",
    why: "new",
    words: "It came in whole.",
    pin: "none",
    recency: 1,
    utility: 1,
    tokens: {},
    handle: "holdfast://1",
    provenance: { from: "user" },
  };
  expect(pageLines([], SILENT)).toEqual([]);
  expect(pageLines([page] as never, SILENT)[1]).toMatch(/full +0 +new +said by the user$/);
  const lines = explanationLines(
    { ...page, tokens: { full: 12 }, provenance: { from: "call", tool: "read" } } as never,
    SILENT,
  );
  expect(lines.join("\n")).toMatch(/from +call: read/);
  expect(explanationLines(page as never, SILENT).join("\n")).toMatch(/from +user\n/);
});
