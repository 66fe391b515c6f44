import { expect, test } from "vitest";
import { ratesOf, type Session, usageCounter } from "../../src/index.ts";
import { counter, writes } from "../support/calls.ts";
import { opened, step } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { MemoryDisk } from "../support/stores.ts";

// A call that leaves no record, or two, is a history that programs and people are misled by.
const never = () => new Promise<never>(() => {});
let tries = 0;
const TOOLS = [
  step,
  writes("throws", async () => {
    throw new Error("no");
  }),
  writes("hangs", never, { deadlineMs: 20 }),
  writes("waits", never),
  writes("gated", async () => "ran", { approval: true }),
  writes("returns_nonsense", async () => () => {}),
  writes("around", async (_input, call) => {
    await call.run({ name: "step", input: { n: "inner" } });
    await call.run({ name: "throws", input: {} });
    return "around";
  }),
  writes("loses", async (_input, call) => {
    await call.run({ name: "step", input: { n: "lost" } });
    throw new Error("after its inner call");
  }),
  writes(
    "picky",
    async () => {
      tries += 1;
      return tries;
    },
    { attempts: 3, validators: [(output) => (Number(output) < 3 ? `only ${JSON.stringify(output)}` : undefined)] },
  ),
];

async function rates(session: Session) {
  const usage = usageCounter();
  for await (const entry of session.read()) if (entry.kind !== "damaged") usage.take(entry);
  return { ...ratesOf(usage.usage(session.openCalls.length)), ...usage.usage(session.openCalls.length).calls };
}

/** How often each call that was opened is told of, by its id. */
async function recordsPerCall(session: Session): Promise<readonly number[]> {
  const told = new Map<string, number>();
  for await (const entry of session.read()) if (entry.kind === "call-opened") told.set(entry.callId, 0);
  for (const { call_id, speaker } of await session.callRecords())
    if (speaker !== "user") told.set(call_id, (told.get(call_id) ?? 0) + 1);
  return [...told.values()];
}

test("[RECORD-4] [USE-5] every way in which a call can end leaves exactly one record", async () => {
  const disk = new MemoryDisk();
  const { session, deps } = await opened(disk, { tools: TOOLS });
  const call = (name: string, input: unknown = {}) => ({ name, input: input as never });
  await session.runTool(call("step", { n: "fine" }));
  await session.runTool(call("step", { n: "b", fail: true }));
  await session.runTool(call("throws"));
  await session.runTool(call("nobody"));
  await session.runTool(call("returns_nonsense"));
  await session.runTool(call("step", { n: 1n }));
  await session.runTool(call("around"));
  await session.runTool(call("loses"));
  const hangs = session.runTool(call("hangs"));
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  deps.clock.advance(1_000);
  await hangs;
  const stop = new AbortController();
  const waits = session.runTool(call("waits"), { signal: stop.signal });
  stop.abort();
  await waits;
  const model = scripted([{ calls: [call("gated"), call("step", { n: "turn" })] }, { text: "done" }]);
  await watch(session.run("go", { model }));
  await session.reply(session.waiting[0]!.callId, { approve: false });
  await session.setMode("plan");
  await session.runTool(call("step", { n: "planned" }));
  await session.setMode("act");
  expect(new Set(await recordsPerCall(session))).toEqual(new Set([1]));
  expect(await rates(session)).toMatchObject({ appended: 1, open: 0 });
  const ends = (await session.callRecords()).map(({ outcome_summary }) => outcome_summary.error_type);
  expect(new Set(ends).size).toBeGreaterThan(7);
  // The process dies in the middle of a call: whoever opens the session closes it, with its one record.
  await session.begin(call("waits"));
  await deps.store.close();
  const again = await opened(disk, { tools: TOOLS });
  expect(again.session.recovered.closedCalls).toHaveLength(1);
  expect(new Set(await recordsPerCall(again.session))).toEqual(new Set([1]));
  expect(await rates(again.session)).toMatchObject({ appended: 1, open: 0 });
});

test("[RECORD-4] [LOOP-16] [K47] neither a guardrail's retries nor a provider's double it, and attempts are kept beside it", async () => {
  tries = 0;
  const { session } = await opened(new MemoryDisk(), { tools: TOOLS });
  const picky = { calls: [{ name: "picky", input: {} as never }] };
  const model = scripted([
    { fault: "overloaded" },
    { ...picky, cutAfter: { events: 2 } },
    { fault: "hang-up" },
    picky,
    { text: "three" },
  ]);
  const { end } = await watch(session.run("how many?", { model, retry: { firstMs: 0, mostMs: 0 } }));
  expect(end).toMatchObject({ status: "done" });
  const records = (await session.callRecords()).filter(({ speaker }) => speaker === "tool");
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({
    outcome_summary: { status: "ok", ok: true },
    attempt_failures: [
      { attempt: 1, message: "only 1" },
      { attempt: 2, message: "only 2" },
    ],
  });
  expect(session.state.session.get(counter)).toBe(0);
});
