import { afterEach, expect, test } from "vitest";
import { callIdAt, defineTool } from "../../src/index.ts";
import { HoldfastError } from "../../src/base/errors.ts";
import { nameOfBytes } from "../../src/records/blob-name.ts";
import { memoryStore } from "../../src/stores/memory/store.ts";
import { applied, begin, writeWithBlobs } from "../../src/testing/pen.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";

// A process that has run for weeks. What it does a thousand times must not cost a million steps: work is counted here,
// because a busy machine makes times of no use.

const MANY = 1_000;
/** Far more than a pass over everything costs, and far less than one for each of them. */
const FEW_PASSES = 40 * MANY;

const restores: (() => void)[] = [];
afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

/** How much a method of lists or maps moves or looks at, in all, from here on. Patched by hand: spies are made of lists. */
function workOf(
  prototype: typeof Array.prototype | typeof Map.prototype,
  method: string,
  each: (self: { readonly length: number }) => number,
): () => number {
  const known = Object.getOwnPropertyDescriptor(prototype, method) as PropertyDescriptor;
  const real = known.value as (...args: unknown[]) => unknown;
  let work = 0;
  function counting(this: { readonly length: number }, ...args: unknown[]): unknown {
    work += each(this);
    return Reflect.apply(real, this, args);
  }
  Object.defineProperty(prototype, method, { ...known, value: counting });
  restores.push(() => Object.defineProperty(prototype, method, known));
  return () => work;
}

test("[STORE-45] a memory store that is asked to drop many bodies, and then their content, copies what others may read once", async () => {
  const store = memoryStore();
  const pen = await begin(store);
  for (let nth = 0; nth < MANY; nth += 1) await writeWithBlobs(pen, `"${nth}"`, new Uint8Array([nth % 256, nth >> 8]));
  const { session, epoch } = pen;
  const seqs = Array.from({ length: MANY - 1 }, (_, at) => at + 1);
  const copied = workOf(Map.prototype, "set", () => 1);
  const { dropped } = applied(await store.commit({ kind: "drop", session, epoch, seqs, reason: "old" }));
  expect(dropped).toBe(MANY - 1);
  const { blobs } = applied(await store.commit({ kind: "sweep", limit: MANY, candidates: [] }));
  expect(blobs).toBe(MANY - 1);
  expect(copied()).toBeLessThan(FEW_PASSES);
});

test("[STORE-45] what a reader of a memory store began with stays, whatever is dropped meanwhile and afterwards", async () => {
  const store = memoryStore();
  const pen = await begin(store);
  for (const body of ['"one"', '"two"', '"three"']) await writeWithBlobs(pen, body, new TextEncoder().encode(body));
  const { session, epoch } = pen;
  const drop = async (seq: number) =>
    applied(await store.commit({ kind: "drop", session, epoch, seqs: [seq], reason: "old" }));
  await store.reading(async (before) => {
    const row = await before.session(session);
    await drop(1);
    await store.reading(async (between) => {
      await drop(2);
      const all = { from: 1, to: 3, limit: 9 };
      const bodies = async (read: typeof before) => (await read.records(row!, all)).map(({ body }) => body);
      expect(await bodies(before)).toEqual(['"one"', '"two"', '"three"']);
      expect(await bodies(between)).toEqual([null, '"two"', '"three"']);
      expect((await before.references("", 9)).length).toBe(3);
      expect((await between.references("", 9)).length).toBe(2);
      await store.commit({ kind: "sweep", limit: 9, candidates: [] });
      const name = nameOfBytes(new TextEncoder().encode('"one"'));
      expect(await before.smallBlob(name)).toBeDefined();
      expect(await store.reading((now) => now.smallBlob(name))).toBeUndefined();
    });
  });
});

test("[LOOP-29] a tool that puts out many pieces at once is told piece by piece, and each is moved once", async () => {
  const chatty = defineTool({
    name: "chatty",
    access: "read",
    run: (_input, call) => {
      for (let nth = 0; nth < MANY; nth += 1) call.progress(`${nth}\n`);
      return "done";
    },
  });
  const { session } = await opened(undefined, { tools: [chatty] });
  const moved = workOf(Array.prototype, "shift", (list) => list.length);
  const { events } = await watch(
    session.run("go", { model: scripted([{ calls: [{ name: "chatty" }] }, { text: "ok" }]) }),
  );
  const told = events.flatMap((event) => (event.kind === "call-progress" ? [event.text] : []));
  expect(told).toEqual(Array.from({ length: MANY }, (_, nth) => `${nth}\n`));
  expect(moved()).toBeLessThan(FEW_PASSES);
});

test("[LOOP-30] [N18] a server that counts its calls from zero in each turn makes no turn count the whole conversation again", async () => {
  let counted = 0;
  const counter = {
    name: "counting",
    exact: false,
    count: (text: string) => {
      counted += text.length;
      return text.length >> 2;
    },
  };
  const look = defineTool<{ readonly nth: number }>({
    name: "look",
    access: "read",
    run: ({ nth }) => `seen ${nth} times`,
  });
  const { session } = await opened(undefined, { tools: [look], context: { counter, window: 2_000 } });
  const turn = async (nth: number) => {
    counted = 0;
    const calls = [{ name: "look", input: { nth }, id: "call_0" }];
    await watch(session.run("look again", { model: scripted([{ calls }, { text: "ok" }]) }));
    return counted;
  };
  const costs: number[] = [];
  for (let nth = 10; nth < 99; nth += 1) costs.push(await turn(nth));
  expect(Math.max(...costs.slice(60))).toBeLessThanOrEqual(Math.max(...costs.slice(20, 40)) * 1.5);
});

test("[TX-50] a call that runs many others, and does many things outside, costs as much for the last of them as for the first", async () => {
  const effects = { mail: { run: () => "sent", undo: () => {} } };
  const small = defineTool<{ readonly nth: number }>({
    name: "small",
    access: "write",
    effects,
    run: ({ nth }, call) => call.effect("mail", {}, { key: `${nth}` }),
  });
  const large = defineTool({
    name: "large",
    access: "write",
    async run(_, call) {
      for (let nth = 0; nth < MANY; nth += 1) await call.run({ name: "small", input: { nth } });
    },
  });
  const { session } = await opened(undefined, { tools: [small, large] });
  const copied = workOf(Map.prototype, "set", () => 1);
  const { ok, effects: done } = await session.runTool({ name: "large", input: {} });
  expect([ok, done.length]).toEqual([true, MANY]);
  expect(copied()).toBeLessThan(6 * FEW_PASSES);
});

const pay = defineTool<{ readonly order: number }>({
  name: "pay",
  access: "external",
  effects: { payment: { run: () => "receipt" } },
  run: ({ order }, call) => call.effect("payment", { order }, { key: `order ${order}` }),
});

const around = defineTool<{ readonly order: number }>({
  name: "around",
  access: "write",
  run: async ({ order }, call) => (await call.run({ name: "book", input: { order } })).ok,
});
const book = defineTool<{ readonly order: number }>({
  name: "book",
  access: "write",
  effects: { booking: { run: () => "booked" } },
  run: ({ order }, call) => call.effect("booking", { order }, { key: `order ${order}` }),
});

test.each(["pay", "around"])(
  "[TX-44] a call of a session that has had many effects looks at no more of them than its first calls did: %s",
  async (name) => {
    const { session } = await opened(undefined, { tools: [pay, around, book] });
    const looked = [
      workOf(Map.prototype, "set", () => 1),
      workOf(Array.prototype, "filter", (list) => list.length),
      workOf(Array.prototype, "flatMap", (list) => list.length),
    ];
    const costs: number[] = [];
    for (let order = 0; order < 400; order += 1) {
      const before = looked.reduce((sum, work) => sum + work(), 0);
      expect((await session.runTool({ name, input: { order } })).ok).toBe(true);
      costs.push(looked.reduce((sum, work) => sum + work(), 0) - before);
    }
    // Not of every call: now and then one brings a checkpoint, which tells of every effect.
    const least = (from: number, to: number) => Math.min(...costs.slice(from, to));
    expect(least(300, 400) - least(20, 60)).toBeLessThan(100);
  },
);

test("[TX-44] a call that a host writes down itself costs no more after many effects than after few", async () => {
  const { session } = await opened(undefined, { tools: [pay] });
  const looked = [workOf(Array.prototype, "map", (list) => list.length), workOf(Array.prototype, "some", () => 1)];
  const costs: number[] = [];
  for (let order = 0; order < 400; order += 1) {
    await session.runTool({ name: "pay", input: { order } });
    if (order !== 19 && order !== 399) continue;
    await session.checkpoint();
    const before = looked.reduce((sum, work) => sum + work(), 0);
    await session.append({
      kind: "call-opened",
      callId: callIdAt(session.id, "host", order),
      tool: "theirs",
      args: {},
    });
    costs.push(looked.reduce((sum, work) => sum + work(), 0) - before);
  }
  expect(costs[1]! - costs[0]!).toBeLessThan(100);
});

const talk = (groups: number) =>
  Array.from({ length: groups * 2 }, (_, nth) =>
    nth % 2 === 0
      ? ({ kind: "user-said", text: `question ${nth} ${"word ".repeat(8)}` } as const)
      : ({ kind: "model-said", text: `answer ${nth} ${"word ".repeat(8)}` } as const),
  );

test("[BOUNDARY-20] a long conversation is looked through a few times when it is compacted, and not once for each item", async () => {
  const { session } = await opened();
  await session.append(talk(MANY));
  const looked = workOf(Array.prototype, "includes", (list) => list.length);
  expect((await session.compact({ tail: 500 })).left).toBeGreaterThan(MANY);
  expect(looked()).toBeLessThan(FEW_PASSES);
});

test("[BOUNDARY-19] a summariser that can read little of a long conversation is asked few times, and reads at least half of what it could", async () => {
  const { session } = await opened();
  await session.append(talk(MANY));
  const most = 100;
  const asked: number[] = [];
  const summariser = {
    name: "small",
    summarise: async ({ items }: { readonly items: readonly object[] }) => {
      asked.push(items.length);
      if (items.length > most) throw new HoldfastError("SUMMARY_TOO_LONG");
      return { text: "They asked and were answered." };
    },
  };
  expect((await session.compact({ tail: 500, said: 0, summariser })).crossed).toBe(true);
  expect(asked.length).toBeLessThan(20);
  expect(asked.at(-1)).toBeGreaterThanOrEqual(most / 2);
});
