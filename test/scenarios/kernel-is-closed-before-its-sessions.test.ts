import { describe, expect, test } from "vitest";
import { endless, kernel, OPTIONS, opened } from "../support/durable.ts";
import { writes } from "../support/calls.ts";
import { scripted, watch } from "../support/loop.ts";
import { between, type MemoryDisk, memoryDeps } from "../support/stores.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";

/** A kernel whose store does not let one of its sessions go. */
function stubborn(): Holdfast {
  const deps = memoryDeps();
  const store = between(deps.store, {
    before: (batch) => {
      if (batch.kind === "release" && batch.session === "stubborn") throw new Error("unplugged");
      return undefined;
    },
  });
  return new Holdfast({ ...deps, store }, OPTIONS);
}

const recovered = async (disk: MemoryDisk, id: string) =>
  (await kernel(disk).holdfast.open(id, { create: false })).recovered.closedCalls;

describe("a kernel that is closed before its sessions", () => {
  test("[TURN-89] stops what runs in them, opened or forked, and nothing of it is left open", async () => {
    const { begun, options } = endless(2);
    const { disk, holdfast, session } = await opened(undefined, options);
    const fork = await holdfast.fork("s", { as: "fork" });
    const turns = [session, fork].map((one) =>
      watch(one.run("go", { model: scripted([{ calls: [{ name: "endless" }] }, { text: "never" }]) })),
    );
    await begun;
    await holdfast.close();
    for (const { end } of await Promise.all(turns)) expect(end.status).toBe("aborted");
    expect([await recovered(disk, "s"), await recovered(disk, "fork")]).toEqual([[], []]);
  });

  test("[TURN-89] closes none from inside a call of one of them", async () => {
    const own = writes("own", (): Promise<void> => holdfast.close());
    const { holdfast, session } = await opened(undefined, { tools: [...(OPTIONS.tools ?? []), own] });
    const other = await holdfast.open("other");
    expect(await session.runTool({ name: "own", input: {} })).toMatchObject({ ok: false, reason: "STATE_INSIDE_CALL" });
    for (const one of [session, other])
      expect(await one.runTool({ name: "step", input: { n: "a" } })).toMatchObject({ ok: true });
  });

  test("[TURN-89] waits for one that somebody else is closing", async () => {
    const { begun, options } = endless();
    const { disk, holdfast, session } = await opened(undefined, options);
    const outcome = session.runTool({ name: "endless", input: {} });
    await begun;
    const closing = session.close();
    await holdfast.close();
    await closing;
    expect(await outcome).toMatchObject({ status: "canceled" });
    expect(await recovered(disk, "s")).toEqual([]);
  });

  test("[TURN-89] closes the others and the store when one cannot be closed, and tells", async () => {
    const holdfast = stubborn();
    await holdfast.open("stubborn");
    const other = await holdfast.open("other");
    await expect(holdfast.close()).rejects.toThrow("unplugged");
    await expect(other.runTool({ name: "step", input: { n: "a" } })).rejects.toMatchObject({ code: "JOURNAL_CLOSED" });
    await expect(holdfast.open("other")).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  test("[TURN-89] has none to close that somebody closed before, however that went", async () => {
    const holdfast = stubborn();
    const session = await holdfast.open("stubborn");
    await expect(session.close()).rejects.toThrow("unplugged");
    await holdfast.close();
  });
});
