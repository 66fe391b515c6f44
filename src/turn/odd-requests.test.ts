import { describe, expect, test } from "vitest";
import { opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { HoldfastError } from "../base/errors.ts";
import { Holdfast } from "./holdfast.ts";
import { RunBudget } from "./limits.ts";

describe("bounds of a turn that cannot work", () => {
  test("[LOOP-7] a price that is no number ends the turn with its name: the run would go on for ever", async () => {
    const { session } = await opened();
    const model = scripted([{ text: "ok", usage: { input: 1, output: 1 } }]);
    const limits = { cost: 1, price: () => Number.NaN };
    await expect(watch(session.run("go", { model, limits }))).rejects.toMatchObject({ code: "BAD_OPTION" });
    for (const bad of [{ steps: -1 }, { timeMs: Number.NaN }, { cost: 1 }])
      await expect(watch(session.run("go", { model, limits: bad }))).rejects.toMatchObject({ code: "BAD_OPTION" });
    await session.close();
  });

  test("[LOOP-7] [AGENT-5] of two deadlines the nearer one holds, whoever set it, and time that is up is a bound", async () => {
    const { session, deps } = await opened();
    const { state } = session;
    const outer = new RunBudget({ timeMs: 100 }, state);
    const sooner = new RunBudget({ timeMs: 50 }, state, outer);
    const later = new RunBudget({ timeMs: 500 }, state, outer);
    expect([sooner, later, new RunBudget({}, state, outer)].map(({ deadline }) => deadline?.left)).toEqual([
      50, 100, 100,
    ]);
    expect(new RunBudget({}, state).deadline).toBeUndefined();
    deps.clock.advance(60);
    expect([sooner.met, later.met, outer.met]).toEqual(["timeMs", undefined, undefined]);
    deps.clock.advance(60);
    expect([later.met, outer.met]).toEqual(["timeMs", "timeMs"]);
    await session.close();
  });
});

describe("what a session is asked for that there is not", () => {
  test("[MODE-8] a mode that is none is refused by its name, and the mode stays", async () => {
    const { session } = await opened();
    await expect(session.setMode("look" as never)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option: "mode" },
    });
    expect(session.mode).toBe("act");
    await session.close();
  });

  test("[ID-16] a fork in a folder of a kernel that has none is refused before anything is made", async () => {
    const { holdfast, session } = await opened();
    await expect(holdfast.fork("s", { as: "f", workspace: "/nowhere" })).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect((await collect(holdfast.sessions())).map(({ id }) => id)).toEqual(["s"]);
    await session.close();
  });

  test("[VIEW-16] before the first request nothing is shown, so nothing can be explained", async () => {
    const { session } = await opened();
    expect([session.context.view, session.context.explain("1.0")]).toEqual([undefined, undefined]);
    expect(session.context.recall({ handle: "holdfast://nothing" })).toMatchObject({ ok: false });
    await session.close();
  });

  test("[WRITEBACK-12] pages that sessions share are needed by all of them, and are not deleted", async () => {
    const { holdfast, session } = await opened();
    const tuple = {
      kind: "constraint",
      page: "R",
      field: "text",
      op: "set-with-version",
      value: "Be brief.",
      version: "",
      scope: "project",
    } as const;
    await session.writeback.stage(tuple);
    await session.writeback.commit();
    await session.close();
    await expect(holdfast.delete("pages:project")).rejects.toMatchObject({ code: "SESSION_NEEDED" });
  });
});

describe("secrets that are dropped where content cannot be read", () => {
  const hunted = async (smallBlob: Parameters<typeof between>[1]["smallBlob"]) => {
    const disk = new MemoryDisk();
    const { session, deps } = await opened(disk);
    await run(session, "hunter2-of-old-times");
    await session.checkpoint();
    await run(session, "b");
    await session.close();
    await deps.store.close();
    const { store, ...rest } = memoryDeps(disk);
    let armed = false;
    const meddled = between(store, { smallBlob: (name, bytes) => (armed ? smallBlob?.(name, bytes) : bytes) });
    const holdfast = new Holdfast({ ...rest, store: meddled });
    holdfast.registerSecret("hunter2-of-old-times");
    return { holdfast, arm: () => (armed = true) };
  };

  test("[REDACT-10] a store that fails is told as that, and nothing is called dropped", async () => {
    const { holdfast, arm } = await hunted(() => {
      throw new HoldfastError("STORE_IO", { planted: true });
    });
    await (await holdfast.open("s")).close();
    arm();
    await expect(holdfast.dropSecrets("s")).rejects.toMatchObject({ code: "STORE_IO" });
  });
});
