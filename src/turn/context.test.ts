import { describe, expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { kernel, opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { bytesOf, longText } from "../../test/support/pages.ts";
import { collect, type MemoryDisk } from "../../test/support/stores.ts";
import type { Model, ModelRequest, Usage } from "../contracts/model.ts";
import type { ScriptStep } from "../records/script.ts";
import { type Item, textOf } from "../wire/item.ts";
import { PinnedRules } from "./context-slices.ts";
import type { Session } from "./session.ts";
import type { SessionOptions } from "./holdfast-options.ts";

const READS = { access: "read" } as const;
const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(120, path), READS);
const pinning = writes<{ readonly fail?: boolean }>("pin", async ({ fail }, call) => {
  call.dispatch(PinnedRules.pinned({ id: "R1", text: "Never push to main.", scope: "session", source: "the user" }));
  call.dispatch(steps.added("pinned"));
  await call.files.writeText("pinned.txt", "yes");
  return fail === true ? call.fail("no", "no") : "pinned";
});
const looking = (path: string) => ({ name: "read_file", input: { path } });
const SMALL = { window: 12_000 };
const open = (disk?: MemoryDisk, more: SessionOptions = {}) =>
  opened(disk, { tools: [read, pinning], context: SMALL, ...more });

/** Reads file after file, then says that it is done. */
const reader = (files: number): readonly ScriptStep[] => [
  ...Array.from({ length: files }, (_, at) => ({ calls: [looking(`src/file-${at}.ts`)] })),
  { text: "Done." },
];

/** What was sent, request by request. */
function heard(script: Parameters<typeof scripted>[0]): { readonly model: Model; readonly sent: ModelRequest[] } {
  const model = scripted(script);
  const sent: ModelRequest[] = [];
  const ask: Model["ask"] = (request, options) => {
    sent.push(request);
    return model.ask(request, options);
  };
  return { model: { ...model, ask }, sent };
}

const stable = ({ items, stableItems }: ModelRequest): readonly Item[] => items.slice(0, stableItems);
const recordsOf = async (session: Session, kind: string) =>
  (await collect(session.read())).filter((entry) => entry.kind === kind);
const answer = (session: Session, text: string) => watch(session.run(text, { model: scripted([{ text: "ok" }]) }));

describe("every request", () => {
  test("[VIEW-20] is a view, written down before it is sent, within its budget, and begins with the one before", async () => {
    const { session } = await open();
    const { model, sent } = heard(reader(30));
    const { events, end } = await watch(session.run("read everything", { model }));
    expect(end.status).toBe("done");
    expect(sent).toHaveLength(31);
    expect(await recordsOf(session, "view-chosen")).toHaveLength(31);
    const reclaims = events.filter(({ kind }) => kind === "reclaimed").length;
    expect(reclaims).toBeGreaterThan(0);
    const broken = sent.filter((request, at) => {
      const before = at === 0 ? [] : stable(sent[at - 1]!);
      return bytesOf(stable(request).slice(0, before.length)) !== bytesOf(before);
    });
    expect(broken).toHaveLength(reclaims);
    expect(session.context.view!.tokens).toBeLessThanOrEqual(session.context.view!.budget);
    expect(session.context.trace).toHaveLength(31);
  });

  test("[VIEW-16] of the last one, every page can be explained", async () => {
    const { session } = await open();
    await watch(session.run("read everything", { model: scripted(reader(30)) }));
    const levels = session.context.view!.pages.map(({ id }) => session.context.explain(id)?.level);
    expect(levels).toContain("full");
    expect(new Set(levels).size).toBeGreaterThan(2);
    expect(session.context.explain("nobody")).toBeUndefined();
  });

  test("[VIEW-23] that cannot hold what it must is not sent, and says what is unmet", async () => {
    const { session } = await open(undefined, { context: { window: 1_000 } });
    const { model, sent } = heard([{ text: "never" }]);
    const { end } = await watch(session.run(longText(200), { model }));
    expect(end).toMatchObject({ status: "failed", failure: { kind: "too-long", reached: "no" } });
    expect(sent).toEqual([]);
    expect(await recordsOf(session, "fault-raised")).toMatchObject([{ fault: "floors-exceed-budget" }]);
    const { end: better } = await watch(session.run(undefined, { model, window: 100_000 }));
    expect(better.status).toBe("done");
  });

  test("[VIEW-22] found too long by its provider, is reclaimed and sent once more", async () => {
    const { session } = await open(undefined, { context: { window: 60_000 } });
    await watch(session.run("read", { model: scripted(reader(8)) }));
    const { model, sent } = heard([{ fault: "too-long" }, { text: "now it fits" }]);
    const { end, events } = await watch(session.run("and now?", { model }));
    expect(end).toMatchObject({ status: "done", text: "now it fits" });
    expect(bytesOf(sent[1]!.items).length).toBeLessThan(bytesOf(sent[0]!.items).length / 2);
    expect(events.filter(({ kind }) => kind === "reclaimed")).toHaveLength(1);
    expect(await recordsOf(session, "model-failed")).toHaveLength(1);
  });

  test("[VIEW-22] found too long twice, ends the turn", async () => {
    const { session } = await open(undefined, { context: { window: 60_000 } });
    await watch(session.run("read", { model: scripted(reader(8)) }));
    const { model, sent } = heard([{ fault: "too-long" }, { fault: "too-long" }, { text: "never" }]);
    const { end } = await watch(session.run("and now?", { model }));
    expect(end).toMatchObject({ status: "failed", failure: { kind: "too-long" } });
    expect(sent).toHaveLength(2);
  });
});

test("[VIEW-22] what was too long for one model does not bind one with a larger window", async () => {
  const { session } = await open(undefined, { context: { window: 60_000 } });
  const { model, sent } = heard([{ fault: "too-long" }, { fault: "too-long" }, { text: "long indeed" }]);
  const { end } = await watch(session.run(longText(200), { model }));
  expect(end).toMatchObject({ status: "failed", failure: { kind: "too-long" } });
  const { end: larger } = await watch(session.run(undefined, { model, window: 200_000 }));
  expect(larger).toMatchObject({ status: "done", text: "long indeed" });
  expect(sent).toHaveLength(3);
});

describe("[VIEW-26] a provider that finds too long what is not", () => {
  test("is asked again when nothing goes on within what it said", async () => {
    const { session } = await open(undefined, { context: { window: 60_000 } });
    await watch(session.run("hello", { model: scripted([{ fault: "too-long" }, { text: "hello" }]) }));
    const { model, sent } = heard([{ text: "long indeed" }]);
    const { end } = await watch(session.run(longText(200), { model }));
    expect(end).toMatchObject({ status: "done", text: "long indeed" });
    expect(sent).toHaveLength(1);
  });

  test("and does so time after time, does not end the session", async () => {
    const { session } = await open(undefined, { context: { window: 60_000 } });
    for (let at = 0; at < 40; at += 1) {
      const model = scripted([{ fault: "too-long" }, { text: `answer ${at}` }]);
      await watch(session.run(`question ${at}: ${longText(10, String(at))}`, { model }));
    }
    const { end } = await watch(session.run("and now?", { model: scripted([{ text: "still here" }]) }));
    expect(end).toMatchObject({ status: "done", text: "still here" });
  });

  test("and means it, is asked once, and the turn says what does not fit", async () => {
    const { session } = await open(undefined, { context: { window: 60_000 } });
    await watch(session.run("hello", { model: scripted([{ fault: "too-long" }, { text: "hello" }]) }));
    const { model, sent } = heard([{ fault: "too-long" }, { fault: "too-long" }, { text: "never" }]);
    const { end } = await watch(session.run(longText(200), { model }));
    expect(end).toMatchObject({ status: "failed", failure: { kind: "too-long" } });
    expect(sent.length).toBeLessThanOrEqual(2);
  });
});

describe("another process", () => {
  /** The next request of a session that goes on, and of the same one reopened. */
  async function bothWays(files: number): Promise<readonly [ModelRequest, ModelRequest]> {
    const next: ModelRequest[] = [];
    for (const reopens of [false, true]) {
      const { disk, session } = await open();
      await watch(session.run("read everything", { model: scripted(reader(files)) }));
      if (reopens) await session.close();
      const going = reopens ? (await open(disk)).session : session;
      const { model, sent } = heard([{ text: "ok" }]);
      await watch(going.run("and now?", { model }));
      next.push(sent[0]!);
    }
    return [next[0]!, next[1]!];
  }

  test.each([2, 9, 30])("[VIEW-21] goes on with the same bytes after %i steps", async (files) => {
    const [same, reopened] = await bothWays(files);
    expect(bytesOf(stable(reopened))).toBe(bytesOf(stable(same)));
  });

  test("[VIEW-21] goes on in a fork with the same bytes, and handles resolve there", async () => {
    const { holdfast, session } = await open();
    const { model, sent } = heard(reader(30));
    await watch(session.run("read everything", { model }));
    const fork = await holdfast.fork("s", { as: "other" });
    const { model: asked, sent: after } = heard([{ text: "ok" }]);
    await watch(fork.run("and now?", { model: asked }));
    const before = stable(sent.at(-1)!);
    expect(bytesOf(stable(after[0]!).slice(0, before.length))).toBe(bytesOf(before));
    const handle = session.context.view!.pages[3]!.handle;
    expect(fork.context.recall({ handle })).toMatchObject({ ok: true });
  });

  test("[VIEW-21] after a rewind the view is the one that stood there", async () => {
    const { session } = await open();
    const { model, sent } = heard(reader(30));
    await watch(session.run("read everything", { model }));
    const boundaries = session.checkpoints.list();
    const { callId } = boundaries[3]!;
    await session.rewind({ after: callId, scope: "all" });
    const { model: asked, sent: after } = heard([{ text: "ok" }]);
    await watch(session.run(undefined, { model: asked }));
    expect(bytesOf(stable(after[0]!))).toBe(bytesOf(stable(sent[4]!)));
  });

  test("[PAGE-14] [P20] shows less of the session, and the session is untouched", async () => {
    const { disk, session } = await open();
    await watch(session.run("read everything", { model: scripted(reader(20)) }));
    const said = async (of: Session) =>
      (await collect(of.read())).filter(({ kind }) => kind === "call-closed").map((entry) => JSON.stringify(entry));
    const before = await said(session);
    await session.close();
    const small = (await open(disk, { context: { window: 5_000 } })).session;
    await answer(small, "go on");
    expect(await said(small)).toEqual(before);
  });
});

describe("a pinned rule", () => {
  const rule = { id: "R0", text: "Always run the tests.", scope: "project", source: "AGENTS.md" } as const;
  const shown = (session: Session, text: string) => bytesOf(session.context.view!.items).includes(text);

  test("[PAGE-14] [P18] holds in every later request, under any pressure, in the next process, and leaves the prefix alone", async () => {
    const { disk, session } = await open();
    await watch(session.run("read", { model: scripted(reader(2)) }));
    const before = session.context.view!;
    await session.context.pin(rule);
    await answer(session, "next");
    expect(bytesOf(session.context.view!.items.slice(0, before.stableItems))).toBe(bytesOf(before.items));
    await watch(session.run("read on", { model: scripted(reader(30)) }));
    expect(shown(session, rule.text)).toBe(true);
    await session.close();
    const again = (await open(disk)).session;
    await answer(again, "and now?");
    expect(shown(again, rule.text)).toBe(true);
    expect(again.context.view!.reclaim).toBeUndefined();
    await again.context.unpin("R0");
    await answer(again, "and now?");
    expect(shown(again, rule.text)).toBe(false);
  });

  test("[PAGE-14] that is pinned again leaves alone what was said in between", async () => {
    const { session } = await open();
    await session.context.pin(rule);
    await answer(session, "one");
    await session.context.unpin(rule.id);
    for (const text of ["two", "three"]) await answer(session, text);
    const before = session.context.view!;
    await session.context.pin(rule);
    await answer(session, "four");
    expect(shown(session, rule.text)).toBe(true);
    expect(bytesOf(session.context.view!.items.slice(0, before.stableItems))).toBe(bytesOf(before.items));
    expect(session.context.view!.reclaim).toBeUndefined();
  });

  describe("under the id of a configured one", () => {
    const others = [{ ...rule, id: "R1", text: "Be brief." }];
    const configured = { context: { ...SMALL, rules: [rule, ...others] } };
    const times = (session: Session, text: string) => bytesOf(session.context.view!.items).split(text).length - 1;

    test("[PAGE-23] with the same words, is shown once, where that stands, and costs nothing of the prefix", async () => {
      const { session, disk } = await open(undefined, configured);
      await answer(session, "one");
      const before = session.context.view!;
      await session.context.pin({ ...rule });
      await answer(session, "two");
      expect(times(session, rule.text)).toBe(1);
      expect(bytesOf(session.context.view!.items.slice(0, before.stableItems))).toBe(bytesOf(before.items));
      expect(session.context.view!.reclaim).toBeUndefined();
      await session.close();
      const bare = (await open(disk)).session; // a program that does not configure it: the pin still holds
      await answer(bare, "three");
      expect(times(bare, rule.text)).toBe(1);
    });

    test("[PAGE-23] with other words, is the later word and stands in its place; unpinned, the configured one is back", async () => {
      const { session, disk } = await open(undefined, configured);
      await answer(session, "one");
      await session.context.pin({ ...rule, text: "Run the tests twice." });
      await answer(session, "two");
      expect([times(session, rule.text), times(session, "Run the tests twice.")]).toEqual([0, 1]);
      const shownNow = session.context.view!.pages.map(({ id }) => id);
      expect(shownNow.slice(0, 2)).toEqual(["constraint:R0", "constraint:R1"]);
      expect(session.context.view!.reclaim).toMatchObject({ why: "changed" });
      const looked = await kernel(disk, configured).holdfast.look("s");
      const seen = await looked.view();
      expect(seen?.view?.pages.map(({ id }) => id)).toEqual(shownNow);
      expect(bytesOf(seen!.view!.items)).toContain("Run the tests twice.");
      await session.close();
      const again = (await open(disk, configured)).session;
      await answer(again, "three");
      expect([times(again, rule.text), times(again, "Run the tests twice.")]).toEqual([0, 1]);
      expect(again.context.view!.reclaim).toBeUndefined();
      await again.context.unpin("R0");
      await answer(again, "four");
      expect([times(again, rule.text), times(again, "Run the tests twice.")]).toEqual([1, 0]);
    });
  });

  test("[PAGE-14] [T20] of a call that fails is gone with its file and its slice, and the log entry is kept", async () => {
    const { session } = await open();
    const calls = (fail: boolean) => [{ calls: [{ name: "pin", input: { fail } }] }, { text: "ok" }];
    await watch(session.run("pin it", { model: scripted(calls(true)) }));
    expect(session.state.session.get(PinnedRules)).toEqual([]);
    expect(session.state.session.get(steps)).toEqual([]);
    expect(await session.files.list()).toEqual([]);
    expect(await recordsOf(session, "call-closed")).toMatchObject([{ status: "failed" }]);
    expect(shown(session, "Never push")).toBe(false);
    await watch(session.run("pin it", { model: scripted(calls(false)) }));
    expect(shown(session, "Never push")).toBe(true);
    await session.rewind({ before: session.checkpoints.list().at(-1)!.callId });
    await answer(session, "and now?");
    expect(shown(session, "Never push")).toBe(false);
  });

  test("[PAGE-14] given to the kernel, holds in every session from the start", async () => {
    const preferences = [{ id: "tone", text: "Be brief.", scope: "user", source: "settings" }] as const;
    const { session } = await open(undefined, { context: { ...SMALL, rules: [rule], preferences } });
    await watch(session.run("read", { model: scripted(reader(30)) }));
    expect(shown(session, rule.text)).toBe(true);
    expect(shown(session, "Preference (user, from settings)")).toBe(true);
  });
});

describe("recall", () => {
  test("[RECALL-7] gives the model back exactly what was left out, and no tool runs again", async () => {
    const { session } = await open();
    const wanted = longText(120, "src/file-0.ts");
    const handles: string[] = [];
    const script = ({ nth, request }: { readonly nth: number; readonly request: unknown }): ScriptStep => {
      if (nth < 30) return { calls: [looking(`src/file-${nth}.ts`)] };
      if (nth > 30) return { text: "Done." };
      const [first] = session.context.view!.pages.filter(({ kind }) => kind === "evidence");
      handles.push(first!.handle);
      expect(bytesOf((request as ModelRequest).items)).not.toContain(wanted.slice(0, 400));
      return { calls: [{ name: "recall", input: { handle: first!.handle } }] };
    };
    await watch(session.run("read everything", { model: scripted(script) }));
    const outputs = (await session.conversation()).filter((item) => item.kind === "output");
    expect(textOf(outputs.at(-1)!.parts)).toBe(wanted);
    expect(session.context.counts).toMatchObject({ hits: 1, faults: { refetch: 0, "duplicate-tool": 0 } });
  });

  test("[RECALL-7] answers a forged handle, bad arguments and a part that is not there with a failure", async () => {
    const { session } = await open();
    const inputs = [
      { handle: "holdfast://aaaaaaaaaaaaaaaaaaaaaaaaaa" },
      { handle: 7 },
      { handle: "x", lines: "all" },
      { handle: "x", grep: 3 },
    ];
    const calls = inputs.map((input) => ({ name: "recall", input }));
    await watch(session.run("recall", { model: scripted([{ calls }, { text: "ok" }]) }));
    const closed = await recordsOf(session, "call-closed");
    expect(closed).toHaveLength(4);
    for (const entry of closed) expect(entry).toMatchObject({ status: "failed" });
  });

  test("[RECALL-7] tells a long text in parts", async () => {
    const { session } = await open(undefined, { context: { window: 400_000 } });
    const long = writes<object>("long", () => longText(4_000), READS);
    session.transactions.add([long]);
    await watch(session.run("look", { model: scripted([{ calls: [{ name: "long", input: {} }] }, { text: "ok" }]) }));
    const { handle } = session.context.view!.pages.find(({ kind }) => kind === "evidence")!;
    const calls = [
      { name: "recall", input: { handle } },
      { name: "recall", input: { handle, lines: { from: 3_999, to: 4_000 } } },
    ];
    await watch(session.run("more", { model: scripted([{ calls }, { text: "ok" }]) }));
    const outputs = (await session.conversation())
      .filter((item) => item.kind === "output")
      .map(({ parts }) => textOf(parts));
    expect(outputs.at(-2)).toMatch(/24000 of \d+ bytes; use bytes to read the rest\]$/);
    expect(outputs.at(-1)!.split("\n")).toHaveLength(3); // two lines, and which they are
  });

  test("[RECALL-6] a call that reads again what was left out is a fault, written down", async () => {
    const { session } = await open();
    const script = [...reader(30).slice(0, 30), { calls: [looking("src/file-0.ts")] }, { text: "Done." }];
    await watch(session.run("read everything", { model: scripted(script) }));
    expect(await recordsOf(session, "fault-raised")).toMatchObject([
      { fault: "duplicate-tool", detail: { tool: "read_file" } },
    ]);
    expect(session.context.counts.faults["duplicate-tool"]).toBe(1);
  });
});

test("[TOKEN-3] a session learns from what the provider reports", async () => {
  const { disk, session } = await open();
  const usage = { input: 0, output: 1 };
  const model: Model = scripted((_asked) => ({
    text: "ok",
    usage: { ...usage, input: session.context.view!.tokens * 2 },
  }));
  for (const text of ["a", "b", "c", "d"]) await watch(session.run(text.repeat(4_000), { model }));
  expect(session.context.calibration.factor).toBeGreaterThan(1.2);
  await session.close();
  const again = (await open(disk)).session;
  await answer(again, "and now?");
  expect(again.context.calibration).toMatchObject({ samples: 4 });
  expect(again.context.calibration.factor).toBeGreaterThan(1.2);
});

test("[TOKEN-3] a sum over several samplings teaches nothing: it is no request's size", async () => {
  const { session } = await open();
  const model: Model = scripted((_asked) => {
    const usage: Usage = { input: session.context.view!.tokens * 2, output: 1, samplings: 2 };
    return { text: "ok", usage };
  });
  for (const text of ["a", "b"]) await watch(session.run(text.repeat(4_000), { model }));
  expect(session.context.calibration).toMatchObject({ factor: 1, samples: 0 });
});
