import { describe, expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import type { MemoryDisk } from "../../test/support/stores.ts";
import type { Model, ModelRequest } from "../contracts/model.ts";
import type { Script } from "../records/script.ts";
import { PinnedRules } from "./context-slices.ts";
import type { Session } from "./session.ts";

const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(120, path), { access: "read" });
const write = writes<{ readonly n: number }>("write", ({ n }, call) => {
  call.dispatch(steps.added(`${n}`));
  return longText(30, `written ${n}`);
});

type World = Awaited<ReturnType<typeof opened>>;
const open = (disk?: MemoryDisk) => opened(disk, { tools: [read, write], context: { window: 12_000 } });
const again = async ({ disk, session }: World): Promise<World> => {
  await session.close();
  return open(disk);
};

async function say(session: Session, text: string, sent: ModelRequest[] = [], calls = 0): Promise<ModelRequest[]> {
  return heard(session, text, sent, ({ nth: at }) => {
    const [path, name] = [`src/file-${at}.ts`, at % 3 === 1 ? "write" : "read_file"];
    return at < calls ? { calls: [{ name, input: { path, n: at } }] } : { text: "Done." };
  });
}

/** Reads so many files, whose names begin so. */
const reads = (session: Session, name: string, files: number) =>
  heard(session, name, [], ({ nth: at }) =>
    at < files ? { calls: [{ name: "read_file", input: { path: `src/${name}-${at}.ts` } }] } : { text: "Done." },
  );

async function heard(session: Session, text: string, sent: ModelRequest[], script: Script): Promise<ModelRequest[]> {
  const model = scripted(script);
  const ask: Model["ask"] = (request, options) => {
    sent.push(request);
    return model.ask(request, options);
  };
  await watch(session.run(text, { model: { ...model, ask } }));
  return sent;
}

const handlesIn = (sent: readonly ModelRequest[]) => new Set(JSON.stringify(sent).match(/holdfast:\/\/[a-z2-7]{26}/g));
const textsOf = (session: Session, handles: Iterable<string>) =>
  [...handles].map((handle) => {
    const recalled = session.context.recall({ handle });
    return recalled.ok ? recalled.text : `${handle} ${recalled.fault.code}`;
  });
const PIN = { id: "R1", text: "Never push to main.", scope: "session", source: "the user" } as const;

type Act = (session: Session) => Promise<unknown>;

/** What the first request of a session says that was closed before it, or that was not. `then` comes after that. */
async function firstAfter(live: Act, reopens: boolean, then: Act = async () => {}): Promise<ModelRequest> {
  const world = await open();
  await live(world.session);
  const { session } = reopens ? await again(world) : world;
  await then(session);
  return (await say(session, "and now?"))[0]!;
}

describe("a session that was closed says next what it would have said", () => {
  test("[VIEW-27] after a pin and a boundary that gave nothing up", async () => {
    const live = async (session: Session) => {
      await say(session, "hello");
      await session.prune();
      await session.context.pin(PIN);
      expect(await session.prune()).toMatchObject({ crossed: false });
      await session.compact();
    };
    expect((await firstAfter(live, true)).items).toEqual((await firstAfter(live, false)).items);
  });

  test.each([12, 30])("[VIEW-27] after plan mode has begun behind %i steps", async (calls) => {
    const live = async (session: Session) => {
      await say(session, "go", [], calls);
      await session.setMode("plan");
    };
    expect((await firstAfter(live, true)).items).toEqual((await firstAfter(live, false)).items);
  });

  test.each([1, 2])(
    "[VIEW-27] after %i of two rules were unpinned, whose places its levels were counted by",
    async (gone) => {
      const live = async (session: Session) => {
        await say(session, "go", [], 20);
        await session.context.pin(PIN);
        await session.context.pin({ ...PIN, id: "R2" });
        await say(session, "more", [], 20);
        for (const id of ["R1", "R2"].slice(0, gone)) await session.context.unpin(id);
      };
      expect((await firstAfter(live, true)).items).toEqual((await firstAfter(live, false)).items);
    },
  );

  test("[VIEW-27] after a boundary, which keeps what was shown shorter as short as it was", async () => {
    const live = async (session: Session) => {
      await say(session, longText(100, "please"), [], 20);
      await say(session, "and more", [], 20);
      await session.compact({ said: 8_000 });
    };
    const [closed, open] = await Promise.all([true, false].map((reopens) => firstAfter(live, reopens)));
    expect(JSON.stringify(open!.items)).toMatch(/please.*lines left out|please.*\[…/);
    expect(closed!.items).toEqual(open!.items);
  });

  test.each([
    ["asked", 12_500, 30, 2],
    ["taken back", 12_000, 24, 6],
  ])("[VIEW-27] after it was asked to show something again: %s", async (how, window, files, times) => {
    const short = writes<{ readonly path: string }>("read_file", ({ path }) => longText(30, path), { access: "read" });
    const options = { tools: [short], context: { window, order: "lru" } } as const;
    const after = async (reopens: boolean) => {
      const { disk, session } = await opened(undefined, options);
      const sent = await reads(session, "a", files);
      const [, , handle] = [...handlesIn(sent)].filter((one) => session.context.pageOf(one)?.kind === "evidence");
      const step = { calls: [{ name: "recall", input: { handle: handle!, lines: { from: 1, to: 2 } } }] };
      await watch(
        session.run("again", { model: scripted([...Array.from({ length: times }, () => step), { text: "Done." }]) }),
      );
      const asked = session.checkpoints.list().find(({ tool }) => tool === "recall");
      if (how === "taken back") await session.rewind({ before: asked!.callId });
      if (!reopens) return reads(session, "b", 20);
      await session.close();
      return reads((await opened(disk, options)).session, "b", 20);
    };
    const items = async (reopens: boolean) => (await after(reopens)).map((request) => request.items);
    expect(await items(true)).toEqual(await items(false));
  });

  test("[VIEW-26] [VIEW-27] after its provider found a request too long, which is not sent a second time", async () => {
    const live = async (session: Session) => {
      await say(session, "go", [], 2);
      await heard(session, "more", [], [{ fault: "too-long" }, { text: "Now it fits." }]);
    };
    const more = (session: Session) => say(session, "and more", [], 4);
    const [closed, open] = await Promise.all([true, false].map((reopens) => firstAfter(live, reopens, more)));
    expect(closed!.items).toEqual(open!.items);
  });

  test("[VIEW-27] after a compaction, which keeps as much as the last request had room for", async () => {
    const live = (session: Session) => say(session, "go", [], 60);
    const compacted = async (reopens: boolean) =>
      (await firstAfter(live, reopens, (session) => session.compact())).items;
    expect(await compacted(true)).toEqual(await compacted(false));
  });
});

describe("a handle that was shown", () => {
  test("[RECALL-8] resolves to the same where calls are shown as notes now, and where they no longer are", async () => {
    const world = await open();
    const sent = await say(world.session, "go", [], 30);
    await world.session.compact({ tail: 0, said: 0 });
    await say(world.session, "more", sent, 12);
    const inAct = textsOf(world.session, handlesIn(sent));
    expect(inAct.length).toBeGreaterThan(20);
    expect(inAct.filter((text) => text.endsWith("no-match"))).toEqual([]);
    const planning = await again(world);
    await planning.session.setMode("plan");
    const handles = handlesIn(sent);
    const shown = [...(await say(planning.session, "and now?"))];
    expect(textsOf(planning.session, handles)).toEqual(inAct);
    await planning.session.compact({ tail: 0, said: 0 });
    shown.push(...(await say(planning.session, "and then?")));
    const inPlan = textsOf(planning.session, handlesIn(shown));
    expect(inPlan.filter((text) => text.endsWith("no-match"))).toEqual([]);
    const { session } = await again(planning);
    await session.setMode("act");
    await say(session, "back to work");
    expect(textsOf(session, handles)).toEqual(inAct);
    expect(textsOf(session, handlesIn(shown))).toEqual(inPlan);
  });
});

test("[PAGE-14] a rule stays where it stood while a boundary is tried in vain", async () => {
  const pinning = writes("pin", (_, call) => {
    call.dispatch(PinnedRules.pinned(PIN));
    return longText(60, "pinned");
  });
  const summarise = async () => {
    throw new Error("no summary today");
  };
  const compaction = { at: 0.05, summariser: { name: "broken", summarise } };
  const { session } = await opened(undefined, { tools: [pinning], context: { window: 12_000, compaction } });
  const sent: ModelRequest[] = [];
  // Nobody offers the second tool: its result is shown as a note, and the rule comes to stand behind that.
  const model = scripted(({ request, nth }) => {
    sent.push(request as ModelRequest);
    return nth === 0 ? { calls: [{ name: "pin" }, { name: "nobodys" }] } : { text: `answer ${nth}` };
  });
  for (const text of ["go", "on", "and on"]) await watch(session.run(text, { model }));
  const [, shown, ...later] = sent;
  expect(JSON.stringify(shown!.items.at(-2))).toContain(PIN.text);
  for (const { items } of later) expect(items.slice(0, shown!.stableItems)).toEqual(shown!.items.slice(0, -1));
});
