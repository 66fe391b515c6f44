import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { diary, steps, writes } from "../support/calls.ts";
import { opened, OPTIONS, run, step } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { scratchFolder } from "../support/places.ts";
import { collect, MemoryDisk } from "../support/stores.ts";
import { defineSlice } from "../../src/state/slice.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { toolResult } from "../../src/transaction/result-parts.ts";
import { createHoldfast, type Holdfast } from "../../src/turn/holdfast.ts";
import type { Part } from "../../src/wire/item.ts";

const LATE = "late-canary-nobody-knew-of";
const folder = scratchFolder();

const note = writes<string>("note", async (text, call) => {
  call.dispatch(steps.added(text));
  call.dispatch(diary.said(text));
  return `noted ${text}`;
});

const charge = writes<string>("charge", async (to, call) => call.effect("payment", { to }, { key: "order-1" }), {
  access: "external",
  effects: {
    payment: {
      run: () => ({ receipt: 1 }),
      undo: ({ to }: { readonly to: string }) => void undone.push(to),
    },
  },
});
const undone: string[] = [];
const deployed: string[] = [];
const deploy = writes<string>("deploy", async (to) => void deployed.push(to), { approval: true });

describe("a secret that is registered later", () => {
  const lived = async (holdfast: Holdfast) => {
    await using session = await holdfast.open("s");
    const model = scripted([
      { text: `I know ${LATE}`, calls: [{ name: "note", input: "a" }] },
      { calls: [{ name: "note", input: LATE }] },
      { text: "done" },
    ]);
    await watch(session.run(`it is ${LATE}`, { model }));
    await session.checkpoint();
    await run(session, "clean");
    return (await collect(session.read())).length;
  };
  const at = () =>
    createHoldfast({
      ...OPTIONS,
      tools: [step, note],
      store: sqlite(join(folder, "late", "s.db"), { durability: "process" }),
    });
  const holds = (place: string, text: string) =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
  const inFiles = () => holds(join(folder, "late"), LATE);

  test("[REDACT-10] is dropped with the bodies that hold it; the chain holds, and the session goes on", async () => {
    const holdfast = await at();
    const records = await lived(holdfast);
    holdfast.registerSecret({ name: "late", value: LATE });
    const { dropped, left, erased } = await holdfast.dropSecrets("s");
    expect(left).toEqual([]);
    expect(erased).toBe(true);
    expect(inFiles()).toBe(false);
    expect(dropped.length).toBeGreaterThan(3);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    const session = await holdfast.open("s");
    const entries = await collect(session.read());
    expect(entries.slice(0, records).filter(({ kind }) => kind === "dropped")).toHaveLength(dropped.length);
    expect(entries.find(({ kind }) => kind === "dropped")).toMatchObject({
      was: "user-said",
      reason: "it held a secret that was registered later",
    });
    expect(JSON.stringify(entries)).not.toContain(LATE);
    // What is true goes on, without it.
    expect(session.state.session.get(steps)).toEqual(["a", "[redacted:late]", "clean"]);
    expect(session.state.session.get(diary)).toContain("[redacted:late]");
    const { end } = await watch(
      session.run("go on", { model: scripted([{ calls: [{ name: "note", input: "b" }] }, { text: "yes" }]) }),
    );
    expect(end).toMatchObject({ status: "done", text: "yes" });
    const ids = (await collect(session.read())).flatMap((entry) =>
      entry.kind === "call-opened" ? [entry.callId] : [],
    );
    expect(new Set(ids).size).toBe(ids.length);
    await session.close();
    await holdfast.close();
    expect(inFiles()).toBe(false);
  });

  test("[REDACT-10] [SLICE-14] is dropped also where it came into a long text in two pieces", async () => {
    const report = defineSlice("report", {
      initial: "Of today.\n".repeat(90),
      on: { said: (now, more: string) => now + more },
    });
    const say = writes<string>("say", async (text, call) => call.dispatch(report.said(text)));
    const store = () => sqlite(join(folder, "pieces", "s.db"), { durability: "process" });
    const holdfast = await createHoldfast({ ...OPTIONS, slices: [report], tools: [say], store: store() });
    const session = await holdfast.open("s");
    const half = LATE.length / 2;
    for (const text of ["The word is ", LATE.slice(0, half), LATE.slice(half), ".\nMore.\n"])
      await session.runTool({ name: "say", input: text });
    const written = (await collect(session.read())).flatMap((entry) => (entry.kind === "state-changed" ? [entry] : []));
    expect(JSON.stringify(written).length).toBeLessThan(4_000);
    await session.close();
    holdfast.registerSecret({ name: "late", value: LATE });
    expect(await holdfast.dropSecrets("s")).toMatchObject({ left: [], erased: true });
    const left = await holdfast.open("s");
    expect(left.state.session.get(report)).toMatch(/The word is \[redacted:late\]\.\nMore\.\n$/);
    const changes = (await collect(left.read())).filter(({ kind }) => kind === "state-changed");
    expect(JSON.stringify(changes)).toContain(LATE.slice(0, half));
    expect(JSON.stringify(changes)).not.toContain(LATE.slice(half)); // what was to be put behind it is gone
    await holdfast.close();
    expect(holds(join(folder, "pieces"), LATE)).toBe(false);
  });

  test.each([100, 200_000])(
    "[REDACT-14] is dropped with files of the conversation that hold it, of %d bytes and more, and so is what showed them",
    async (size) => {
      const path = join(folder, `shown-${size}`, "s.db");
      const filled = (text: string) => Buffer.from(`${text}\n${"x".repeat(size)}`);
      const file = (text: string): Part => ({
        type: "file",
        media: { mediaType: "text/plain", name: "notes.txt", base64: filled(text).toString("base64") },
      });
      const fetched = writes<string>("fetched", async (text) =>
        toolResult([{ bytes: filled(text), mediaType: "text/csv" }]),
      );
      const tools = [step, fetched];
      const holdfast = await createHoldfast({ ...OPTIONS, tools, store: sqlite(path, { durability: "process" }) });
      const session = await holdfast.open("s");
      const model = scripted(({ nth }) => (nth === 0 ? { calls: [{ name: "fetched", input: LATE }] } : { text: "ok" }));
      await watch(session.run([{ type: "text", text: "see" }, file(`it is ${LATE}`)], { model }));
      await watch(session.run([{ type: "text", text: "and" }, file("nothing")], { model }));
      await session.close();
      holdfast.registerSecret(LATE);
      const bundle = Buffer.concat(await collect(holdfast.exportBundle("s")));
      expect(bundle.includes(LATE)).toBe(false);
      const { dropped, left } = await holdfast.dropSecrets("s");
      expect(left).toEqual([]);
      const gone = (await collect((await holdfast.look("s")).read())).filter(({ seq }) => dropped.includes(seq));
      expect(gone.map((entry) => "was" in entry && entry.was)).toEqual(
        expect.arrayContaining(["user-said", "call-closed"]),
      );
      expect(await holdfast.verify()).toMatchObject({ ok: true });
      await holdfast.close();
      expect(holds(dirname(path), LATE)).toBe(false);
      expect(holds(dirname(path), "nothing\n")).toBe(true);
    },
  );

  test.each(["reads", "waits"])(
    "[REDACT-27] that stood in nothing but the result of a call that %s holds no session up",
    async (how) => {
      const tell = writes<string>("tell", async () => `it is ${LATE}`, { approval: how === "waits" });
      const { holdfast, session } = await opened(new MemoryDisk(), { tools: [tell] });
      const model = scripted([{ calls: [{ name: "tell", input: "a" }] }, { text: "done" }, { text: "and on" }]);
      await watch(session.run("go", { model, ask: async () => ({ approve: true }) }));
      await session.close();
      holdfast.registerSecret(LATE);
      expect(await holdfast.dropSecrets("s")).toMatchObject({ dropped: [expect.any(Number)], left: [] });
      const again = await holdfast.open("s");
      expect((await watch(again.run("go on", { model }))).end).toMatchObject({ status: "done", text: "and on" });
      expect((await again.conversation()).filter(({ kind }) => kind === "output")).toMatchObject([
        { name: "tell", parts: [{ text: expect.stringContaining("Output was not received") }] },
      ]);
      const { records, tombstones } = await again.callHistory();
      expect(records.map((record) => record["method_name"])).toEqual(["run", "run"]);
      expect(tombstones).toMatchObject([{ was: "call-closed", reason: "it held a secret that was registered later" }]);
      await again.close();
    },
  );

  test("[REDACT-10] stays where a fork shares the record, and that is told", async () => {
    const { holdfast, session } = await opened();
    await session.append({ kind: "user-said", text: LATE });
    const id = await run(session, "a");
    await (await session.fork({ after: id as never, as: "other" })).close();
    await session.close();
    holdfast.registerSecret(LATE);
    expect(await holdfast.dropSecrets("s")).toMatchObject({ left: [expect.any(Number)] });
  });

  test("[REDACT-10] [BUNDLE-3] is dropped from the reason of a change of the mode, too, and no bundle carries it", async () => {
    const { holdfast, session } = await opened();
    await session.setMode("plan", `because of ${LATE}`);
    await session.checkpoint();
    await session.close();
    holdfast.registerSecret(LATE);
    const bundle = async () => Buffer.concat(await collect(holdfast.exportBundle("s"))).includes(LATE);
    expect(await bundle()).toBe(false);
    expect(await holdfast.dropSecrets("s")).toMatchObject({ left: [] });
    const look = await holdfast.look("s");
    expect(JSON.stringify([await look.state(), await collect(look.read())])).not.toContain(LATE);
    expect(await look.mode()).toBe("plan");
    expect(await bundle()).toBe(false);
  });

  test("[REDACT-18] leaves no boundary to fork from whose state it was dropped from, and makes no session there", async () => {
    const { holdfast, session } = await opened(new MemoryDisk(), { tools: [note], slices: [steps, diary] });
    const ids = [];
    for (const input of ["a", LATE, "c"]) ids.push((await session.runTool({ name: "note", input })).callId);
    await session.close();
    holdfast.registerSecret(LATE);
    await holdfast.dropSecrets("s");
    const again = await holdfast.open("s");
    expect(again.state.session.get(steps)).toEqual(["a", "[redacted:secret]", "c"]);
    for (const [nth, id] of ids.entries()) {
      const forking = again.fork({ after: id as never, as: `fork-${nth}` });
      if (nth > 0) await expect(forking).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
      else await (await forking).close();
    }
    expect((await collect(holdfast.sessions())).map(({ id }) => id)).toEqual(["fork-0", "s"]);
    await (await holdfast.fork("s", { as: "now" })).close();
    await again.close();
  });

  test("[REDACT-17] that stands in the name of a tool costs the session none of its state, and what names it is told as left", async () => {
    const query = writes<string>("query-late-canary", async (text, call) => {
      call.dispatch(steps.added(text));
      return "asked";
    });
    const { disk, holdfast, session } = await opened(new MemoryDisk(), { tools: [query] });
    for (const input of ["a", "b"]) await session.runTool({ name: "query-late-canary", input });
    await session.checkpoint();
    await session.close();
    holdfast.registerSecret("late-canary");
    for (const _ of ["once", "twice"]) {
      const { dropped, left } = await holdfast.dropSecrets("s");
      expect(dropped.length).toBeGreaterThan(0);
      expect(left).toHaveLength(1); // the checkpoint that it goes on from names the boundaries' tool
    }
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    const again = await opened(disk, { tools: [query] });
    expect(again.session.state.session.get(steps)).toEqual(["a", "b"]);
    expect(again.session.recovered).not.toHaveProperty("skippedChanges");
    await again.session.close();
  });

  test("[REDACT-16] that several sessions show goes when it was dropped from all of them, in whatever order", async () => {
    const { holdfast, session } = await opened();
    await session.append({ kind: "user-said", text: LATE });
    const id = await run(session, "a");
    await (await session.fork({ after: id as never, as: "fork" })).close();
    await session.close();
    holdfast.registerSecret(LATE);
    const [held] = (await holdfast.dropSecrets("s")).left;
    expect(held).toBeDefined();
    // Whoever is forked later shows it as well, and has not asked yet, whatever its origin had.
    await (await holdfast.fork("s", { as: "later" })).close();
    for (const name of ["fork", "s"])
      expect(await holdfast.dropSecrets(name)).toMatchObject({ dropped: [], left: [held] });
    expect(await holdfast.dropSecrets("later")).toMatchObject({ dropped: [held], left: [] });
    for (const name of ["s", "fork", "later"]) {
      expect(await holdfast.dropSecrets(name)).toMatchObject({ dropped: [], left: [] });
      const again = await holdfast.open(name);
      expect(JSON.stringify(await collect(again.read()))).not.toContain(LATE);
      await run(again, "goes on");
      await again.close();
    }
    expect(await holdfast.verify()).toMatchObject({ ok: true });
  });

  test("[REDACT-10] [TURN-90] is dropped with what an effect was done with and answered, and its key is still known", async () => {
    const place = join(folder, "effects");
    let ran = 0;
    const buy = writes<string>("buy", async (to, call) => call.effect("payment", { to }, { key: "order-1" }), {
      access: "external",
      effects: {
        payment: {
          run: ({ to }: { readonly to: string }) => {
            ran += 1;
            return `${to} ${"r".repeat(500)}`;
          },
        },
      },
    });
    const store = sqlite(join(place, "s.db"), { durability: "process" });
    const holdfast = await createHoldfast({ ...OPTIONS, tools: [step, buy], store });
    const words = `${LATE} ${"w".repeat(500)}`;
    const session = await holdfast.open("s");
    await session.runTool({ name: "buy", input: words });
    await session.checkpoint();
    await run(session, "clean");
    await session.checkpoint();
    await session.close();
    holdfast.registerSecret({ name: "late", value: LATE });
    expect(await holdfast.dropSecrets("s")).toMatchObject({ left: [], erased: true });
    expect(holds(place, LATE)).toBe(false);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    const again = await holdfast.open("s");
    const { output } = await again.runTool({ name: "buy", input: "words" });
    expect(output).toContain("[redacted:late] w");
    expect(ran).toBe(1);
    await again.close();
    await holdfast.close();
  });

  test("[REDACT-10] with nothing to drop, nothing is dropped", async () => {
    const { holdfast, session } = await opened();
    await run(session, "a");
    await session.close();
    holdfast.registerSecret(LATE);
    expect(await holdfast.dropSecrets("s")).toMatchObject({ dropped: [], left: [] });
  });
});

describe("what was to be done with a secret", () => {
  const TOKEN = `ghp_${"a7Z9".repeat(9)}`;

  test("[REDACT-12] a call that waited is not run with a word in its place", async () => {
    const disk = new MemoryDisk();
    const first = await opened(disk, { tools: [deploy] });
    await watch(first.session.run("go", { model: scripted([{ calls: [{ name: "deploy", input: TOKEN }] }]) }));
    await first.deps.store.close();
    const { session } = await opened(disk, { tools: [deploy] });
    const outcome = await session.reply(session.waiting[0]!.callId, { approve: true });
    expect(outcome).toMatchObject({ ok: false, reason: "denied", output: expect.stringContaining("held a secret") });
    expect(deployed).toEqual([]);
  });

  test("[REDACT-12] an effect of an earlier process is not undone with a word in its place", async () => {
    const disk = new MemoryDisk();
    const first = await opened(disk, { tools: [charge, step] });
    const { callId } = await first.session.runTool({ name: "charge", input: TOKEN });
    await first.session.close();
    const { session } = await opened(disk, { tools: [charge, step] });
    const { effects } = await session.rewind({ before: callId });
    expect(effects).toEqual([
      expect.objectContaining({ is: "not-undone", detail: "it was done with a secret, which is not kept" }),
    ]);
    expect(undone).toEqual([]);
  });

  test("[REDACT-11] an effect whose key holds a secret does not happen", async () => {
    const pay = writes<string>("pay", async (to, call) => call.effect("payment", {}, { key: to }), {
      access: "external",
      effects: { payment: { run: () => deployed.push("paid") } },
    });
    const { session } = await opened(new MemoryDisk(), { tools: [pay] });
    const outcome = await session.runTool({ name: "pay", input: TOKEN });
    expect(outcome).toMatchObject({ ok: false, reason: "EFFECT_KEY_SECRET" });
    expect(deployed).toEqual([]);
  });
});
