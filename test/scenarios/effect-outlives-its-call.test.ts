import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { Call } from "../../src/transaction/call.ts";
import { defineTool, type Tool } from "../../src/transaction/tool.ts";
import { counter, type ListLedger, quiet, rig, writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../support/stores.ts";
import { type CallId, toSessionId } from "../../src/records/ids.ts";
import type { RecordDraft } from "../../src/records/kinds.ts";
import { sessionFold } from "../../src/turn/fold.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";

/** A payment that is made and refunded when the test says so. */
function till() {
  const pay = Promise.withResolvers<void>();
  const refund = Promise.withResolvers<void>();
  const log: string[] = [];
  const payment = {
    run: async (_: Json, { key }: { readonly key: string }) => {
      await pay.promise;
      log.push(`paid ${key}`);
      return "receipt";
    },
    undo: async (_: Json, __: Json, { key }: { readonly key: string }) => {
      await refund.promise;
      log.push(`refunded ${key}`);
    },
  };
  const tool = (name: string, then?: () => Promise<unknown>): Tool =>
    defineTool({
      name,
      access: "external",
      effects: { payment },
      async run(input, call) {
        await call.effect("payment", {}, { key: (input as { readonly key?: string }).key ?? "k" });
        return then?.();
      },
    });
  return { pay, refund, log, tool };
}

/** The beginning of an effect is written down when the test says so. */
function heldOpening(ledger: ListLedger): PromiseWithResolvers<void> {
  const written = Promise.withResolvers<void>();
  const write = ledger.effectOpened.bind(ledger);
  ledger.effectOpened = async (effect) => {
    await written.promise;
    return write(effect);
  };
  return written;
}

const INHERITED = ["effect-done", "forked", "left"];

/** Sends a mail, which nothing takes back, and fails. */
function mailing(name: string): Tool {
  return defineTool({
    name,
    access: "write",
    effects: { mail: { run: () => "sent" } },
    async run(_, call) {
      await call.effect("mail", {}, { key: "m" });
      throw new Error("failed after it was sent");
    },
  });
}

describe("an effect outlives its call", () => {
  test("[TX-25] one that was just being written down when the call was discarded is undone when it has happened", async () => {
    const { pay, refund, log, tool } = till();
    const { transactions, ledger } = rig([tool("buy")]);
    const written = heldOpening(ledger);
    const stop = new AbortController();
    const running = transactions.run({ id: "c", name: "buy", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    expect(await running).toMatchObject({ status: "canceled" });
    for (const next of [written, pay, refund]) {
      next.resolve();
      await quiet();
    }
    expect(log).toEqual(["paid k", "refunded k"]);
    expect(ledger.kinds("c")).toContain("effect-undone");
  });

  test("[TX-25] whoever asks for it while it is being undone gets it done anew, not the result of what is gone", async () => {
    const { pay, refund, log, tool } = till();
    const { transactions } = rig([tool("buy", () => new Promise(() => {}))]);
    const stop = new AbortController();
    const first = transactions.run({ id: "a", name: "buy", input: {} }, { signal: stop.signal });
    pay.resolve();
    await quiet();
    stop.abort();
    await quiet();
    const later = new AbortController();
    void transactions.run({ id: "b", name: "buy", input: {} }, { signal: later.signal });
    await quiet();
    expect(log).toEqual(["paid k"]);
    refund.resolve();
    await first;
    await quiet();
    expect(log).toEqual(["paid k", "refunded k", "paid k"]);
  });

  test("[TX-25] one who joins it while it runs keeps it, though the call that began it is discarded", async () => {
    const { pay, refund, log, tool } = till();
    const { transactions } = rig([tool("buy")]);
    const stop = new AbortController();
    const first = transactions.run({ id: "a", name: "buy", input: {} }, { signal: stop.signal });
    await quiet();
    const second = transactions.run({ id: "b", name: "buy", input: {} });
    await quiet();
    stop.abort();
    await first;
    pay.resolve();
    refund.resolve();
    expect(await second).toMatchObject({ ok: true });
    await quiet();
    expect(log).toEqual(["paid k"]);
  });

  test("[TX-25] one who is stopped before the beginning of what it joins is written down does not join", async () => {
    const { pay, tool } = till();
    const { transactions, ledger } = rig([tool("buy")]);
    const written = heldOpening(ledger);
    const first = transactions.run({ id: "a", name: "buy", input: {} });
    await quiet();
    const stop = new AbortController();
    const second = transactions.run({ id: "b", name: "buy", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    expect(await second).toMatchObject({ status: "canceled" });
    written.resolve();
    pay.resolve();
    expect(await first).toMatchObject({ ok: true });
    await quiet();
    expect(ledger.kinds("b")).not.toContain("effect-joined");
  });

  test("[TX-25] one who is stopped while it waits for an undoing does not begin anew", async () => {
    const { pay, refund, log, tool } = till();
    const { transactions, ledger } = rig([tool("buy", () => new Promise(() => {}))]);
    const [stop, later] = [new AbortController(), new AbortController()];
    const first = transactions.run({ id: "a", name: "buy", input: {} }, { signal: stop.signal });
    pay.resolve();
    await quiet();
    stop.abort();
    await quiet(); // the refund hangs
    const second = transactions.run({ id: "b", name: "buy", input: {} }, { signal: later.signal });
    await quiet();
    later.abort();
    expect(await second).toMatchObject({ status: "canceled", effects: [] });
    refund.resolve();
    await first;
    await quiet();
    expect([log, ledger.kinds("b").includes("effect-opened")]).toEqual([["paid k", "refunded k"], false]);
  });

  test("[TX-25] [TX-26] those of a call inside are undone once each, newest first, when both are stopped", async () => {
    const log: string[] = [];
    const payment = {
      run: async (_: Json, { key }: { readonly key: string }) => `receipt ${key}`,
      undo: async (_: Json, __: Json, { key }: { readonly key: string }) => {
        log.push(`begin ${key}`);
        await quiet();
        log.push(`end ${key}`);
      },
    };
    const inner = defineTool({
      name: "inner",
      access: "write",
      effects: { payment },
      async run(_, call) {
        for (const key of ["k1", "k2"]) await call.effect("payment", {}, { key });
        await new Promise(() => {});
      },
    });
    const outer = writes("outer", (_, call) => call.run({ name: "inner", input: {} }));
    const { transactions } = rig([inner, outer]);
    const stop = new AbortController();
    const running = transactions.run({ id: "c", name: "outer", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    const { effects } = await running;
    await quiet();
    expect(log).toEqual(["begin k2", "end k2", "begin k1", "end k1"]);
    expect(effects.map(({ key, is }) => [key, is])).toEqual([
      ["k2", "undone"],
      ["k1", "undone"],
    ]);
  });

  test("[TX-26] one that a call deep inside left is told once by the call around all", async () => {
    const deep = mailing("deep");
    const mid = writes("mid", async (_, call) => {
      await call.run({ name: "deep", input: {} });
      throw new Error("failed, too");
    });
    const outer = writes("outer", async (_, call) => {
      await call.run({ name: "mid", input: {} });
    });
    const { transactions } = rig([deep, mid, outer]);
    const { ok, effects } = await transactions.run({ id: "c", name: "outer", input: {} });
    expect([ok, effects.map(({ key, is }) => [key, is])]).toEqual([true, [["m", "not-undone"]]]);
  });

  test("[TX-25] [TURN-13] one of a call inside is undone when the call around it is taken back, also by the next process", async () => {
    const refunded: string[] = [];
    const payment = {
      run: () => "receipt",
      undo: (_: Json, __: Json, { key }: { readonly key: string }) => void refunded.push(key),
    };
    const pay = defineTool({
      name: "pay",
      access: "write",
      effects: { payment },
      run: (_, call) => call.effect("payment", {}, { key: "k" }),
    });
    const around = defineTool({
      name: "around",
      access: "write",
      run: async (_, call) => (await call.run({ name: "pay", input: {} })).ok,
    });
    // Of so few boundaries only that of the call around is remembered: who ran inside it is told elsewhere.
    const options = { tools: [pay, around], checkpoints: { limit: 1 } };
    const { session, disk } = await opened(new MemoryDisk(), options);
    const { callId, ok } = await session.runTool({ name: "around", input: {} });
    await session.close();
    const again = await opened(disk, options);
    expect([ok, refunded]).toEqual([true, []]);
    await again.session.rewind({ before: callId });
    expect(refunded).toEqual(["k"]);
  });

  test.each(["rolls back the part", "does without it when it runs again"])(
    "[TX-47] one that a call had joined, and lets go of as it %s, is undone by the next process with its other call",
    async (how) => {
      const refunded: string[] = [];
      const payment = {
        run: () => "receipt",
        undo: (_: Json, __: Json, { key }: { readonly key: string }) => void refunded.push(key),
      };
      const meanwhile = AsyncLocalStorage.snapshot();
      let attempts = 0;
      const buy = defineTool({
        name: "buy",
        access: "write",
        effects: { payment },
        async run(_, call) {
          const pay = () => call.effect("payment", {}, { key: "k" });
          attempts += 1;
          call.get(counter);
          call.dispatch(counter.added(1));
          if (how === "rolls back the part")
            await call.transaction(() => pay().then(() => Promise.reject(new Error("back")))).catch(() => {});
          else if (attempts === 1) {
            await pay();
            await meanwhile(() => session.state.session.dispatch(counter.added(1)));
          }
        },
      });
      const options = { tools: [buy], slices: [counter] };
      const { session, deps, disk } = await opened(new MemoryDisk(), options);
      const first = await session.begin({ name: "buy", input: {} });
      await first.call.effect("payment", {}, { key: "k" });
      expect(await session.runTool({ name: "buy", input: {} })).toMatchObject({ ok: true });
      await deps.store.close();
      const again = await opened(disk, options);
      expect(refunded).toEqual([]);
      const { effects } = await again.session.rewind({ before: first.id });
      expect([refunded, effects.map(({ is }) => is)]).toEqual([["k"], ["undone"]]);
    },
  );

  test("[TX-47] so is one that another call asks for again while the part's others are being undone", async () => {
    const refunded: string[] = [];
    const held = Promise.withResolvers<void>();
    const payment = {
      run: () => "receipt",
      undo: async (_: Json, __: Json, { key }: { readonly key: string }) => {
        if (key === "second") await held.promise;
        refunded.push(key);
      },
    };
    const buy = defineTool({ name: "buy", access: "write", effects: { payment }, run: () => null });
    const called = { name: "buy", input: {} };
    const { session, deps, disk } = await opened(new MemoryDisk(), { tools: [buy] });
    const [one, other] = [await session.begin(called), await session.begin(called)];
    const pay = (call: Call, key: string) => call.effect("payment", {}, { key });
    const part = one.call.transaction(async () => {
      await pay(one.call, "first");
      await pay(one.call, "second");
      throw new Error("back");
    });
    const rolledBack = part.catch(() => {});
    await quiet();
    await quiet();
    await pay(other.call, "first");
    held.resolve();
    await rolledBack;
    for (const call of [one, other]) expect(await call.commit("bought")).toMatchObject({ ok: true });
    await deps.store.close();
    const again = await opened(disk, { tools: [buy] });
    expect(refunded).toEqual(["second"]);
    await again.session.rewind({ before: other.id });
    expect(refunded).toEqual(["second", "first"]);
  });

  test("[TX-28] one of an attempt that was given up is undone by the next process, when this one dies as the call has ended", async () => {
    const refunded: string[] = [];
    const payment = { run: () => "receipt", undo: () => void refunded.push("k") };
    const buy = defineTool({
      name: "buy",
      access: "external",
      effects: { payment },
      validators: [(_, { attempt }) => (attempt === 1 ? "try without paying" : undefined)],
      run: (_, call) => (call.attempt === 1 ? call.effect("payment", {}, { key: "k" }) : "done without"),
    });
    const disk = new MemoryDisk();
    const deps = memoryDeps(disk);
    let dead = false;
    const store = between(deps.store, {
      before: () => {
        if (dead) throw new Error("gone");
        return undefined;
      },
      after: (batch) => {
        dead ||= JSON.stringify(batch).includes("call-closed");
      },
    });
    const session = await new Holdfast({ ...deps, store }, { tools: [buy] }).open("s");
    await session.runTool({ name: "buy", input: {} }).catch(() => {});
    await deps.store.close();
    expect([refunded, dead]).toEqual([[], true]);
    const again = await opened(disk, { tools: [buy] });
    expect([refunded, again.session.recovered.closedCalls]).toEqual([["k"], []]);
  });

  test("[TURN-13] a process that dies while it undoes leaves the rest to the next, and never takes it for standing", async () => {
    const { pay, log, tool } = till();
    const buy = tool("buy", async () => {
      throw new Error("and then it failed");
    });
    pay.resolve();
    const { session, deps, disk } = await opened(new MemoryDisk(), { tools: [buy] });
    void session.runTool({ name: "buy", input: {} }).catch(() => {});
    await quiet();
    await quiet();
    await deps.store.close(); // the refund hangs, and the process dies
    const other = till();
    other.refund.resolve();
    const again = await opened(disk, { tools: [other.tool("buy")] });
    expect([log, other.log]).toEqual([["paid k"], ["refunded k"]]);
    expect(again.session.recovered.effects).toMatchObject([{ key: "k", is: "unknown" }]);
    const kinds = (await collect(again.session.read())).map((entry) =>
      entry.kind === "effect-undone" ? entry.how : entry.kind,
    );
    expect(kinds.filter((kind) => kind.startsWith("und"))).toEqual(["undoing", "undone"]);
  });

  test("[TX-25] one that happens in a process that dies before it is undone is undone by the next", async () => {
    const { pay, refund, log, tool } = till();
    refund.resolve();
    const disk = new MemoryDisk();
    const deps = memoryDeps(disk);
    let dead = false;
    const store = between(deps.store, {
      before: (batch) => {
        dead ||= JSON.stringify(batch).includes('\\"undoing\\"');
        if (dead) throw new Error("gone");
        return undefined;
      },
    });
    const session = await new Holdfast({ ...deps, store }, { tools: [tool("buy")] }).open("s");
    const stop = new AbortController();
    const running = session.runTool({ name: "buy", input: {} }, { signal: stop.signal });
    await quiet();
    stop.abort();
    expect(await running).toMatchObject({ status: "canceled" });
    pay.resolve();
    await quiet();
    await deps.store.close();
    expect([log, dead]).toEqual([["paid k"], true]);
    await opened(disk, { tools: [tool("buy")] });
    expect(log).toEqual(["paid k", "refunded k"]);
  });

  test("[TX-25] one that somebody relies on again while a rewind undoes another stands, also for the next process", async () => {
    const { pay, log, tool } = till();
    pay.resolve();
    const { session, deps, disk } = await opened(new MemoryDisk(), { tools: [tool("buy")] });
    const { callId } = await session.runTool({ name: "buy", input: { key: "first" } });
    await session.runTool({ name: "buy", input: { key: "second" } });
    void session.rewind({ before: callId }).catch(() => {});
    await quiet(); // the refund of the second hangs
    expect(await session.runTool({ name: "buy", input: { key: "first" } })).toMatchObject({ ok: true });
    await deps.store.close();
    const other = till();
    other.refund.resolve();
    await opened(disk, { tools: [other.tool("buy")] });
    expect([log, other.log]).toEqual([["paid first", "paid second"], ["refunded second"]]);
  });

  test.each([
    ["done before its call was discarded", ["effect-done", "call-closed"], "undoing"],
    ["done after it", ["call-closed", "effect-done"], "undoing"],
    ["done, and its call cut off by a crash", ["effect-done", "interrupted"], "done"],
    ["done, and its call failed with a word of its own", ["effect-done", "failed"], "undoing"],
    ["done when the part of its call that had asked for it was rolled back", ["left", "effect-done"], "undoing"],
    ["done, inherited, and left by a call before it was written down that it had joined", INHERITED, "done"],
    ["done, and its beginning lost", ["effect-done"], "done"],
    ["not undone", ["effect-done", "not-undone"], "not-undone"],
    ["not undone, which was told twice", ["effect-done", "undoing", "not-undone", "not-undone"], "not-undone"],
    ["undone, and told once more to be undone", ["effect-done", "undoing", "undone", "undoing"], "undone"],
    ["not undone, and when it was done is lost", ["undoing", "not-undone"], "unknown"],
    [
      "undone and done anew, when the undoing of the first is told late",
      ["undone", "anew", "done-anew", "undone"],
      "done",
    ],
  ] as const)("[TX-25] what a journal says of one that was %s", (_, kinds, standing) => {
    const about = { tool: "buy", name: "payment", key: "k", generation: 0 };
    const closed = { kind: "call-closed", callId: "c" as CallId, tool: "buy", status: "canceled", output: "" } as const;
    const drafts: Readonly<Record<string, RecordDraft>> = {
      "effect-opened": { kind: "effect-opened", ...about, callId: "c" as CallId, args: {} },
      "effect-done": { kind: "effect-done", ...about, result: "receipt" },
      "call-closed": { ...closed, reason: "canceled", effects: "unknown" },
      interrupted: { ...closed, reason: "interrupted", effects: "unknown" },
      forked: { kind: "forked", from: toSessionId("origin"), after: 2 },
      left: { kind: "effect-left", ...about, callId: "c" as CallId },
      anew: { kind: "effect-opened", ...about, generation: 1, callId: "d" as CallId, args: {} },
      "done-anew": { kind: "effect-done", ...about, generation: 1, result: "another receipt" },
      undoing: { kind: "effect-undone", ...about, how: "undoing" },
      undone: { kind: "effect-undone", ...about, how: "undone" },
      "not-undone": { kind: "effect-undone", ...about, how: "not-undone", detail: "stuck" },
      failed: { ...closed, status: "failed", reason: "interrupted", effects: "unknown" },
    };
    const fold = sessionFold(10);
    const begun = kinds.length === 1 ? [] : ["effect-opened"];
    const folded = [...begun, ...kinds].reduce(
      (now, kind, at) => fold.step(now, drafts[kind] as RecordDraft, at + 1),
      fold.start([]),
    );
    expect([...folded.effects.values()].map((effect) => effect.standing.is)).toEqual([standing]);
  });

  test.each(["written down", "refused"])(
    "[TX-47] that a call has left it is told behind its beginning or not at all: that is %s",
    async (how) => {
      const { tool, pay, refund } = till();
      pay.resolve();
      refund.resolve();
      const back = defineTool({
        name: "back",
        access: "external",
        effects: { payment: { run: () => "receipt", undo: () => {} } },
        run: async (_, call) => {
          const savepoint = call.savepoint();
          const paying = call.effect("payment", {}, { key: "k" }).catch(() => {});
          await quiet();
          savepoint.rollback();
          await quiet();
          if (how === "refused") written.reject(new Error("full"));
          else written.resolve();
          await paying;
        },
      });
      const { transactions, ledger } = rig([back, tool("buy")]);
      const written = heldOpening(ledger);
      expect(await transactions.run({ id: "c", name: "back", input: {} })).toMatchObject({ ok: true });
      const told = ["effect-opened", "effect-left", "effect-done", "effect-undoing", "effect-undone"];
      expect(ledger.kinds("c").slice(1, -1)).toEqual(how === "refused" ? [] : told);
    },
  );

  test("[TX-47] a journal that lost its beginning knows no more of it when a call leaves it", () => {
    const fold = sessionFold(10);
    const about = { tool: "buy", name: "payment", key: "k", generation: 0 };
    const folded = fold.step(fold.start([]), { kind: "effect-left", ...about, callId: "c" as CallId }, 1);
    expect(folded.effects.values()).toEqual([]);
  });

  test("[TURN-16] a fork does not undo what its origin is about to", async () => {
    const { pay, refund, log, tool } = till();
    pay.resolve();
    const { session } = await opened(new MemoryDisk(), { tools: [tool("buy")] });
    const { callId } = await session.runTool({ name: "buy", input: {} });
    void session.rewind({ before: callId });
    await quiet();
    const fork = await session.fork({ before: (await session.runTool({ name: "nobody", input: {} })).callId, as: "f" });
    refund.resolve();
    await quiet();
    expect(log).toEqual(["paid k", "refunded k"]);
    expect(fork.transactions.effects.of(callId)).toEqual([]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    "[TX-26] [TX-21] one that a call inside had begun is told as unknown, %i turns after both were stopped",
    async (turns) => {
      const inner = defineTool({
        name: "inner",
        access: "write",
        effects: { mail: { run: () => new Promise<never>(() => {}) } },
        run: (_, call) => call.effect("mail", {}, { key: "m" }),
      });
      const outer = writes("outer", (_, call) => call.run({ name: "inner", input: {} }));
      const { transactions, ledger, state } = rig([inner, outer]);
      const { exclusive } = state;
      const putBack = exclusive.putBack.bind(exclusive);
      exclusive.putBack = async (by) => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve(); // the call around it ends as much later
        return putBack(by);
      };
      const stop = new AbortController();
      const running = transactions.run({ id: "c", name: "outer", input: {} }, { signal: stop.signal });
      await quiet();
      stop.abort();
      expect(await running).toMatchObject({ status: "canceled", effects: [{ name: "mail", key: "m", is: "unknown" }] });
      expect(ledger.closings().at(-1)).toMatchObject({ callId: "c", effects: "unknown" });
    },
  );

  test("[TX-26] [TX-21] what a call inside left outside is told by the call around it, which is all that a model sees", async () => {
    const inner = mailing("inner");
    const outer = writes("outer", async (_, call) => {
      await call.run({ name: "inner", input: {} });
      call.dispatch(counter.added(1));
    });
    const { transactions, ledger } = rig([inner, outer]);
    const outcome = await transactions.run({ id: "c", name: "outer", input: {} });
    expect(outcome).toMatchObject({ ok: true, effects: [{ name: "mail", is: "not-undone" }] });
    expect(ledger.closings().at(-1)).toMatchObject({ callId: "c", effects: "happened" });
  });
});
