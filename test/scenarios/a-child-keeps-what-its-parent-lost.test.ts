import { describe, expect, test } from "vitest";
import type { HoldfastError } from "../../src/base/errors.ts";
import type { Json } from "../../src/base/json.ts";
import type { Call, Rewindable } from "../../src/transaction/call.ts";
import { defineTool } from "../../src/transaction/tool.ts";
import type { Session } from "../../src/turn/session.ts";
import { quiet, steps, writes } from "../support/calls.ts";
import { look, opened, run } from "../support/durable.ts";

/** A call that has a child session work for it, beside tools for both. */
async function working(work: (call: Call, child: Session) => Promise<unknown>) {
  const did: string[] = [];
  const mail = {
    run: (_args: Json, { key }: { readonly key: string }) => void did.push(`sent ${key}`),
    undo: (_args: Json, _result: Json, { key }: { readonly key: string }) => void did.push(`took back ${key}`),
  };
  const mails = defineTool<{ readonly key: string }>({
    name: "mails",
    access: "external",
    run: ({ key }, call) => call.effect("mail", {}, { key }),
    effects: { mail: mail as never },
  });
  const began = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const slow = writes("slow", async (_, call) => {
    call.dispatch(steps.added("slow"));
    began.resolve();
    await released.promise;
  });
  const { session, holdfast, deps } = await opened(undefined, { checkpoints: { limit: 2 } });
  const child = await holdfast.open("child");
  child.transactions.add([mails, slow]);
  session.transactions.add([writes("delegate", (_, call) => work(call, child))]);
  const stop = new AbortController();
  const outcome = () => session.runTool({ name: "delegate", input: {} }, { signal: stop.signal });
  return { child, session, deps, did, began, released, stop, outcome };
}

describe("a child is taken back with the call that it worked for", () => {
  test("[TX-22] [TURN-17] however many calls it had made, effects included, and nothing of before", async () => {
    const { child, did, outcome } = await working(async (call, worker) => {
      await worker.runTool({ name: "mails", input: { key: "0" } });
      await call.child(worker);
      for (const key of ["1", "2", "3", "4"]) await worker.runTool({ name: "mails", input: { key } });
      await run(worker, "a");
      throw new Error("no");
    });
    expect((await outcome()).output).toBe("no. Its changes were undone.");
    const all = ["0", "1", "2", "3", "4"];
    expect(did).toEqual([...all.map((key) => `sent ${key}`), ...["4", "3", "2", "1"].map((key) => `took back ${key}`)]);
    expect((await look(child)).steps).toEqual([]);
  });

  test("[TX-22] [TURN-17] also a call in it that outlives the other, and one begun after that is refused", async () => {
    const late: unknown[] = [];
    const rig = await working(async (call, child) => {
      await run(child, "before");
      await call.child(child);
      late.push((await child.runTool({ name: "slow", input: {} })).status);
      await quiet();
      late.push(await run(child, "too late").catch((error: HoldfastError) => error.code));
    });
    const ending = rig.outcome();
    await rig.began.promise;
    rig.stop.abort();
    expect((await ending).status).toBe("canceled");
    rig.released.resolve();
    for (let turn = 0; turn < 10; turn += 1) await quiet();
    expect(late).toEqual(["canceled", "CALL_CLOSED"]);
    expect((await look(rig.child)).steps).toEqual(["before"]);
    await run(rig.child, "of somebody else");
    expect((await look(rig.child)).steps).toEqual(["before", "of somebody else"]);
  });

  test("[TX-22] one in which something runs that does not stop is reported", async () => {
    const rig = await working(async (call, child) => {
      await call.child(child);
      await run(child, "a");
      await child.transactions.run({ id: "unheard", name: "slow", input: {} });
    });
    const ending = rig.outcome();
    await rig.began.promise;
    rig.stop.abort();
    await quiet();
    rig.deps.clock.advance(5_000);
    expect((await ending).output).toContain("Not taken back: a child: ");
    expect((await look(rig.child)).steps).toEqual([]);
    rig.released.resolve();
  });

  test.each([
    ["canceled", ["rewound", "released", "CALL_CLOSED"]],
    ["success", ["released", "CALL_CLOSED"]],
  ])("[TX-22] when the call ends as %s while the child is being marked", async (status, expected) => {
    const told: string[] = [];
    const marked = Promise.withResolvers<void>();
    const child: Rewindable = {
      mark: async () => {
        await marked.promise;
        return async () => void told.push("rewound");
      },
      release: async () => void told.push("released"),
    };
    const rig = await working(async (call) => {
      const adopted = call.child(child).then(
        () => told.push("works on"),
        (error: HoldfastError) => told.push(error.code),
      );
      rig.began.resolve();
      if (status === "canceled") await adopted;
    });
    const ending = rig.outcome();
    await rig.began.promise;
    if (status === "canceled") rig.stop.abort();
    expect((await ending).status).toBe(status);
    marked.resolve();
    await quiet();
    expect(told).toEqual(expected);
  });
});
