import { expect, test } from "vitest";
import { diary, quiet, steps } from "../../test/support/calls.ts";
import { opened, OPTIONS } from "../../test/support/durable.ts";
import { resourceKey } from "../state/resources.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import type { Session } from "./session.ts";

/** Buys, and is refunded, what its call says. */
function shop() {
  const refunded: string[] = [];
  const buy = defineTool<{ readonly item?: string }>({
    name: "buy",
    access: "write",
    effects: {
      payment: {
        run: () => "receipt",
        undo: (_args: never, _result: never, { key }) => void refunded.push(key),
      },
    },
    run: async ({ item = "nothing" }, call) => {
      call.dispatch(steps.added(item));
      await call.effect("payment", {}, { key: item });
    },
  });
  return { refunded, buy };
}

const told = (session: Session) => ({
  steps: session.state.session.get(steps),
  taken: session.checkpoints.list().map(({ rewound }) => rewound),
});

const opening = (tool: Tool, more: object = {}) => opened(undefined, { ...OPTIONS, tools: [tool], ...more });

test("[TX-48] what is committed while its session is being marked is taken back whole, with what it did outside", async () => {
  const { refunded, buy } = shop();
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
  const slow = {
    snapshot: () => {
      asked.resolve();
      return answer.promise;
    },
    restore: () => {},
  };
  const { session } = await opening(buy, { resources: () => [[resourceKey("slow"), slow]] });
  const marking = session.mark();
  await asked.promise;
  expect(await session.runTool({ name: "buy", input: { item: "apple" } })).toMatchObject({ ok: true });
  answer.resolve(1);
  const takeBack = await marking;
  await takeBack();
  expect([told(session), refunded]).toEqual([{ steps: [], taken: [true] }, ["apple"]]);
});

test("[TX-48] of a call that ends while its session is marked, all is taken back or nothing, whenever that is", async () => {
  const seen = new Set<string>();
  for (let turns = 0; turns < 80; turns += 1) {
    const { refunded, buy } = shop();
    const { session } = await opening(buy);
    const running = session.runTool({ name: "buy", input: { item: "apple" } });
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const takeBack = await session.mark();
    await running;
    await takeBack();
    seen.add(JSON.stringify([told(session), refunded]));
    await session.close();
  }
  expect([...seen]).toEqual([
    JSON.stringify([{ steps: [], taken: [true] }, ["apple"]]),
    JSON.stringify([{ steps: ["apple"], taken: [false] }, []]),
  ]);
});

test("[TX-48] a call that was open when its session was marked, and still is when that is taken back, keeps what it did outside", async () => {
  const { refunded, buy } = shop();
  const { session } = await opening(buy);
  const slow = await session.begin({ name: "buy", input: {} });
  const takeBack = await session.mark();
  await slow.call.effect("payment", {}, { key: "apple" });
  await slow.call.run({ name: "buy", input: { item: "pear" } });
  await session.runTool({ name: "buy", input: { item: "fig" } });
  slow.call.dispatch(diary.said("bought"));
  await takeBack();
  await quiet();
  expect(refunded).toEqual(["fig"]);
  expect(await slow.commit("done")).toMatchObject({ ok: true });
  expect([session.state.session.get(diary), refunded]).toEqual([["bought"], ["fig"]]);
});

test("[TX-48] of a call that was open when its session was marked, all is taken back or nothing, whenever it ends", async () => {
  const seen = new Set<string>();
  for (let turns = 0; turns < 80; turns += 1) {
    const { refunded, buy } = shop();
    const { session } = await opening(buy);
    const slow = await session.begin({ name: "buy", input: {} });
    const takeBack = await session.mark();
    slow.call.dispatch(steps.added("apple"));
    await slow.call.effect("payment", {}, { key: "apple" });
    const committing = slow.commit("done");
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    await takeBack();
    expect(await committing).toMatchObject({ ok: true });
    seen.add(JSON.stringify([told(session), refunded]));
    await session.close();
  }
  expect([...seen].toSorted()).toEqual([
    JSON.stringify([{ steps: ["apple"], taken: [false] }, []]),
    JSON.stringify([{ steps: [], taken: [true] }, ["apple"]]),
  ]);
});

test("[TX-48] who takes a session back to what another call has taken back meanwhile brings nothing of that again", async () => {
  const { refunded, buy } = shop();
  const { session } = await opening(buy);
  const first = await session.mark();
  await session.runTool({ name: "buy", input: { item: "apple" } });
  const second = await session.mark();
  await session.runTool({ name: "buy", input: { item: "fig" } });
  await first();
  expect([told(session).steps, refunded]).toEqual([[], ["fig", "apple"]]);
  await session.runTool({ name: "buy", input: { item: "pear" } });
  await second();
  expect([told(session).steps, refunded]).toEqual([[], ["fig", "apple", "pear"]]);
});

test("[TX-48] so does who was still being told where the session stood when that was taken back", async () => {
  const { refunded, buy } = shop();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<number>();
  let isSlow = false;
  const meter = {
    shared: true,
    snapshot: () => {
      if (isSlow) asked.resolve();
      return isSlow ? answer.promise : 0;
    },
    restore: () => {},
  };
  const { session } = await opening(buy, { resources: () => [[resourceKey("meter"), meter]] });
  const first = await session.mark();
  await session.runTool({ name: "buy", input: { item: "apple" } });
  isSlow = true;
  const marking = session.mark();
  await asked.promise;
  await first();
  answer.resolve(0);
  await (await marking)();
  expect([told(session), refunded]).toEqual([{ steps: [], taken: [true] }, ["apple"]]);
});

test("[TX-48] a call that begins while its session is about to be taken back keeps what it does outside", async () => {
  const { refunded, buy } = shop();
  const { session } = await opening(buy);
  const takeBack = await session.mark();
  await session.runTool({ name: "buy", input: { item: "fig" } });
  const turn = Promise.withResolvers<void>();
  const before = session.state.truth.gate.run(() => turn.promise); // somebody else's commit, which takes a while
  const going = takeBack();
  const slow = await session.begin({ name: "buy", input: {} });
  slow.call.dispatch(steps.added("apple"));
  await slow.call.effect("payment", {}, { key: "apple" });
  turn.resolve();
  await Promise.all([before, going]);
  expect(await slow.commit("done")).toMatchObject({ ok: true });
  expect([told(session), refunded]).toEqual([{ steps: ["apple"], taken: [true, false] }, ["fig"]]);
});
