import { describe, expect, test } from "vitest";
import { counter, ListLedger, quiet, rig, writes } from "../../test/support/calls.ts";
import { FixedClock } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import { EffectDidNotHappen, type EffectSpec } from "./effect.ts";
import { EffectBook } from "./effects.ts";
import { defineTool, type Tool } from "./tool.ts";

/** A bank that remembers what it was asked. */
function bank(more: Partial<EffectSpec> = {}) {
  const did: string[] = [];
  const spec: EffectSpec = {
    run: async (args: { readonly n: number }, { key }) => {
      did.push(`pay ${key}`);
      return { receipt: args.n };
    },
    undo: async (_args: unknown, result: { readonly receipt: number }, { key }) => {
      did.push(`refund ${key} ${result.receipt}`);
    },
    ...more,
  };
  return { did, spec };
}

type Pay = { readonly keys: readonly string[]; readonly fail?: boolean };

function paying(spec: EffectSpec): Tool {
  return defineTool<Pay>({
    name: "charge",
    access: "external",
    effects: { payment: spec },
    async run({ keys, fail }, call) {
      const receipts: Json[] = [];
      for (const [n, key] of keys.entries()) receipts.push(await call.effect("payment", { n }, { key }));
      return fail === true ? call.fail("declined", "declined") : receipts;
    },
  });
}

describe("an effect", () => {
  test("[TX-24] is written down before it is done and after, and happens once per key", async () => {
    const { did, spec } = bank();
    const { transactions, ledger } = rig([paying(spec)]);
    const first = await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } });
    const second = await transactions.run({ id: "c2", name: "charge", input: { keys: ["a", "b"] } });
    expect([first.output, second.output]).toEqual([[{ receipt: 0 }], [{ receipt: 0 }, { receipt: 1 }]]);
    expect(did).toEqual(["pay a", "pay b"]);
    expect(ledger.kinds("c1")).toEqual(["opened", "effect-opened", "effect-done", "closed"]);
    expect(ledger.kinds("c2")).toEqual(["opened", "effect-joined", "effect-opened", "effect-done", "closed"]);
    expect(first.effects).toEqual([{ tool: "charge", name: "payment", key: "a", is: "happened" }]);
    expect(ledger.closings().map(({ effects }) => effects)).toEqual(["happened", "happened"]);
  });

  test("[TURN-92] holds no arguments that were forgotten, which those of another generation are not", async () => {
    const asked: unknown[] = [];
    const { spec } = bank({ undo: async (args: unknown) => void asked.push(args) });
    const { transactions } = rig([paying(spec)]);
    await transactions.run({ id: "c1", name: "charge", input: { keys: ["a", "b", "c"] } });
    const entry = { tool: "charge", name: "payment", callId: "c1", args: null };
    transactions.effects.forgetArguments([
      { ...entry, key: "a", generation: 0 },
      { ...entry, key: "b", generation: 1 },
      { ...entry, key: "nobody's", generation: 0 },
    ]);
    await transactions.effects.undo(["c1"], () => spec);
    expect(asked).toEqual([{ n: 2 }, { n: 1 }, null]);
  });

  test("[TX-42] is undone, and found again, with what was written down, whatever its caller, its run or an undo made of it", async () => {
    const undone: string[] = [];
    let tries = 0;
    const spec: EffectSpec = {
      run: (args: { n: number }) => {
        args.n += 100;
        return { receipt: 7 };
      },
      undo: (args: { n: number }, result: { receipt: number }) => {
        undone.push(JSON.stringify([args, result]));
        args.n = -1;
        result.receipt = -1;
        tries += 1;
        if (tries < 3) throw new Error("busy");
      },
    };
    const spoils = writes<{ readonly fail: boolean }>(
      "spoils",
      async ({ fail }, call) => {
        const args = { n: 1 };
        const result = (await call.effect("payment", args, { key: "k" })) as { receipt: number };
        const found = JSON.stringify(result);
        args.n = 0;
        result.receipt = 0;
        return fail ? call.fail("no", "no") : found;
      },
      { effects: { payment: spec } },
    );
    const { transactions } = rig([spoils]);
    const found = await transactions.run({ id: "a", name: "spoils", input: { fail: false } });
    const again = await transactions.run({ id: "b", name: "spoils", input: { fail: false } });
    expect([found.output, again.output]).toEqual(['{"receipt":7}', '{"receipt":7}']);
    await transactions.undoEffects(["a", "b"]);
    expect(undone).toEqual(Array.from({ length: 3 }, () => '[{"n":1},{"receipt":7}]'));
  });

  test("[TX-24] asked for twice at once is done once", async () => {
    const { did, spec } = bank();
    const { transactions } = rig([paying(spec)]);
    const both = [1, 2].map((n) => ({ id: `c${n}`, name: "charge", input: { keys: ["a"] } }));
    expect((await transactions.runAll(both)).map(({ output }) => output)).toEqual([[{ receipt: 0 }], [{ receipt: 0 }]]);
    expect(did).toEqual(["pay a"]);
  });

  test("[TX-24] [TX-25] asked for while its end is being written down is joined, and stays for whoever joined it", async () => {
    const { did, spec, ledger, book, request } = booked();
    const written = Promise.withResolvers<void>();
    ledger.effectDone = () => written.promise;
    const first = request("c1");
    await quiet();
    const second = request("c2");
    await quiet();
    written.resolve();
    await Promise.all([first, second]);
    await book.undo(["c1"], () => spec);
    expect([did, ledger.kinds("c2")]).toEqual([["pay a"], ["effect-joined"]]);
  });

  test("[TX-24] whose beginning could not be written down is relied on by nobody", async () => {
    const { did, ledger, book, request } = booked();
    ledger.failOn = "effect-opened";
    const both = [request("c1"), request("c2")];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(ledger.lines).toEqual([]); // no record relies on one that is not there
    ledger.failOn = undefined;
    expect([await request("c2"), did, book.of("c1")]).toEqual([{ receipt: 1 }, ["pay a"], []]);
  });

  test("[TX-25] of a discarded call is undone, newest first, and may then run again as a new generation", async () => {
    const { did, spec } = bank();
    const { transactions, ledger } = rig([paying(spec)]);
    const failed = await transactions.run({ id: "c1", name: "charge", input: { keys: ["a", "b"], fail: true } });
    expect(did).toEqual(["pay a", "pay b", "refund b 1", "refund a 0"]);
    expect(failed.effects.map(({ key, is }) => [key, is])).toEqual([
      ["b", "undone"],
      ["a", "undone"],
    ]);
    expect(ledger.closings()[0]).toMatchObject({ effects: "none", output: "declined. Its changes here were undone." });
    await transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } });
    expect(did.at(-1)).toBe("pay a");
  });

  test("[TX-25] that another call relies on stays until that one is discarded too", async () => {
    const { did, spec } = bank();
    const gate = Promise.withResolvers<void>();
    const tool = defineTool<{ wait: boolean; fail: boolean }>({
      name: "charge",
      access: "external",
      effects: { payment: spec },
      async run({ wait, fail }, call) {
        await call.effect("payment", { n: 7 }, { key: "a" });
        if (wait) await gate.promise;
        return fail ? call.fail("no", "no") : "ok";
      },
    });
    const { transactions } = rig([tool]);
    const first = transactions.run({ id: "c1", name: "charge", input: { wait: true, fail: true } });
    expect(await transactions.run({ id: "c2", name: "charge", input: { wait: false, fail: false } })).toMatchObject({
      ok: true,
    });
    gate.resolve();
    expect((await first).effects).toEqual([]);
    expect(did).toEqual(["pay a"]);
    await transactions.effects.undo(["c2"], () => spec);
    expect(did).toEqual(["pay a", "refund a 7"]);
  });

  test("[TX-26] that cannot be undone is reported in words, and stops no other", async () => {
    const { did, spec } = bank({
      undo: ((_args: Json, _result: Json, { key }: { key: string }) =>
        key === "b" ? Promise.reject(new Error("bank closed")) : did.push(`refund ${key}`)) as never,
    });
    const { transactions, ledger } = rig([paying(spec)]);
    const outcome = await transactions.run({ id: "c1", name: "charge", input: { keys: ["a", "b", "c"], fail: true } });
    expect(did.slice(3)).toEqual(["refund c", "refund a"]);
    expect(outcome.output).toBe(
      "declined. Its changes here were undone. Effects outside: payment (b) happened and was not undone: undoing it failed 3 times: bank closed.",
    );
    expect(ledger.closings()[0]).toMatchObject({ effects: "happened" });
    const plain = bank();
    const without: EffectSpec = { run: (args, context) => plain.spec.run(args, context) };
    const other = rig([paying(without)]);
    const left = await other.transactions.run({ id: "c1", name: "charge", input: { keys: ["a"], fail: true } });
    expect(left.output).toContain("payment (a) happened and was not undone: no way to undo it is declared here");
    expect((await other.transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } })).output).toEqual([
      { receipt: 0 },
    ]);
    expect(plain.did).toEqual(["pay a"]);
  });

  test("[TX-26] whose undo never answers does not hold the session for ever", async () => {
    const { spec } = bank({ undo: () => new Promise<void>(() => {}) });
    const { transactions, clock } = rig([paying(spec)]);
    const running = transactions.run({ id: "c1", name: "charge", input: { keys: ["a"], fail: true } });
    for (let n = 0; n < 3; n += 1) {
      await quiet();
      clock.advance(30_000);
    }
    expect((await running).output).toContain("no answer within 30000 ms");
  });

  test("[TX-27] that failed while it ran is unknown, and its key is not used again", async () => {
    const { spec } = bank({ run: () => Promise.reject(new Error("connection reset")) });
    const { transactions, ledger } = rig([paying(spec)]);
    const outcome = await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } });
    expect(outcome.output).toContain("payment (a) may have happened");
    expect(ledger.closings()[0]).toMatchObject({ effects: "unknown" });
    expect(await transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } })).toMatchObject({
      reason: "EFFECT_UNKNOWN",
    });
  });

  test("[TX-27] that says it did not happen may be tried again", async () => {
    let declines = 1;
    const { spec } = bank({
      run: async () => {
        declines -= 1;
        if (declines >= 0) throw new EffectDidNotHappen("card declined");
        return "paid";
      },
    });
    const { transactions, ledger } = rig([paying(spec)]);
    expect(await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } })).toMatchObject({
      ok: false,
      effects: [],
    });
    expect(await transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } })).toMatchObject({ ok: true });
    expect(ledger.kinds("c1")).toEqual(["opened", "effect-opened", "effect-undone", "closed"]);
  });

  test("[TX-27] still running when its call ends is unknown then, and undone when it turns out to have happened", async () => {
    const done = Promise.withResolvers<Json>();
    const { did, spec } = bank({ run: () => done.promise });
    const { transactions, clock } = rig([{ ...paying(spec), deadlineMs: 10 }]);
    const running = transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } });
    await quiet();
    clock.advance(10);
    expect((await running).output).toContain("payment (a) may have happened: it had not ended when the call did");
    done.resolve({ receipt: 1 });
    await quiet();
    expect(did).toEqual(["refund a 1"]);
  });

  test("[TX-25] still running when its call ends is undone before its key is used again, when the store refused that at first", async () => {
    const paid = [Promise.withResolvers<Json>(), Promise.withResolvers<Json>()];
    let runs = 0;
    const { did, spec } = bank({ run: () => paid[runs++]?.promise });
    const { transactions, clock, ledger } = rig([{ ...paying(spec), deadlineMs: 10 }]);
    const charge = (id: string) => transactions.run({ id, name: "charge", input: { keys: ["a"] } });
    const running = charge("c1");
    await quiet();
    clock.advance(10);
    expect(await running).toMatchObject({ ok: false });
    ledger.failOn = "effect-undoing";
    paid[0]?.resolve({ receipt: 1 });
    await quiet();
    ledger.failOn = undefined;
    paid[1]?.resolve({ receipt: 2 });
    expect(await charge("c2")).toMatchObject({ ok: true, output: [{ receipt: 2 }] });
    expect(did).toEqual(["refund a 1"]);
  });

  describe("that is over, and whose end the store refused to have written down", () => {
    /** Pays while the store refuses to hear of the end of it; then goes on, fails or rolls back the part in which it paid. */
    const paysOnce = (spec: EffectSpec, ledger: () => ListLedger, kind: string) =>
      writes<{ readonly goesOn: "stays" | "fails" | "rolls back" | "asks again" }>(
        "charge",
        async ({ goesOn }, call) => {
          const pay = () => call.effect("payment", { n: 1 }, { key: "a" });
          ledger().failOn = kind;
          const breaksOff = async () => {
            await pay();
            throw new Error("for a reason of its own");
          };
          await (goesOn === "rolls back" ? call.transaction(breaksOff) : pay()).catch(() => {});
          ledger().failOn = undefined;
          if (goesOn === "asks again") return pay();
          return goesOn === "fails" ? call.fail("no", "no") : "ok";
        },
        { effects: { payment: spec } },
      );
    const charged = (kind: string, more?: Partial<EffectSpec>) => {
      const { did, spec } = bank(more);
      const made: ReturnType<typeof rig> = rig([paysOnce(spec, () => made.ledger, kind)]);
      const charge = (id: string, goesOn: string) => made.transactions.run({ id, name: "charge", input: { goesOn } });
      return { did, charge, ...made };
    };

    test.each(["stays", "asks again"])(
      "[TX-51] is known to have happened, here and, with the end of its call that %s, in the journal",
      async (goesOn) => {
        const { did, charge, ledger } = charged("effect-done");
        expect((await charge("c1", goesOn)).effects).toMatchObject([{ key: "a", is: "happened" }]);
        expect(ledger.kinds("c1")).toEqual(["opened", "effect-opened", "effect-done", "closed"]);
        expect(ledger.closings()).toMatchObject([{ effects: "happened" }]);
        expect(did).toEqual(["pay a"]);
      },
    );

    test.each(["fails", "rolls back"])("[TX-51] is undone with what had asked for it and %s", async (goesOn) => {
      const { did, charge, ledger } = charged("effect-done");
      expect((await charge("c1", goesOn)).ok).toBe(goesOn !== "fails");
      expect(did).toEqual(["pay a", "refund a 1"]);
      expect(ledger.kinds("c1").filter((kind) => kind.startsWith("effect-un"))).toEqual([
        "effect-undoing",
        "effect-undone",
      ]);
      expect(ledger.closings()).toMatchObject([{ effects: "none" }]);
    });

    test("[TX-51] is known here all the same when the store never hears of it", async () => {
      const { did, charge, ledger, transactions } = charged("effect-done");
      ledger.effectDone = () => Promise.reject(new Error("cannot write effect-done"));
      expect((await charge("c1", "asks again")).output).toEqual({ receipt: 1 });
      expect(transactions.effects.of("c1")).toMatchObject([{ key: "a", is: "happened" }]);
      await transactions.undoEffects(["c1"]);
      expect(did).toEqual(["pay a", "refund a 1"]);
    });

    test("[TX-51] is known not to have happened: its key is free", async () => {
      let declines = 1;
      const run = () => {
        declines -= 1;
        if (declines >= 0) throw new EffectDidNotHappen("card declined");
        return "paid";
      };
      const { charge, ledger } = charged("effect-undone", { run });
      expect(await charge("c1", "asks again")).toMatchObject({ output: "paid", effects: [{ is: "happened" }] });
      expect(ledger.closings()).toMatchObject([{ effects: "happened" }]);
    });
  });

  test("[TX-24] that the tool does not declare, or whose data cannot be kept, is not done", async () => {
    const { did, spec } = bank({ run: async () => new Date(0) as unknown as Json });
    const dated = { at: new Date(0) } as unknown as Json;
    const tool = defineTool<{ name: string; dates: boolean }>({
      name: "charge",
      access: "external",
      effects: { payment: spec },
      run: ({ name, dates }, call) => call.effect(name, dates ? dated : {}, { key: "k" }),
    });
    const { transactions } = rig([tool]);
    const reasons: string[] = [];
    for (const [id, name, dates] of [
      ["c1", "toString", false],
      ["c2", "payment", true],
      ["c3", "payment", false],
    ] as const)
      reasons.push((await transactions.run({ id, name: "charge", input: { name, dates } })).reason);
    expect(reasons).toEqual(["EFFECT_UNDECLARED", "VALUE_NOT_JSON", "VALUE_NOT_JSON"]);
    expect(did).toEqual([]);
  });

  test("[TX-28] of an attempt that was given up is undone when the next does not ask for it", async () => {
    const { did, spec } = bank();
    let first = true;
    const tool = defineTool({
      name: "charge",
      access: "external",
      retryable: true,
      effects: { payment: spec },
      async run(_, call) {
        call.get(counter);
        await call.effect("payment", { n: 0 }, { key: "both" });
        await call.effect("payment", { n: 1 }, { key: first ? "first" : "second" });
        if (first) await quiet();
        first = false;
      },
    });
    const { transactions } = rig([tool, writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    const [charged] = await transactions.runAll([
      { id: "c1", name: "charge", input: {} },
      { id: "c2", name: "add", input: {} },
    ]);
    expect(did).toEqual(["pay both", "pay first", "pay second", "refund first 1"]);
    expect(charged?.attempts).toBe(2);
  });

  test("[TX-52] of an attempt that was given up is told, in the records of that call and of those inside it, as about to be undone", async () => {
    const { did, spec } = bank();
    const forGood: EffectSpec = { run: (args, context) => spec.run(args, context) };
    const charge = writes<{ readonly key: string }>(
      "charge",
      ({ key }, call) => call.effect(key === "forgood" ? "mail" : "payment", { n: 0 }, { key }),
      { effects: { payment: spec, mail: forGood } },
    );
    const outer = writes(
      "outer",
      async (_, call) => {
        const isFirst = call.get(counter) === 0;
        await quiet();
        if (isFirst) await call.effect("payment", { n: 1 }, { key: "own" });
        for (const key of isFirst ? ["both", "first", "forgood"] : ["both"])
          await call.run({ name: "charge", input: { key } });
      },
      { effects: { payment: spec } },
    );
    const { transactions, ledger } = rig([charge, outer, writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    const [outcome] = await transactions.runAll([
      { id: "c1", name: "outer", input: {} },
      { id: "c2", name: "add", input: {} },
    ]);
    expect(did.filter((line) => line.startsWith("refund"))).toEqual(["refund first 0", "refund own 1"]);
    const ends = new Map(ledger.closings().map((closing) => [closing.callId, closing]));
    const said = (id: string) => /Effects outside: (.*?)[.] It had run/.exec(ends.get(id)?.output as string)?.[1];
    expect([said("c1.1"), said("c1.2"), said("c1.3")]).toEqual([
      "payment (both) happened",
      "payment (first) happened: it is about to be undone",
      "mail (forgood) happened and was not undone: no way to undo it is declared here",
    ]);
    expect(ends.get("c1")).toMatchObject({ status: "success", effects: "happened" });
    expect(outcome?.effects.map(({ key, is }) => [key, is])).toEqual([
      ["own", "undone"],
      ["first", "undone"],
      ["forgood", "not-undone"],
      ["both", "happened"],
    ]);
  });

  test("[TX-28] so is one of a call inside an attempt that was given up, unless a call inside the next asks for it", async () => {
    const { did, spec } = bank();
    const charge = writes<{ readonly key: string }>(
      "charge",
      ({ key }, call) => call.effect("payment", { n: 0 }, { key }),
      { effects: { payment: spec } },
    );
    const outer = writes("outer", async (_, call) => {
      const isFirst = call.get(counter) === 0;
      await quiet();
      for (const key of isFirst ? ["both", "first"] : ["both"]) await call.run({ name: "charge", input: { key } });
    });
    const { transactions } = rig([charge, outer, writes("add", (_, call) => call.dispatch(counter.added(1)))]);
    const [outcome] = await transactions.runAll([
      { id: "c1", name: "outer", input: {} },
      { id: "c2", name: "add", input: {} },
    ]);
    expect(outcome).toMatchObject({ ok: true, attempts: 2 });
    expect(did).toEqual(["pay both", "pay first", "refund first 0"]);
    await transactions.undoEffects(["c1"]);
    expect(did.slice(3)).toEqual(["refund both 0"]);
  });

  test("[TX-25] is undone later, too, when the store refused the undoing of one before it", async () => {
    const { did, spec } = bank();
    const { transactions, ledger } = rig([paying(spec)]);
    expect(await transactions.run({ id: "c1", name: "charge", input: { keys: ["a", "b", "c"] } })).toMatchObject({
      ok: true,
    });
    ledger.failOn = "effect-undoing";
    await expect(transactions.undoEffects(["c1"])).rejects.toThrow("cannot write effect-undoing");
    ledger.failOn = undefined;
    await transactions.undoEffects(["another"]);
    expect(did.map((one) => one.slice(0, 8))).toEqual(["pay a", "pay b", "pay c", "refund c", "refund b", "refund a"]);
  });

  test("[TX-49] is undone when the call that was discarded had left it to one which the store then refused", async () => {
    const { did, spec } = bank();
    const refused = Promise.withResolvers<void>();
    const ledger = new ListLedger();
    const book = new EffectBook(ledger, new FixedClock());
    const about = { tool: paying(spec), name: "payment", args: { n: 0 }, signal: new AbortController().signal };
    for (const key of ["a", "b"]) await book.run({ ...about, key, callId: "c1" });
    ledger.effectJoined = () => refused.promise;
    const joining = ["a", "b"].map((key, nth) => book.run({ ...about, key, callId: `c${nth + 2}` }));
    await quiet();
    await book.undo(["c1"], () => spec);
    expect(did).toEqual(["pay a", "pay b"]);
    refused.reject(new Error("no disk"));
    for (const one of joining) await expect(one).rejects.toThrow("no disk");
    expect(did.slice(2).toSorted()).toEqual(["refund a 0", "refund b 0"]);
    expect([...book.owners()]).toEqual([]);
  });

  test("[TX-49] is refused to all of a call who ask for it at once, when the store refuses one", async () => {
    const twice = writes(
      "twice",
      async (_, call) => {
        const asked = [1, 2].map((n) => call.effect("payment", { n }, { key: "a" }));
        return (await Promise.allSettled(asked)).map(({ status }) => status);
      },
      { effects: { payment: bank().spec } },
    );
    const { transactions, ledger } = rig([twice]);
    const ran = async (id: string) => (await transactions.run({ id, name: "twice", input: {} })).output;
    expect(await ran("c1")).toEqual(["fulfilled", "fulfilled"]);
    ledger.failOn = "effect-joined";
    expect(await ran("c2")).toEqual(["rejected", "rejected"]);
  });

  test("[TX-49] is let go of in the journal, too, by a call whose joining may have been written down", async () => {
    const { did, spec } = bank();
    const { transactions, ledger } = rig([paying(spec)]);
    await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } });
    ledger.failOn = "effect-joined";
    expect(await transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } })).toMatchObject({ ok: false });
    expect(ledger.kinds("c2")).toEqual(["opened", "effect-left", "closed"]);
    await transactions.undoEffects(["c1"]);
    expect(did).toEqual(["pay a", "refund a 0"]);
  });

  test.each(["effect-undoing", "effect-undone", "effect-not-undone"])(
    "[TX-25] whose undoing the store refused at %s is undone with the next discarded call, and before its key is used again",
    async (line) => {
      const { did, spec } = bank();
      const asked = { ...spec, ...(line === "effect-not-undone" ? { undo: undefined } : {}) } as EffectSpec;
      for (const again of ["another is discarded", "it is asked for again"]) {
        const { transactions, ledger } = rig([paying(asked)]);
        await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } });
        ledger.failOn = line;
        await expect(transactions.undoEffects(["c1"])).rejects.toThrow(`cannot write ${line}`);
        ledger.failOn = undefined;
        did.length = 0;
        if (again === "another is discarded") await transactions.undoEffects(["c7"]);
        else await transactions.run({ id: "c2", name: "charge", input: { keys: ["a"] } });
        expect(ledger.kinds("c1").at(-1)).toBe(line === "effect-not-undone" ? line : "effect-undone");
        if (again === "it is asked for again")
          expect(did).toEqual(line === "effect-not-undone" ? [] : ["refund a 0", "pay a"]);
      }
    },
  );

  test("[TX-29] is found again by another process: done stays done, open becomes unknown, and anybody can undo it", async () => {
    const { did, spec } = bank();
    const book = new EffectBook(new ListLedger(), new FixedClock());
    const entry = { tool: "charge", name: "payment", callId: "c1", args: { n: 1 }, generation: 0 };
    book.recall({ ...entry, key: "a" }, { is: "done", result: { receipt: 5 } }, ["c1"]);
    book.recall({ ...entry, key: "b" }, { is: "open" }, ["c1"]);
    const request = {
      tool: paying(spec),
      callId: "c9",
      name: "payment",
      args: {},
      signal: new AbortController().signal,
    };
    expect(await book.run({ ...request, key: "a" })).toEqual({ receipt: 5 });
    await expect(book.run({ ...request, key: "b" })).rejects.toMatchObject({ code: "EFFECT_UNKNOWN" });
    expect(book.planUndo(["c1", "c9"], () => spec).map(({ key, is }) => [key, is])).toEqual([
      ["b", "unknown"],
      ["a", "happened"],
    ]);
    expect(book.planUndo(["c1"], () => spec).map(({ key }) => key)).toEqual(["b"]);
    await book.undo(["c1", "c9"], () => spec);
    expect(did).toEqual(["refund a 5"]);
  });
});

describe("an effect that an earlier process was about to undo", () => {
  const entry = { tool: "charge", name: "payment", key: "a", callId: "c1", args: { n: 1 }, generation: 0 };
  const request = { callId: "c9", name: "payment", args: {}, key: "a", signal: new AbortController().signal };
  const undoing = { is: "undoing", result: { receipt: 5 }, begun: true } as const;

  test("[TX-27] [TX-29] stays what it is where nobody here can go on with it, and is told so", async () => {
    const ledger = new ListLedger();
    const book = new EffectBook(ledger, new FixedClock());
    book.recall(entry, undoing, ["c1"]);
    const unknown = [{ tool: "charge", name: "payment", key: "a", is: "unknown", detail: "undoing it had begun" }];
    expect(book.of("c1")).toEqual(unknown);
    expect(book.planUndo(["c1"], () => undefined)).toEqual(unknown);
    expect(await book.undo(["c1"], () => undefined)).toEqual(unknown);
    expect(ledger.lines).toEqual([]);
  });

  test("[TX-29] is gone on with before it is done again under the same key", async () => {
    const { did, spec } = bank();
    const book = new EffectBook(new ListLedger(), new FixedClock());
    book.recall(entry, undoing, []);
    expect(await book.run({ ...request, tool: paying(spec) })).toMatchObject({});
    expect(did).toEqual(["refund a 5", "pay a"]);
  });

  test("[TX-27] is the origin's in a fork, and is not done again there", async () => {
    const { did, spec } = bank();
    const book = new EffectBook(new ListLedger(), new FixedClock());
    book.recall(entry, undoing, ["c1"]);
    book.disown();
    expect(await book.undo(["c1"], () => spec)).toEqual([]);
    await expect(book.run({ ...request, tool: paying(spec) })).rejects.toMatchObject({ code: "EFFECT_UNKNOWN" });
    expect(did).toEqual([]);
  });
});

test("[TX-43] nothing is remembered of calls that have ended, nor of those inside them, however they ended", async () => {
  const { spec } = bank();
  const pays = (name: string, access: "write" | "external") =>
    defineTool<Pay>({
      name,
      access,
      effects: { payment: spec },
      async run({ keys, fail }, call) {
        for (const key of keys) await call.effect("payment", { n: 1 }, { key });
        return fail === true ? call.fail("declined", "declined") : "paid";
      },
    });
  const around = writes<Pay & { readonly inner?: boolean }>("around", async ({ fail, inner, ...input }, call) => {
    for (const one of input.keys) await call.run({ name: "pay", input: { keys: [one], fail: inner } });
    return fail === true ? call.fail("no", "no") : "paid";
  });
  const undeclared = writes("undeclared", (_, call) => call.effect("gift", {}, { key: "g" }).catch(() => "none"));
  const { transactions } = rig([pays("pay", "write"), around, undeclared]);
  expect(await transactions.run({ id: "u", name: "undeclared", input: {} })).toMatchObject({ ok: true });
  const sizes = [transactions.effects.underWay];
  for (const [nth, ends] of [{}, { fail: true }, { inner: true }, { inner: true, fail: true }].entries()) {
    const keys = ["a", "b", "c"].map((key) => `${key}${nth}`);
    await transactions.run({ id: `c${nth}`, name: "around", input: { keys, ...ends } });
    await transactions.run({ id: `d${nth}`, name: "pay", input: { keys: ["mine"], ...ends } });
    sizes.push(transactions.effects.underWay);
  }
  expect(sizes).toEqual([0, 0, 0, 0, 0]);
  expect(transactions.effects.isReliedOnBy("c0.1")).toBe(true);
});

test("[TX-43] what goes on asking behind the end of its call is not remembered either", async () => {
  const gate = Promise.withResolvers<void>();
  const { did, spec } = bank();
  const { transactions } = rig([
    paying({ ...spec, run: (args, about) => gate.promise.then(() => spec.run(args, about)) }),
  ]);
  const stop = new AbortController();
  // The second waits for the first one's effect, which is undone as soon as it is done: then it would ask for it anew.
  const calls = ["c1", "c2"].map((id) =>
    transactions.run({ id, name: "charge", input: { keys: ["a"] } }, { signal: stop.signal }),
  );
  await quiet();
  stop.abort();
  expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([false, false]);
  gate.resolve();
  await quiet();
  expect(did).toEqual(["pay a", "refund a 0"]);
  expect(transactions.effects.underWay).toBe(0);
});

describe("an effect whose second life", () => {
  test("[TX-25] cannot be written down leaves what was known of the first: the next attempt is a further generation", async () => {
    const { did, spec } = bank();
    const { transactions, ledger } = rig([paying(spec)]);
    const pay = (id: string, fail = false) => transactions.run({ id, name: "charge", input: { keys: ["a"], fail } });
    await pay("c1", true);
    ledger.failOn = "effect-opened";
    expect(await pay("c2")).toMatchObject({ ok: false });
    ledger.failOn = undefined;
    expect(await pay("c3")).toMatchObject({ ok: true });
    expect(did).toEqual(["pay a", "refund a 0", "pay a"]);
  });

  test("[TX-26] is undone by somebody who throws no error, and that is told in its words", async () => {
    const { spec } = bank({
      undo: () => {
        throw "no such account"; // oxlint-disable-line typescript/only-throw-error
      },
    });
    const { transactions } = rig([paying(spec)]);
    const outcome = await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"], fail: true } });
    expect(outcome.effects).toMatchObject([{ is: "not-undone", detail: expect.stringContaining("no such account") }]);
  });

  test("[TX-24] answers nothing, which is kept as nothing", async () => {
    const { spec } = bank({ run: (() => undefined) as never });
    const { transactions } = rig([paying(spec)]);
    expect((await transactions.run({ id: "c1", name: "charge", input: { keys: ["a"] } })).output).toEqual([null]);
  });
});

/** A book of effects without calls around it. */
function booked() {
  const { did, spec } = bank();
  const ledger = new ListLedger();
  const book = new EffectBook(ledger, new FixedClock());
  const tool = paying(spec);
  const request = (callId: string) =>
    book.run({ tool, callId, name: "payment", args: { n: 1 }, key: "a", signal: new AbortController().signal });
  return { did, spec, ledger, book, request };
}
