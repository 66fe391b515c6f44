import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import { between, collect, MemoryDisk, memoryDeps } from "../../test/support/stores.ts";
import { HoldfastError } from "../base/errors.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import { contextConfig } from "../history/config.ts";
import { compressWith } from "./compress-with.ts";
import { createHoldfast, Holdfast } from "./holdfast.ts";
import type { RunEvent } from "./events.ts";
import { RunBudget } from "./limits.ts";
import type { Session } from "./session.ts";
import { summariseWith } from "./summarise-with.ts";
import { repairMessages } from "../history/messages.ts";
import { ensureCallOutputsPresent, normalize, removeOrphanOutputs } from "../history/normalize.ts";
import { repairHistory } from "../history/repair.ts";
import { loadSession, recoverFromCrash } from "../history/session.ts";
import { trimOldHistory } from "../history/trim.ts";

/** A session that a crash cut off, and the wish to look at it as it is. */
const CUT_OFF = '[{"kind":"call","callKind":"function","callId":"c1","name":"ls"}]';
const AS_IT_IS = contextConfig({ auto_recover_from_crash: false });

describe("bounds of a turn that cannot work", () => {
  test("[LOOP-7] are refused by their names", async () => {
    const { session } = await opened();
    const model = scripted([{ text: "ok", usage: { input: 1, output: 1 } }]);
    for (const bad of [{ steps: -1 }, { timeMs: Number.NaN }, { cost: 1 }])
      await expect(watch(session.run("go", { model, limits: bad }))).rejects.toMatchObject({ code: "BAD_OPTION" });
    await session.close();
  });

  const unpriced: readonly (readonly [string, () => number, object])[] = [
    [
      "throws",
      () => {
        throw new Error("no price of that model");
      },
      { details: { model: "scripted:scripted" }, cause: new Error("no price of that model") },
    ],
    ["is no number", () => Number.NaN, { details: { model: "scripted:scripted", value: "NaN" } }],
    ["is below nothing", () => -1, { details: { model: "scripted:scripted", value: "-1" } }],
    ["is above everything", () => Infinity, { details: { model: "scripted:scripted", value: "Infinity" } }],
    ["is a text", () => "0" as never, { details: { model: "scripted:scripted", value: "0" } }],
    ["is forgotten", () => undefined as never, { details: { model: "scripted:scripted", value: "undefined" } }],
  ];

  describe.each(unpriced)("a price that %s", (_, price, failure) => {
    const usage = { input: 3, output: 1 };
    const error = { code: "PRICE_FAILED", ...failure };
    const told = (events: readonly RunEvent[]) => events.filter(({ kind }) => kind === "price-failed");

    test("[LOOP-28] [LOOP-1] meets a bound of cost: nothing more is asked, and the calls are answered", async () => {
      const { session } = await opened();
      const model = scripted([
        { calls: [{ name: "step", input: { n: "a" } }], usage },
        { text: "ok", usage },
      ]);
      const { events, end } = await watch(session.run("go", { model, limits: { cost: 1, price } }));
      expect(told(events)).toMatchObject([{ error }]);
      expect(events.at(-1)).toEqual({ kind: "end", end });
      expect(end).toMatchObject({ status: "limit", limit: "cost", spent: { steps: 1, input: 3, cost: 0 } });
      expect(await session.files.exists("a.txt")).toBe(true);
      const entries = await collect(session.read());
      expect(entries.filter(({ kind }) => kind === "fault-raised")).toMatchObject([
        { fault: "price-failed", detail: { model: "scripted:scripted", failure: expect.any(String) } },
      ]);
      expect(entries.at(-1)).toMatchObject({ kind: "turn-ended", status: "limit" });
    });

    test("[LOOP-28] costs the sum and no turn where nothing hangs on it, and is told once", async () => {
      const { session } = await opened();
      const model = scripted([
        { calls: [{ name: "step", input: { n: "a" } }], usage },
        { text: "ok", usage },
      ]);
      const { events, end } = await watch(session.run("go", { model, limits: { price } }));
      expect(told(events)).toMatchObject([{ error }]);
      expect(end).toMatchObject({ status: "done", text: "ok", spent: { input: 6, cost: 0 } });
    });
  });

  test("[LOOP-28] an amount that is told again with a price is priced, and nothing has failed", async () => {
    const { session } = await opened();
    let asked = 0;
    const price = () => {
      asked += 1;
      if (asked === 1) throw new Error("not yet");
      return 2;
    };
    const model = scripted([{ text: "ok", usage: { input: 1, output: 1 } }]);
    const { events, end } = await watch(session.run("go", { model, limits: { cost: 10, price } }));
    expect(asked).toBe(2);
    expect(events.map(({ kind }) => kind)).not.toContain("price-failed");
    expect(end).toMatchObject({ status: "done", spent: { cost: 2 } });
  });

  test("[LOOP-28] a turn that works for another meets its bound with the price of that one, which tells it", async () => {
    const { session } = await opened();
    const price = () => {
      throw new Error("no price");
    };
    const outer = new RunBudget({ cost: 1, price }, session.state);
    const inner = new RunBudget({}, session.state, outer);
    inner.use("e", { input: 1, output: 1 }, "m");
    expect([inner.met, outer.met]).toEqual(["cost", "cost"]);
    expect([inner.unpriced, outer.unpriced?.code]).toEqual([undefined, "PRICE_FAILED"]);
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

  test("[TURN-85] a conversation whose name only begins like theirs is listed and deleted like any other", async () => {
    const { holdfast, session } = await opened();
    await session.close();
    await (await holdfast.open("pages:of-my-book")).close();
    const ids = async () => (await collect(holdfast.sessions())).map(({ id }) => id);
    expect(await ids()).toEqual(["pages:of-my-book", "s"]);
    await holdfast.delete("pages:of-my-book");
    expect(await ids()).toEqual(["s"]);
  });

  test("[TURN-85] no conversation is made under their names, where nobody would see it", async () => {
    const { holdfast, session } = await opened();
    await expect(holdfast.open("pages:user")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
    await expect(holdfast.fork("s", { as: "pages:user" })).rejects.toMatchObject({ code: "SESSION_BAD_ID" });
    expect(await holdfast.store.reading((read) => read.sessions("", 9))).toHaveLength(1);
    await session.close();
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

describe("what a request had shown, looked at later", () => {
  const asked = async (session: Session, word: string, usage?: object) =>
    watch(
      session.run(word, {
        model: scripted([{ text: `said ${word}`, ...(usage === undefined ? {} : { usage }) } as never]),
      }),
    );

  test("[CLI-8] requests that a rewind took back are not counted among them, and what they used is", async () => {
    const { session, holdfast } = await opened();
    await asked(session, "one", { input: 10, output: 1 });
    const boundary = await run(session, "a");
    await asked(session, "two", { input: 20, output: 2, cacheRead: 5 });
    await session.rewind({ before: boundary, scope: "files" });
    expect((await (await holdfast.look("s")).view())?.turn).toBe(1);
    await asked(session, "three", { input: 30, output: 3 });
    const seen = await (await holdfast.look("s")).view();
    expect(seen?.spent).toEqual({ input: 60, output: 6, cacheRead: 5 });
    await session.close();
  });

  test("[CLI-8] a conversation that was taken back shows the request before it", async () => {
    const { session, holdfast } = await opened();
    await asked(session, "one", { input: 10, output: 1 });
    const boundary = await run(session, "a");
    await asked(session, "two", { input: 20, output: 2 });
    await session.rewind({ before: boundary, scope: "all" });
    const seen = await (await holdfast.look("s")).view();
    expect([seen?.turn, seen?.spent.input]).toEqual([0, 30]);
    expect(JSON.stringify(seen?.view?.items ?? [])).not.toContain("two");
    await session.close();
  });

  test("[CLI-8] with a compressor of its own the kernel puts a squeezed request together again", async () => {
    const compressor = {
      name: "short",
      version: "1",
      compress: ({ text }: { readonly text: string }) => ({ text: text.slice(0, 40), leftOut: "the rest" }),
    };
    const read = writes("read_file", () => longText(300), { access: "read" });
    const { session, holdfast } = await opened(undefined, { tools: [read], context: { window: 6_000, compressor } });
    const calls = Array.from({ length: 8 }, () => ({ calls: [{ name: "read_file", input: {} }] }));
    await watch(session.run("read", { model: scripted([...calls, { text: "ok" }]) }));
    const seen = await (await holdfast.look("s")).view();
    expect(seen?.view?.entries.length).toBe(session.context.view?.entries.length);
    expect(seen?.view?.tokens).toBe(session.context.view?.tokens);
    await session.close();
  });
});

const KIND = { id: "R1", text: "Be kind.", scope: "project", source: "me" } as const;

describe("[ID-16] what a kernel or a turn is told and cannot be meant", () => {
  test("who is misunderstood is told what would work", async () => {
    const wrong = createHoldfast({ store: "sessions.db" } as never);
    await expect(wrong).rejects.toMatchObject({
      details: { option: "store", wants: 'a store, or what sqlite("…") returns' },
    });
    const { session } = await opened();
    const turn = watch(session.run("go", { model: "claude" } as never));
    await expect(turn).rejects.toMatchObject({
      details: { option: "model", wants: 'a model, e.g. what anthropic({ model: "…" }) returns' },
    });
    await session.close();
  });

  test("a call that names no tool is refused to whoever asked for it, and opens nothing", async () => {
    const { session } = await opened();
    const details = { option: "call.name", value: "undefined", wants: expect.stringContaining("{ name, input }") };
    for (const call of ["read_file", undefined, { tool: "read_file", input: {} }] as never[])
      for (const asking of [session.runTool(call), session.runTools([call]), session.begin(call)])
        await expect(asking).rejects.toMatchObject({ code: "BAD_OPTION", details });
    expect((await collect(session.read())).map(({ kind }) => kind)).not.toContain("call-opened");
    await session.close();
  });

  test.each([
    [{ telemetry: {} }, "telemetry.sinks"],
    [{ telemetry: { sinks: [{}] } }, "telemetry.sinks[0]"],
    [{ telemetry: { sinks: [], contents: true } }, "telemetry.contents"],
    [{ retention: { record: 5 } }, "retention.record"],
    [{ checkpoints: { limit: 0 } }, "checkpoints.limit"],
    [{ prompt: {} }, "prompt"],
    [{ context: { windows: 5 } }, "context.windows"],
    [{ context: { window: Infinity } }, "context.window"],
    [{ context: { window: Number.NaN } }, "context.window"],
    [{ context: { marks: { high: 95 } } }, "context.marks.high"],
    [{ context: { compaction: {} } }, "context.compaction.at"],
    [{ context: { rules: [{ text: "Be kind." }] } }, "context.rules[0].id"],
    [{ context: { rules: ["Be kind."] } }, "context.rules[0]"],
    [{ context: { rules: [KIND, { ...KIND, id: "R2" }, { ...KIND, text: "Be brief." }] } }, "context.rules[2].id"],
    [{ context: { rules: [{ id: "R1", text: "Be kind.", scope: "galaxy", source: "me" }] } }, "context.rules[0].scope"],
    [{ context: { preferences: [{ id: "P1", text: "Tabs.", source: "me" }] } }, "context.preferences[0].scope"],
    [{ context: { project: false } }, "context.project"],
    [{ writeback: { remember: { scopes: ["world"] } } }, "writeback.remember.scopes[0]"],
    [{ exec: { driver: "docker" } }, "exec.driver"],
    [{ exec: { limits: { timeMS: 5 } } }, "exec.limits.timeMS"],
    [{ tools: [null] }, "tools[0]"],
    [{ tools: [{ name: "t", run() {} }] }, "tools[0]"],
    [{ slices: [{}] }, "slices[0]"],
    [{ slices: [null] }, "slices[0]"],
    [{ policies: [{ name: "p" }] }, "policies[0]"],
    [{ parts: [{ name: "p" }] }, "parts[0]"],
    [{ agents: [{ name: "a", description: "b" }] }, "agents[0].model"],
    [{ agents: [{ name: "a", description: "b", model: { ask() {} }, limits: { step: 5 } }] }, "agents[0].limits.step"],
    [{ agents: [{ name: "a", description: "b", model: { ask() {} }, limits: { cost: 5 } }] }, "agents[0].limits"],
    [{ agents: [{ name: "a", description: "b", model: { ask() {} }, label: "mine" }] }, "agents[0].label"],
    [{ exec: { limits: { timeMs: 0 } } }, "exec.limits.timeMs"],
    [{ workspace: { path: "." } }, "workspace.path"],
    [{ workspace: {} }, "workspace.root"],
  ])("createHoldfast(%j) is refused by its name, and no store is opened", async (given, option) => {
    let isOpened = false;
    const store: StoreSource = {
      open: () => {
        isOpened = true;
        throw new Error("opened");
      },
    };
    const refused = await createHoldfast({ store, ...given } as never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "BAD_OPTION", details: { option } });
    expect(isOpened).toBe(false);
  });

  test("a store that has an open() of its own is that store, and is not opened as if it were told where one is", async () => {
    const { store } = memoryDeps();
    const own = Object.assign(store, { open: () => expect.unreachable("opened once more") });
    const holdfast = await createHoldfast({ store: own });
    expect(holdfast.store).toBe(own);
    await holdfast.close();
  });

  test("what may be meant is taken: no end of attempts, a window that was worked out, down to nothing", async () => {
    const { session } = await opened(new MemoryDisk(), { context: { window: 100_000 * 1.1, marks: { low: 0 } } });
    const turn = { model: scripted([{ text: "ok" }]), retry: { attempts: Infinity }, window: 110_000.5 };
    expect((await watch(session.run("go", turn))).end.status).toBe("done");
    await session.close();
    const wide = { context: { marks: { low: 0 }, window: 100_000 * 1.1 }, exec: { limits: { timeMs: Infinity } } };
    const { store } = memoryDeps();
    await (await createHoldfast({ store, ...wide })).close();
  });

  test.each([
    [{ limits: { step: 5 } }, "limits.step"],
    [{ retry: { attempts: 0 } }, "retry.attempts"],
    [{ toolChoice: "any" }, "toolChoice"],
    [{ reasoning: "much" }, "reasoning"],
    [{ temprature: 1 }, "temprature"],
    [{ temperature: Infinity }, "temperature"],
    [{ window: Infinity }, "window"],
    [{ history: {} }, "history.enforceHistoryInvariants"],
    [{ history: { enforce_history_invariants: true } }, "history.enforce_history_invariants"],
    [{ history: { ...contextConfig(), enforceHistoryInvariants: "no" } }, "history.enforceHistoryInvariants"],
    [{ model: undefined }, "model"],
    [{ model: "claude" }, "model"],
  ])("run(…, %j) is refused by its name, and nothing is written down", async (given, option) => {
    const { session } = await opened();
    const before = session.journal.head.seq;
    const turn = watch(session.run("go", { model: scripted([{ text: "ok" }]), ...given } as never));
    await expect(turn).rejects.toMatchObject({ code: "BAD_OPTION", details: { option } });
    expect(session.journal.head.seq).toBe(before);
    await session.close();
  });

  test.each([
    ["summariseWith", () => summariseWith(scripted([]), { most: Number.NaN }), "most"],
    ["summariseWith", () => summariseWith(scripted([]), { instruction: "Be brief." } as never), "instruction"],
    ["compressWith", () => compressWith(scripted([]), { from: "6000" } as never), "from"],
    ["compressWith", () => compressWith(scripted([]), { longest: 5 } as never), "longest"],
    ["compressWith", () => compressWith("claude" as never), "model"],
    ["summariseWith", () => summariseWith("claude" as never), "model"],
    ["repairMessages", () => repairMessages([], undefined as never), "options"],
    ["repairMessages", () => repairMessages([], { mode: "strict" } as never), "format"],
    ["repairMessages", () => repairMessages([], { format: "anthropic", moode: "strict" } as never), "moode"],
    ["repairMessages", () => repairMessages([], { format: "anthropic", tools: ["grep"] } as never), "tools"],
    ["normalize", () => normalize([], { mode: "strickt" } as never), "mode"],
    ["normalize", () => normalize([], { format: "anthropic" } as never), "format"],
    ["normalize", () => normalize([], { profile: "claude" } as never), "profile"],
    ["repairHistory", () => repairHistory([], { onyl: ["orphan-output"] } as never), "onyl"],
    ["repairHistory", () => repairHistory([], { only: ["orphan-outputs"] } as never), "only[0]"],
    ["ensureCallOutputsPresent", () => ensureCallOutputsPresent([], { inflight: new Map() } as never), "inflight"],
    ["removeOrphanOutputs", () => removeOrphanOutputs([], { tools: ["grep"] } as never), "tools"],
    ["recoverFromCrash", () => recoverFromCrash([], { mode: "strict" } as never), "mode"],
    ["trimOldHistory", () => trimOldHistory([], 1, { profil: "anthropic" } as never), "profil"],
    ["loadSession", () => loadSession(CUT_OFF, { config: AS_IT_IS, warm: () => {} } as never), "warm"],
  ])("[ID-17] an option of %s is refused by its name", (_, make, option) => {
    expect(make).toThrow(expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) }));
  });

  test.each([
    ["compact", { tial: 500 }, "tial"],
    ["compact", { tail: "500" }, "tail"],
    ["compact", { said: Number.NaN }, "said"],
    ["compact", { summariser: () => "In short." }, "summariser"],
    ["prune", { keeep: 1 }, "keeep"],
    ["prune", { keep: 1.5 }, "keep"],
  ] as const)("%s(%j) is refused by its name, and nothing is given up", async (boundary, given, option) => {
    const { session } = await opened();
    for (let turn = 0; turn < 3; turn += 1) await watch(session.run("go", { model: scripted([{ text: "ok" }]) }));
    const before = session.journal.head.seq;
    await expect(session[boundary](given as never)).rejects.toMatchObject({ code: "BAD_OPTION", details: { option } });
    expect(session.journal.head.seq).toBe(before);
    await session.close();
  });
});
