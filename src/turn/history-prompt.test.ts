import { describe, expect, test } from "vitest";
import { opened, run, step } from "../../test/support/durable.ts";
import { quickjs, scripted, watch } from "../../test/support/loop.ts";
import { collect, ioError, MemoryDisk } from "../../test/support/stores.ts";
import type { Model, ModelRequest } from "../contracts/model.ts";
import { HISTORY_GUIDANCE } from "../history/history-block.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import { type Item, textOf } from "../wire/item.ts";

const code = quickjs({ limits: { timeMs: 60_000 } });
const CODE = { tools: [step], code };

/** A model whose requests are kept. */
function heard(script: Parameters<typeof scripted>[0]) {
  const requests: ModelRequest[] = [];
  const model = scripted(script);
  const asking: Model = {
    ...model,
    ask: (request, how) => {
      requests.push(request);
      return model.ask(request, how);
    },
  };
  return { requests, model: asking };
}

const wordsOf = (item: Item | undefined) =>
  item?.kind === "user" || item?.kind === "system" ? textOf(item.parts) : "";

describe("the words about history in a request", () => {
  test("[USE-6] a store that could not be read once keeps no later request from being made", async () => {
    const { session, deps } = await opened(new MemoryDisk(), CODE);
    const { store } = deps;
    const reading = store.reading.bind(store);
    let fails = true;
    store.reading = (use) => (fails ? Promise.reject<never>(ioError()) : reading(use));
    const { model } = heard([{ text: "done" }]);
    await expect(watch(session.run("a word of mine", { model }))).rejects.toMatchObject({ code: "STORE_IO" });
    fails = false;
    expect((await watch(session.run(undefined, { model }))).end).toMatchObject({ status: "done", text: "done" });
    await session.close();
  });

  test("[USE-1] [K56] stand at its very end, in every request that offers programs, count on, and hold nothing of a record", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    const { requests, model } = heard([
      { calls: [{ name: "step", input: { n: "hunter2" } }] },
      { fault: "overloaded" },
      { calls: [{ name: "step", input: { n: "b", fail: true } }] },
      { text: "done" },
    ]);
    await watch(session.run("a word of mine", { model, retry: { firstMs: 0, mostMs: 0 } }));
    expect(requests).toHaveLength(4);
    const tails = requests.map(({ items }) => wordsOf(items.at(-1)));
    for (const tail of tails) {
      expect(tail).toContain(HISTORY_GUIDANCE);
      expect(tail).toContain("call_id, timestamp, speaker, method_name, args, kwargs, outcome_summary");
      expect(tail).not.toMatch(/hunter2|a word of mine/);
      expect(Buffer.byteLength(tail)).toBeLessThan(2_000);
    }
    expect(tails.map((tail) => /user: (\d+)$/m.exec(tail)?.[1])).toEqual(["1", "2", "2", "3"]);
    const lines = /The newest:\n([^]*?)\n\n/.exec(tails.at(-1) ?? "")?.[1]?.split("\n") ?? [];
    expect(lines.map((line) => line.replace(/call_\S+/, "id"))).toEqual([
      expect.stringMatching(/^- user-\d+ run ok$/),
      "- id step ok",
      "- id step error",
    ]);
    // Behind the stable prefix: what may be cached is the same whatever has happened.
    for (const { items, stableItems = 0 } of requests)
      expect(items.slice(0, stableItems).some((item) => wordsOf(item).includes(HISTORY_GUIDANCE))).toBe(false);
    await session.close();
  });

  test("[USE-1] are not said where no program can be run: without a runner, and in plan mode", async () => {
    const bare = await opened(new MemoryDisk(), { tools: [step] });
    const first = heard([{ text: "yes" }]);
    await watch(bare.session.run("?", { model: first.model }));
    const { session } = await opened(new MemoryDisk(), CODE);
    await session.setMode("plan");
    const second = heard([{ text: "yes" }]);
    await watch(session.run("?", { model: second.model }));
    for (const { items } of [...first.requests, ...second.requests])
      expect(items.some((item) => wordsOf(item).includes("conversation_history"))).toBe(false);
    const said = (await collect(session.read())).find(({ kind }) => kind === "model-said");
    expect(said).not.toHaveProperty("historyGuidance");
  });

  test("[USE-1] are there for a host that asks the model itself, and cost the log nothing", async () => {
    const { session } = await opened(new MemoryDisk(), CODE);
    const before = await session.align();
    await run(session, "a");
    const after = await session.align();
    expect([before, after].map(({ prompt }) => /user: (\d+)$/m.exec(prompt.tailText)?.[1])).toEqual(["0", "1"]);
    expect(after.prompt.tail.map(({ kind }) => kind)).toEqual(["history", "stamp"]);
    expect(after.prompt.hash).toBe(before.prompt.hash);
    expect(after.prompt.prefixHash).toBe(before.prompt.prefixHash);
  });

  test("[USE-1] are of the same size in a session that was reopened with a long history", async () => {
    const disk = new MemoryDisk();
    const { session, deps } = await opened(disk, CODE);
    for (let nth = 0; nth < 40; nth += 1) await run(session, `n${nth}`);
    await session.checkpoint();
    await session.close();
    await deps.store.close();
    const again = await opened(disk, CODE);
    const { tailText } = (await again.session.align()).prompt;
    expect(tailText).toMatch(/user: 40$/m);
    expect(Buffer.byteLength(tailText)).toBeLessThan(2_000);
  });

  test("[USE-2] whether they were there is told with every answer, and with every request that failed", async () => {
    const events: KernelEvent[] = [];
    const telemetry = { sinks: [{ emit: (event: KernelEvent) => void events.push(event) }] };
    const { session } = await opened(new MemoryDisk(), { ...CODE, telemetry });
    const { model } = heard([{ fault: "overloaded" }, { text: "done" }]);
    await watch(session.run("?", { model, retry: { firstMs: 0, mostMs: 0 } }));
    const told = (await collect(session.read())).filter(({ kind }) => kind === "model-said" || kind === "model-failed");
    expect(told.map((entry) => [entry.kind, (entry as { historyGuidance?: boolean }).historyGuidance])).toEqual([
      ["model-failed", true],
      ["model-said", true],
    ]);
    expect(events.find(({ kind }) => kind === "model-said")?.facts["historyGuidance"]).toBe(true);
  });
});
