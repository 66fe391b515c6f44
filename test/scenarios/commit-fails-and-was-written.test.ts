import { describe, expect, test } from "vitest";
import type { WriteBatch } from "../../src/contracts/store.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import { counter, steps, writes } from "../support/calls.ts";
import { look, OPTIONS, run } from "../support/durable.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps } from "../support/stores.ts";

/** A session whose store says "failed" after it has written, once it is told to. */
async function unclearAfter(tools = OPTIONS.tools ?? []) {
  const disk = new MemoryDisk();
  const { store, ...deps } = memoryDeps(disk);
  const fault = { kinds: [] as string[], reads: false };
  const sick = between(store, {
    after: (batch: WriteBatch) => {
      if (batch.kind !== "append") return;
      const at = fault.kinds.indexOf(batch.records[0]?.kind ?? "");
      if (at === -1) return;
      fault.kinds.splice(at, 1);
      throw ioError();
    },
  });
  const session = await new Holdfast({ ...deps, store: sick }, { ...OPTIONS, tools }).open("s");
  const again = async () => {
    await store.close();
    return new Holdfast(memoryDeps(disk), { ...OPTIONS, tools }).open("s");
  };
  return { session, fault, again };
}

describe("a commit that failed, and was written all the same", () => {
  test("[SLICE-10] is not built upon: the state is given up, and the next process finds what the journal has", async () => {
    const { session, fault, again } = await unclearAfter();
    await session.state.session.dispatch(steps.added("a"));
    fault.kinds = ["state-changed"];
    await expect(session.state.session.dispatch(steps.added("b"))).rejects.toMatchObject({ code: "STORE_IO" });
    await expect(session.state.session.dispatch(steps.added("c"))).rejects.toMatchObject({ code: "STATE_POISONED" });
    expect((await look(await again())).steps).toEqual(["a", "b"]);
  });

  test("[SLICE-10] one that was not written holds up nobody", async () => {
    const { store, ...deps } = memoryDeps();
    let full = false;
    const sick = between(store, {
      before: () => {
        if (full) throw ioError();
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store: sick }, OPTIONS).open("s");
    full = true;
    await expect(session.state.session.dispatch(steps.added("a"))).rejects.toMatchObject({ code: "STORE_IO" });
    full = false;
    await session.state.session.dispatch(steps.added("b"));
    expect((await look(session)).steps).toEqual(["b"]);
  });

  test("[TURN-80] a state that was given up keeps no checkpoint: it would make true what the journal says is not", async () => {
    const { session, fault, again } = await unclearAfter();
    await run(session, "a");
    fault.kinds = ["call-closed"];
    await expect(run(session, "b")).rejects.toMatchObject({ code: "STORE_IO" });
    await expect(session.checkpoint()).rejects.toMatchObject({ code: "STATE_POISONED" });
    expect((await look(await again())).steps).toEqual(["a", "b"]);
  });

  test("[TX-38] a neighbour that succeeds after the state was given up is closed as failed, never as a success without a change", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = writes("slow", async (_, call) => {
      call.dispatch(counter.added(100));
      await gate.promise;
    });
    const { session, fault, again } = await unclearAfter([...(OPTIONS.tools ?? []), slow]);
    const waiting = session.runTool({ name: "slow", input: {} });
    fault.kinds = ["call-closed"];
    await expect(run(session, "b")).rejects.toMatchObject({ code: "STORE_IO" });
    gate.resolve();
    expect(await waiting).toMatchObject({ ok: false, reason: "STATE_POISONED" });
    const next = await again();
    const closings = (await collect(next.read())).filter((entry) => entry.kind === "call-closed");
    expect(closings.map((entry) => entry.kind === "call-closed" && [entry.tool, entry.status])).toEqual([
      ["step", "success"],
      ["slow", "failed"],
    ]);
    expect((await look(next)).counter).toBe(1);
  });

  test("[TX-38] a call whose opening is unclear gives the state up, so that the next opening closes it", async () => {
    const { session, fault, again } = await unclearAfter();
    fault.kinds = ["call-opened"];
    await expect(run(session, "a")).rejects.toMatchObject({ code: "STORE_IO" });
    expect(session.state.poisoned).toBe(true);
    const next = await again();
    expect(next.recovered.closedCalls).toHaveLength(1);
    expect((await look(next)).steps).toEqual([]);
  });
});
