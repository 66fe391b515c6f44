import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { look, OPTIONS, opened, run } from "../../test/support/durable.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import type { Json } from "../base/json.ts";
import { defineTool } from "../transaction/tool.ts";
import { Holdfast } from "./holdfast.ts";
import type { Session } from "./session.ts";

describe("boundaries of which one is damaged", () => {
  test("[TURN-63] [T16] nine of ten are listed, the tenth is reported, and none leads to a state that never was", async () => {
    const { disk, deps, session } = await opened();
    const ids: string[] = [];
    const states: unknown[] = [];
    for (let n = 0; n < 10; n += 1) {
      ids.push(await run(session, `${n}`));
      states.push(await look(session));
      await session.checkpoint();
    }
    const changes = (await collect(session.read())).filter((entry) => entry.kind === "state-changed");
    const broken = changes[3]?.seq;
    await deps.store.close();
    const store = between(memoryDeps(disk).store, {
      records: (records) => records.map((one) => (one.seq === broken ? { ...one, body: `${one.body} ` } : one)),
    });
    const again = await new Holdfast({ ...memoryDeps(disk), store }, OPTIONS).open("s");
    const { sound, damaged } = await again.checkpoints.audit();
    expect(sound.map(({ callId }) => callId)).toEqual(ids.filter((_, n) => n !== 3));
    expect(damaged).toMatchObject([{ boundary: { callId: ids[3] }, code: "CHECKPOINT_UNKNOWN" }]);
    await expect(again.rewind({ after: ids[3]! })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
    expect(await look(again)).toEqual(states[9]);
    await again.rewind({ after: ids[5]! });
    expect(await look(again)).toMatchObject({ steps: ["0", "1", "2", "3", "4", "5"], counter: 6 });
  });
});

describe("effects in checkpoints", () => {
  const done: string[] = [];
  const pay = defineTool<{ readonly order: string; readonly fail?: boolean }>({
    name: "pay",
    access: "external",
    effects: { payment: { run: (args: Json) => (done.push(JSON.stringify(args)), "receipt"), undo: () => {} } },
    run: async ({ order, fail }, call) => {
      await call.effect("payment", { order, words: "w".repeat(200) }, { key: order });
      return fail === true ? call.fail("no", "no") : "paid";
    },
  });
  const paid = (session: Session, order: string, fail = false) =>
    session.runTool({ name: "pay", input: { order, fail } });

  async function keptEffects(session: Session) {
    await session.checkpoint();
    const newest = (await collect(session.read({ reverse: true }))).find((entry) => entry.kind === "checkpoint-kept");
    const { effects } = (newest as unknown as { state: { effects: { entry: { key: string }; place?: object }[] } })
      .state;
    return effects.map(({ entry, place = {} }) => [entry.key, "args" in place ? "arguments" : "no arguments"]);
  }

  test("[TURN-62] forget what is out of reach, and never a key", async () => {
    const options = { tools: [pay, writes("idle", () => "idle")], checkpoints: { limit: 3 } };
    const { disk, deps, session } = await opened(new MemoryDisk(), options);
    await paid(session, "undone", true);
    await paid(session, "old");
    expect(await keptEffects(session)).toEqual([
      ["undone", "arguments"],
      ["old", "arguments"],
    ]);
    for (let n = 0; n < 3; n += 1) await session.runTool({ name: "idle", input: {} });
    await paid(session, "new");
    expect(await keptEffects(session)).toEqual([
      ["old", "no arguments"],
      ["new", "arguments"],
    ]);
    await deps.store.close();
    const again = await opened(disk, options);
    const before = done.length;
    expect(await paid(again.session, "old")).toMatchObject({ ok: true });
    expect(done).toHaveLength(before);
    expect(await paid(again.session, "undone")).toMatchObject({ ok: true });
    expect(done).toHaveLength(before + 1);
  });
});
