import { afterAll, beforeEach, expect, test } from "vitest";
import { compressWith, type Item, type Session, summariseWith, textOf } from "../../src/index.ts";
import type { ScriptStep } from "../../src/records/script.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";
import { scripted, WAYS, watch } from "../support/loop.ts";
import { longText } from "../support/pages.ts";

/** What is asked beside a conversation, in the words of every provider, before the server that refuses what they refuse. */
let script: readonly ScriptStep[] = [];
let asked = 0;
const next = () => script[asked++] ?? { fault: "refused-request" as const };
const server = await startProviderServer({ script: next });
afterAll(() => server.close());
beforeEach(() => {
  asked = 0;
});

const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(240, path), { access: "read" });
const reading = (...paths: readonly string[]): readonly ScriptStep[] => [
  ...paths.map((path) => ({ calls: [{ name: "read_file", input: { path } }] })),
  { text: "Done." },
];
const wordsOf = (item: Item | undefined) => (item !== undefined && "parts" in item ? textOf(item.parts) : "");
const evidence = ({ context }: Session) => (context.view?.pages ?? []).filter(({ kind }) => kind === "evidence");
const USED = { input: 2_500, output: 40 };

test.each(Object.keys(WAYS))("[PAGE-15] %s is asked for a shorter text, and what it used is counted", async (way) => {
  script = [{ text: "Nothing failed.", usage: USED }, { fault: "overloaded" }];
  const compressor = compressWith((WAYS[way] as (typeof WAYS)[string])(server.url, next));
  const { session } = await opened(undefined, { tools: [read], context: { window: 24_000, compressor } });
  const { end, events } = await watch(session.run("Look.", { model: scripted(reading("a.ts", "b.ts")) }));
  expect(end.status).toBe("done");
  expect(asked).toBe(2);
  const [first, second] = evidence(session).map(({ representations }) => wordsOf(representations.compressed?.item));
  expect(first).toMatch(/^Nothing failed\.\n\[shortened, /);
  expect(second).toContain("b.ts a of a long output, part 0");
  const asides = events.filter((event) => event.kind === "aside");
  expect(asides).toMatchObject([
    { purpose: "compress", used: { ...USED, prepared: 1, failed: 0 } },
    { purpose: "compress", used: { prepared: 0, failed: 1 } },
  ]);
});

test.each(Object.keys(WAYS))(
  "[BOUNDARY-14] %s is asked for a summary of calls and outputs, and the session goes on with it",
  async (way) => {
    script = [{ fault: "too-long" }, { text: "Two files were read.", usage: USED }];
    const summariser = summariseWith((WAYS[way] as (typeof WAYS)[string])(server.url, next));
    const { session } = await opened(undefined, { tools: [read], context: { window: 24_000 } });
    await watch(session.run("Look.", { model: scripted(reading("a.ts", "b.ts")) }));
    const { crossed } = await session.compact({ summariser, tail: 0 });
    expect([crossed, asked]).toEqual([true, 2]);
    await watch(session.run("And?", { model: scripted([{ text: "ok" }]) }));
    expect(session.context.view?.items.map(wordsOf).join("\n")).toContain("Two files were read.");
  },
);
