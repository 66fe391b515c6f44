import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { look, OPTIONS, opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { PNG } from "../../test/support/pictures.ts";
import { collect, MemoryDisk, memoryStore, said } from "../../test/support/stores.ts";
import { inWorkspace } from "../../test/support/workspaces.ts";
import { readTar, TAR_END, tarFile } from "../base/tar.ts";
import type { SessionRow, Store } from "../contracts/store.ts";
import { verifyBundle } from "../journal/bundle/read.ts";
import { forkRow } from "../journal/fork.ts";
import { sessionRows } from "../journal/verify.ts";
import { sealManifest } from "../records/bundle.ts";
import { defineSlice } from "../state/slice.ts";
import { createHoldfast, type Holdfast } from "./holdfast.ts";
import { forkMark } from "./unfinished-fork.ts";

const TOKEN = `ghp_${"a7Z9".repeat(9)}`;
const LATE = "late-canary-nobody-knew-of";
const note = writes<string>("note", async (text, call) => {
  call.dispatch(steps.added(text));
  return `noted ${text}`;
});

async function lived(options: object = {}) {
  const made = await opened(new MemoryDisk(), { tools: [note], ...options });
  const { session } = made;
  for (const word of ["one", "two"]) {
    const model = scripted([{ calls: [{ name: "note", input: word }] }, { text: `done ${word}` }]);
    await watch(session.run(`please ${word}`, { model }));
    await session.checkpoint();
  }
  return made;
}

const bundleOf = async (holdfast: Holdfast, id = "s") =>
  Buffer.concat(await collect(holdfast.exportBundle(id, { environment: { node: "24", key: TOKEN } })));
const pieces = (bytes: Buffer) => () => [bytes];
async function filesOf(bytes: Buffer): Promise<ReadonlyMap<string, string>> {
  const found = await collect(readTar([bytes]));
  return new Map(found.map((file) => [file.path, Buffer.from(file.bytes).toString("utf8")]));
}

describe("an exported session", () => {
  test("[BUNDLE-1] is its records with their chain, its states, and what people want to see of it", async () => {
    const { holdfast, session } = await lived();
    const files = await filesOf(await bundleOf(holdfast));
    expect([...files.keys()].filter((path) => !path.startsWith("content/"))).toEqual([
      "journal/0000000001.jsonl",
      "environment.json",
      "state/before.json",
      "state/after.json",
      "conversation.jsonl",
      "calls.jsonl",
      "views.jsonl",
      "manifest.json",
    ]);
    expect(JSON.parse(files.get("state/before.json")!)).toMatchObject({ steps: ["one"] });
    expect(JSON.parse(files.get("state/after.json")!)).toMatchObject({ steps: ["one", "two"] });
    expect(files.get("conversation.jsonl")).toContain("done two");
    const calls = files.get("calls.jsonl")!.trimEnd().split("\n");
    expect(calls.map((line) => (JSON.parse(line) as { method_name: string }).method_name)).toContain("note");
    expect(files.get("views.jsonl")!.split("\n").length).toBeGreaterThan(4);
    const manifest = JSON.parse(files.get("manifest.json")!) as { head: object; records: number };
    expect(manifest).toMatchObject({ session: "s", head: session.journal.head, hidden: [] });
    expect(await verifyBundle(pieces(await bundleOf(holdfast)))).toMatchObject({ ok: true, records: manifest.records });
  });

  test("[BUNDLE-5] is read without being taken: the same bytes each time, while somebody writes, and nothing changes", async () => {
    const { holdfast, session } = await lived();
    const head = session.journal.head.seq;
    const before = await bundleOf(holdfast);
    expect(await bundleOf(holdfast)).toEqual(before);
    expect(session.journal.head.seq).toBe(head);
    const exporting = bundleOf(holdfast);
    await session.append({ kind: "user-said", text: "meanwhile" });
    expect(await verifyBundle(pieces(await exporting))).toMatchObject({ ok: true });
    await expect(bundleOf(holdfast, "nobody")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
  });

  test.each(["cut", "deleted"])(
    "[BUNDLE-10] of a session that is %s meanwhile is not written to its end",
    async (how) => {
      const { holdfast, session } = await opened();
      await session.append(Array.from({ length: 700 }, (_, nth) => said(`${nth} ${"z".repeat(12_000)}`)));
      await session.checkpoint();
      const bundle = holdfast.exportBundle("s")[Symbol.asyncIterator]();
      for (let written = ""; !written.includes("journal/"); )
        written = Buffer.from((await bundle.next()).value ?? []).toString("latin1", 0, 100);
      if (how === "cut") await holdfast.retain(session, { records: 2 });
      await session.close();
      if (how === "deleted") await holdfast.delete("s");
      await holdfast.sweep({ graceMs: 0 });
      const rest = async () => {
        while ((await bundle.next()).done !== true) continue;
      };
      await expect(rest()).rejects.toMatchObject({ code: "STORE_BUSY", details: { session: "s" } });
    },
  );

  test("[BUNDLE-3] holds no secret that is known by now, and no file", async () => {
    const { holdfast, session } = await lived();
    await session.append({ kind: "user-said", text: `it is ${LATE}` });
    await session.runTool({ name: "note", input: LATE });
    await session.checkpoint();
    await session.files.writeText?.("f.txt", "text of a file");
    holdfast.registerSecret(LATE);
    const bytes = await bundleOf(holdfast);
    for (const word of [LATE, TOKEN, "text of a file"]) expect(bytes.includes(word)).toBe(false);
    const report = await verifyBundle(pieces(bytes));
    expect(report).toMatchObject({ ok: true });
    expect(report.hidden).toBeGreaterThan(3);
    const files = await filesOf(bytes);
    expect(files.get("state/after.json")).toContain("[redacted:secret]");
    expect([...files.values()].join("")).toContain("it held a secret when it was exported");
  });
});

test("[BUNDLE-3] a secret that was only ever a former value does not leave with what lies beside it", async () => {
  const latest = defineSlice("latest", { initial: "", on: { set: (_: string, to: string) => to } });
  const set = writes<string>("set", async (to, call) => call.dispatch(latest.set(to)));
  const { holdfast, session } = await opened(new MemoryDisk(), { tools: [note, set], slices: [steps, latest] });
  await session.runTool({ name: "note", input: "unchanged ".repeat(2_000) });
  await session.runTool({ name: "set", input: LATE });
  await session.checkpoint();
  await session.runTool({ name: "set", input: "something else" });
  await session.checkpoint(); // names the large slice where it lies: in the content that still holds the former value
  holdfast.registerSecret(LATE);
  const bytes = await bundleOf(holdfast);
  expect(bytes.includes(LATE)).toBe(false);
  expect(await verifyBundle(pieces(bytes))).toMatchObject({ ok: true });
  await session.close();
  expect(await holdfast.dropSecrets("s")).toMatchObject({ left: [] });
  expect((await bundleOf(holdfast)).includes(LATE)).toBe(false);
});

describe("a bundle that was tampered with", () => {
  const small = async () => {
    const { holdfast, session } = await opened();
    await session.append({ kind: "user-said", text: "hello" });
    return bundleOf(holdfast);
  };
  const judged = (bytes: Buffer) =>
    verifyBundle(pieces(bytes)).then(
      ({ ok }) => ok,
      (error: { code?: string }) => error.code ?? "thrown",
    );

  test("[BUNDLE-2] [K62] is found out, whichever bit was flipped and wherever it was cut or lengthened", async () => {
    const bytes = await small();
    expect(await judged(bytes)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
        const other = Buffer.from(bytes);
        other[at] = (other[at] ?? 0) ^ (1 << bit);
        expect(await judged(other)).not.toBe(true);
        expect(await judged(bytes.subarray(0, at))).not.toBe(true);
      }),
      { numRuns: 200 },
    );
    expect(await judged(Buffer.concat([bytes, Buffer.from([0])]))).not.toBe(true);
  });

  test("[BUNDLE-2] [K62] is found out when files are gone, new, doubled or moved, also with a manifest made anew", async () => {
    const files = await collect(readTar([await small()]));
    const pack = (list: typeof files) => Buffer.concat([...list.map(tarFile), TAR_END]);
    const manifest = files.at(-1)!;
    const [journal] = files.filter(({ path }) => path.startsWith("journal/"));
    const rest = files.filter((file) => file !== manifest);
    expect(await judged(pack(files))).toBe(true);
    expect(await judged(pack(files.filter((file) => file !== journal)))).toBe(false);
    expect(await judged(pack([...rest, { path: "more.json", bytes: Buffer.from("{}") }, manifest]))).toBe(false);
    expect(await judged(pack([journal!, ...rest, manifest]))).toBe(false);
    expect(await judged(pack([manifest, ...rest]))).toBe(false);
    expect(await judged(pack(rest))).toBe("BUNDLE_DAMAGED");
    // Whoever makes the manifest anew still has to make the chain anew.
    const lines = Buffer.from(journal!.bytes).toString("utf8").replace("hello", "HELLO");
    const forged = { ...journal!, bytes: Buffer.from(lines) };
    const { createHash } = await import("node:crypto");
    const { seal: _seal, ...said } = JSON.parse(Buffer.from(manifest.bytes).toString("utf8")) as {
      seal: string;
      files: { path: string }[];
    };
    const sha256 = createHash("sha256").update(forged.bytes).digest("hex");
    const listed = said.files.map((file) => (file.path === forged.path ? { ...file, sha256 } : file));
    const sealed = sealManifest({ ...said, files: listed } as never);
    const anew = { path: "manifest.json", bytes: Buffer.from(JSON.stringify(sealed)) };
    const report = await verifyBundle(pieces(pack([...rest.map((file) => (file === journal ? forged : file)), anew])));
    expect(report.faults).toEqual([expect.stringMatching(/record \d+ body-altered/)]);
  });

  test.each(["null", "1", "[]", '"text"'])("[BUNDLE-2] a line of its journal that is %s is no record", async (line) => {
    const files = await collect(readTar([await small()]));
    const changed = files.map(({ path, bytes }) =>
      tarFile({ path, bytes: path.startsWith("journal/") ? Buffer.concat([bytes, Buffer.from(`${line}\n`)]) : bytes }),
    );
    expect(await judged(Buffer.concat([...changed, TAR_END]))).toBe("BUNDLE_DAMAGED");
  });

  test("[BUNDLE-2] a newer one is refused as that, and anything else is no bundle", async () => {
    const files = await collect(readTar([await small()]));
    const manifest = JSON.parse(Buffer.from(files.at(-1)!.bytes).toString("utf8")) as object;
    const newer = { path: "manifest.json", bytes: Buffer.from(JSON.stringify({ ...manifest, version: 2 })) };
    expect(await judged(Buffer.concat([...[...files.slice(0, -1), newer].map(tarFile), TAR_END]))).toBe(
      "BUNDLE_TOO_NEW",
    );
    for (const other of [Buffer.alloc(0), Buffer.from("hello"), Buffer.alloc(4096), Buffer.from(TAR_END)])
      expect(await judged(other)).toBe("BUNDLE_DAMAGED");
  });
});

describe("an imported session", () => {
  test("[BUNDLE-4] is the same records, proven by the same chain, and goes on where it was", async () => {
    const { holdfast, session } = await lived();
    const told = await collect(session.read());
    const bytes = await bundleOf(holdfast);
    const elsewhere = await opened(new MemoryDisk(), { tools: [note] });
    const taken = await elsewhere.holdfast.importBundle(pieces(bytes), { as: "theirs" });
    expect(taken).toMatchObject({ ok: true, as: "theirs", session: "s", records: told.length });
    expect(await elsewhere.holdfast.verify()).toMatchObject({ ok: true });
    const theirs = await elsewhere.holdfast.open("theirs");
    expect((await collect(theirs.read())).slice(0, told.length)).toEqual(told);
    expect((await look(theirs)).steps).toEqual(["one", "two"]);
    const model = scripted([{ calls: [{ name: "note", input: "three" }] }, { text: "and on" }]);
    expect((await watch(theirs.run("go on", { model }))).end).toMatchObject({ status: "done", text: "and on" });
    expect(theirs.state.session.get(steps)).toEqual(["one", "two", "three"]);
  });

  test("[BUNDLE-4] begins where retention had cut", async () => {
    const { holdfast, session } = await lived();
    await holdfast.retain(session, { records: 8 });
    expect(session.journal.opened).toBeDefined();
    const bytes = await bundleOf(holdfast);
    const elsewhere = await opened(new MemoryDisk(), { tools: [note] });
    await elsewhere.holdfast.importBundle(pieces(bytes), { as: "theirs" });
    const theirs = await elsewhere.holdfast.open("theirs");
    expect((await collect(theirs.read()))[0]).toMatchObject({ kind: "checkpoint-kept" });
    expect(theirs.state.session.get(steps)).toEqual(["one", "two"]);
  });

  test("[BUNDLE-4] is refused when it is damaged or there already, and nothing is left of it", async () => {
    const { holdfast } = await lived();
    const bytes = await bundleOf(holdfast);
    await expect(holdfast.importBundle(pieces(bytes))).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    const broken = Buffer.from(bytes);
    const at = broken.indexOf("please one");
    broken.write("PLEASE", at);
    await expect(holdfast.importBundle(pieces(broken), { as: "x" })).rejects.toMatchObject({ code: "BUNDLE_DAMAGED" });
    const ids = (await collect(holdfast.sessions())).map(({ id }) => id);
    expect(ids).toEqual(["s"]);
  });

  test("[BUNDLE-4] is not there when its importer died, and what it left is gone with the next import or sweep", async () => {
    const { holdfast } = await lived();
    const bytes = await bundleOf(holdfast);
    for (const next of ["import", "sweep"] as const) {
      const disk = new MemoryDisk();
      const store = memoryStore({ disk });
      const dying: Store = {
        ...store,
        // Its process ends with the commit that would have given the session its name.
        commit: (batch) => (batch.kind === "rename" ? new Promise(() => {}) : store.commit(batch)),
      };
      const importer = await createHoldfast({ store: dying });
      void importer.importBundle(pieces(bytes), { as: "theirs" });
      await expect.poll(() => kept(store)).toHaveLength(1);
      await expect.poll(async () => (await kept(store))[0]?.head.seq).toBeGreaterThan(0);
      await store.close();

      const elsewhere = await opened(disk, { tools: [note] });
      expect((await collect(elsewhere.holdfast.sessions())).map(({ id }) => id)).not.toContain("theirs");
      const [left] = (await kept(elsewhere.holdfast.store)).filter(({ id }) => id.startsWith("importing:"));
      await expect(elsewhere.holdfast.fork("s", { as: left?.id ?? "" })).rejects.toMatchObject({
        code: "SESSION_BAD_ID",
      });
      if (next === "sweep") await elsewhere.holdfast.sweep();
      else await elsewhere.holdfast.importBundle(pieces(bytes), { as: "theirs" });
      const ids = (await kept(elsewhere.holdfast.store)).map(({ id }) => id);
      expect(ids).toEqual(next === "sweep" ? ["s"] : ["s", "theirs"]);
    }
  });

  test("[BUNDLE-4] nobody else is given a name that is removed with a dead importer", async () => {
    const { holdfast } = await lived();
    const taken = `importing:${"0".repeat(32)}`;
    const refusal = { code: "SESSION_BAD_ID" };
    await expect(holdfast.open(taken)).rejects.toMatchObject(refusal);
    await expect(holdfast.fork("s", { as: taken })).rejects.toMatchObject(refusal);
    await expect(holdfast.importBundle(pieces(await bundleOf(holdfast)), { as: taken })).rejects.toMatchObject(refusal);
    expect((await kept(holdfast.store)).map(({ id }) => id)).toEqual(["s"]);
  });

  test("[BUNDLE-4] one that has just begun, and has no lease yet, is not taken for dead by the next", async () => {
    const { holdfast } = await lived();
    const bytes = await bundleOf(holdfast);
    const store = memoryStore({ disk: new MemoryDisk() });
    const other = await createHoldfast({ store });
    let overtaken = 0;
    const first: Store = {
      ...store,
      commit: async (batch) => {
        if (batch.kind === "lease") {
          overtaken += 1;
          await other.importBundle(pieces(bytes), { as: "second" });
        }
        return store.commit(batch);
      },
    };
    await (await createHoldfast({ store: first })).importBundle(pieces(bytes), { as: "first" });
    expect(overtaken).toBe(1);
    expect((await kept(store)).map(({ id }) => id).toSorted()).toEqual(["first", "second"]);
  });

  test("[BUNDLE-8] what was cut off is taken away once and counted once, however many sweep and import at once", async () => {
    const { holdfast } = await lived();
    const bytes = await bundleOf(holdfast);
    const disk = new MemoryDisk();
    const store = memoryStore({ disk });
    const dying: Store = {
      ...store,
      commit: (batch) => (batch.kind === "rename" ? new Promise(() => {}) : store.commit(batch)),
    };
    void (await createHoldfast({ store: dying })).importBundle(pieces(bytes));
    await expect.poll(async () => (await kept(store))[0]?.head.seq).toBeGreaterThan(0);
    await store.close();
    const [one, other] = [memoryStore({ disk }), memoryStore({ disk })].map((at) => createHoldfast({ store: at }));
    const [here, there] = [await one!, await other!];
    expect(await collect(here.abandonedImports())).toHaveLength(1);
    await expect(here.sweep({ grace: 0 } as never)).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect(await collect(here.abandonedImports())).toHaveLength(1);
    const swept = [here.sweep(), there.sweep()];
    await Promise.all([...swept, here.importBundle(pieces(bytes), { as: "a" }), there.importBundle(pieces(bytes))]);
    const imports = (await Promise.all(swept)).map((report) => report.imports);
    expect(imports.reduce((sum, one) => sum + one)).toBe(1);
    expect((await kept(here.store)).map(({ id }) => id)).toEqual(["a", "s"]);
  });

  test("[BUNDLE-4] a second importer lets the first one work", async () => {
    const { holdfast } = await lived();
    const bytes = await bundleOf(holdfast);
    const there = await opened(new MemoryDisk(), { tools: [note] });
    const both = ["one", "two"].map((as) => there.holdfast.importBundle(pieces(bytes), { as }));
    await Promise.all(both);
    expect((await collect(there.holdfast.sessions())).map(({ id }) => id)).toEqual(
      expect.arrayContaining(["one", "two"]),
    );
    expect(await there.holdfast.verify()).toMatchObject({ ok: true });
  });

  test("[BUNDLE-4] with files can be read whole, and says what is missing when it is opened", async () => {
    const { holdfast, session } = await opened();
    await run(session, "a");
    await session.checkpoint();
    const bytes = await bundleOf(holdfast);
    const elsewhere = await opened();
    await elsewhere.holdfast.importBundle(pieces(bytes), { as: "theirs" });
    const looked = await elsewhere.holdfast.look("theirs");
    expect((await looked.conversation()).length).toBeGreaterThan(0);
    expect([await looked.mode(), await looked.parent(), await looked.binding()]).toEqual(["act", undefined, undefined]);
    expect(await looked.state()).toMatchObject({ steps: ["a"], files: [{ path: "a.txt", kind: "file" }] });
    await expect(elsewhere.holdfast.open("theirs")).rejects.toMatchObject({ code: "BLOB_MISSING" });
    const inFolder = await inWorkspace({ ...OPTIONS, tools: [note] });
    await inFolder.holdfast.importBundle(pieces(bytes), { as: "theirs" });
    expect(await inFolder.holdfast.delete("theirs")).toMatchObject({ session: "theirs" });
    await inFolder.holdfast.close();
  });

  test("[BUNDLE-9] whose files stayed behind says which content that was, and is no fault of the store it came into", async () => {
    const { holdfast, session } = await opened();
    await run(session, "a");
    await session.checkpoint();
    await run(session, "b");
    const bytes = await bundleOf(holdfast);
    const there = await opened();
    const { left } = await there.holdfast.importBundle(pieces(bytes), { as: "theirs" });
    expect(left).toBeGreaterThan(0);
    expect(await there.holdfast.verify()).toMatchObject({ ok: true, blobs: { left } });
    const entries = await collect((await there.holdfast.look("theirs")).read());
    const told = entries.at(-1);
    expect(told).toMatchObject({ kind: "fault-raised", fault: "content-not-imported" });
    // On the way once more the note goes along, and says the same.
    const again = Buffer.concat(await collect(there.holdfast.exportBundle("theirs")));
    const third = await opened();
    expect(await third.holdfast.importBundle(pieces(again), { as: "ours" })).toMatchObject({ left });
    expect((await collect((await third.holdfast.look("ours")).read())).length).toBe(entries.length);
    expect(await third.holdfast.verify()).toMatchObject({ ok: true, blobs: { left } });
  });

  test("[BUNDLE-9] shows the pictures and files that it showed, without a note", async () => {
    const { holdfast, session } = await opened();
    const shown = [
      { type: "image", media: { mediaType: "image/png", base64: Buffer.from(PNG).toString("base64") } },
    ] as const;
    await watch(session.run(shown, { model: scripted([{ text: "seen" }]) }));
    const before = await collect(session.read());
    const bytes = await bundleOf(holdfast);
    const there = await opened();
    expect(await there.holdfast.importBundle(pieces(bytes), { as: "theirs" })).toMatchObject({ left: 0 });
    expect(await there.holdfast.verify()).toMatchObject({ ok: true, blobs: { left: 0 } });
    const theirs = await there.holdfast.open("theirs");
    expect(await collect(theirs.read({ to: before.length }))).toEqual(before);
    const asked: string[] = [];
    const model = scripted(({ request }) => {
      asked.push(JSON.stringify(request));
      return { text: "still" };
    });
    await watch(theirs.run("what was it?", { model }));
    expect(asked[0]).toContain(shown[0].media.base64);
  });
});

test("[BUNDLE-12] a call whose end held a secret has ended where it is imported, as it had ended", async () => {
  const tell = writes<string>("tell", async (text, call) => {
    call.dispatch(steps.added(text));
    if (text === "inside") return LATE;
    const inside = await call.run({ name: "tell", input: "inside" });
    return text === "fails" ? call.fail("no", LATE) : (inside.output ?? null);
  });
  const read = writes<string>("read", async () => LATE, { access: "read" });
  const { holdfast, session } = await opened(new MemoryDisk(), { tools: [tell, read] });
  const calls = [
    { name: "tell", input: "succeeds" },
    { name: "tell", input: "fails" },
    { name: "read", input: "" },
  ];
  await watch(session.run("go", { model: scripted([{ calls }, { text: "done" }]) }));
  holdfast.registerSecret(LATE);
  const bytes = await bundleOf(holdfast);
  const there = await opened(new MemoryDisk(), { tools: [tell, read] });
  await there.holdfast.importBundle(pieces(bytes), { as: "theirs" });
  const theirs = await there.holdfast.open("theirs");
  expect(theirs.recovered).toEqual({ closedCalls: [], damaged: [] });
  expect(theirs.journal.head.seq).toBe(session.journal.head.seq);
  expect(theirs.checkpoints.list()).toEqual(session.checkpoints.list());
  const records = await theirs.callRecords();
  expect(records.map((record) => record["method_name"])).toEqual(["run", "tell"]); // what ran inside the failed one
  expect(theirs.journal.folded.history).toBe(records.length);
  expect(theirs.state.session.get(steps)).toEqual(["succeeds", "inside"]);
  expect((await watch(theirs.run("go on", { model: scripted([{ text: "yes" }]) }))).end.status).toBe("done");
  const first = theirs.checkpoints.list().find(({ tool, status }) => tool === "tell" && status === "success");
  await theirs.rewind({ before: first?.callId ?? "" });
  expect(theirs.state.session.get(steps)).toEqual([]);
});

test("[BUNDLE-12] a boundary whose state needs a change that had to stay behind is told as gone where it is imported", async () => {
  const { holdfast, session } = await opened(new MemoryDisk(), { tools: [note] });
  const calls = [];
  for (const text of ["a", LATE, "c"]) calls.push((await session.runTool({ name: "note", input: text })).callId);
  holdfast.registerSecret(LATE);
  const there = await opened(new MemoryDisk(), { tools: [note] });
  await there.holdfast.importBundle(pieces(await bundleOf(holdfast)), { as: "theirs" });
  const theirs = await there.holdfast.open("theirs");
  expect(theirs.recovered.skippedChanges).toHaveLength(1);
  const { sound, damaged } = await theirs.checkpoints.audit();
  expect(sound.map(({ callId }) => callId)).toEqual([calls[0]]);
  expect(damaged.map(({ boundary, code }) => [boundary.callId, code])).toEqual([[calls[2], "CHECKPOINT_UNKNOWN"]]);
  await expect(theirs.rewind({ after: calls[2] as string })).rejects.toMatchObject({ code: "CHECKPOINT_UNKNOWN" });
  await theirs.checkpoint();
  const { callId } = await theirs.runTool({ name: "note", input: "d" });
  await theirs.rewind({ before: callId });
  expect(theirs.state.session.get(steps)).toEqual(["a", "c"]);
});

test("[BUNDLE-12] a call inside another of which nothing came along has the boundary that it had", async () => {
  const outer = writes<string>("outer", async (text, call) => {
    await call.run({ name: "note", input: "inside" });
    return text;
  });
  const { holdfast, session } = await opened(new MemoryDisk(), { tools: [note, outer] });
  await session.runTool({ name: "outer", input: LATE });
  await session.runTool({ name: "note", input: "later" });
  const inner = session.checkpoints.list().find(({ tool }) => tool === "note")?.callId ?? "";
  holdfast.registerSecret(LATE);
  const there = await opened(new MemoryDisk(), { tools: [note, outer] });
  await there.holdfast.importBundle(pieces(await bundleOf(holdfast)), { as: "theirs" });
  const theirs = await there.holdfast.open("theirs");
  expect(theirs.checkpoints.list().map(({ tool }) => tool)).toEqual(["note", "note"]);
  await theirs.rewind({ after: inner });
  expect(theirs.state.session.get(steps)).toEqual(["inside"]);
});

test("[TURN-97] a bundle that begins with a state that had to stay behind is imported to be read, and not opened with another", async () => {
  const { holdfast, session } = await lived();
  await session.runTool({ name: "note", input: LATE });
  await session.setMode("plan");
  await session.checkpoint();
  await session.append({ kind: "user-said", text: "and on" });
  await holdfast.retain(session, { records: 4 });
  holdfast.registerSecret(LATE);
  const bytes = await bundleOf(holdfast);
  const there = await inWorkspace({ ...OPTIONS, tools: [note] });
  await there.holdfast.importBundle(pieces(bytes), { as: "theirs" });
  expect(await there.holdfast.verify()).toMatchObject({ ok: true });
  const looked = await there.holdfast.look("theirs");
  expect(await looked.conversation()).toMatchObject([{ kind: "user" }]);
  await expect(there.holdfast.open("theirs")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  const onward = await filesOf(await bundleOf(there.holdfast, "theirs"));
  expect(onward.get("state/after.json")).toContain("SESSION_DAMAGED");
  await there.holdfast.delete("theirs");
  await there.holdfast.close();
});

async function kept(store: Store): Promise<readonly SessionRow[]> {
  return (await collect(sessionRows(store))).filter((row): row is SessionRow => !("damaged" in row));
}

test("[TURN-81] a fork that was never finished is not exported: imported, it would be out of plan mode", async () => {
  const { session, holdfast, deps } = await opened();
  await run(session, "a");
  const { seq: after } = session.journal.head;
  await session.setMode("plan");
  await forkRow(deps, "s", { as: "half", after, note: (at) => forkMark("s", at, false) });
  await expect(bundleOf(holdfast, "half")).rejects.toMatchObject({ code: "FORK_UNFINISHED" });
  await (await holdfast.fork("s", { as: "half", after })).close();
  await holdfast.importBundle(pieces(await bundleOf(holdfast, "half")), { as: "copy" });
  expect((await holdfast.open("copy")).mode).toBe("plan");
});

describe("what a session did outside", () => {
  const paying = (undo: (key: string) => unknown) => {
    const did: string[] = [];
    const pay = writes<string>("pay", (key, call) => call.effect("payment", {}, { key }), {
      effects: {
        payment: {
          run: (_args: unknown, { key }) => did.push(key),
          undo: async (_args: unknown, _result: unknown, { key }) => {
            did.push(`-${key}`);
            await undo(key);
          },
        },
      },
    });
    return { did, options: { tools: [note, pay] } };
  };
  const places = async (holdfast: Holdfast, options: object) => [
    holdfast,
    (await opened(new MemoryDisk(), options)).holdfast,
  ];

  test("[BUNDLE-11] is known where it is imported, not done again, and undone only where it was done", async () => {
    const { did, options } = paying(() => {});
    const { holdfast, session } = await opened(new MemoryDisk(), options);
    const first = (await session.runTool({ name: "note", input: "a" })).callId;
    await session.runTool({ name: "pay", input: "k" });
    const bytes = await bundleOf(holdfast);
    for (const place of await places(holdfast, options)) {
      await place.importBundle(pieces(bytes), { as: "copy" });
      const copy = await place.open("copy");
      expect((await copy.rewind({ after: first })).effects).toEqual([]);
      const { callId } = await copy.runTool({ name: "pay", input: "k" });
      expect((await copy.rewind({ before: callId })).effects).toEqual([]);
      await copy.close();
      await place.open("copy");
    }
    expect(did).toEqual(["k"]);
    await session.rewind({ after: first });
    expect(did).toEqual(["k", "-k"]);
  });

  test("[BUNDLE-11] and is being undone there is not undone where it is imported, also when its records are cut off", async () => {
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { did, options } = paying(() => {
      begun.resolve();
      return goOn.promise;
    });
    const { holdfast, session } = await opened(new MemoryDisk(), options);
    const first = (await session.runTool({ name: "note", input: "a" })).callId;
    await session.runTool({ name: "pay", input: "k" });
    const rewinding = session.rewind({ after: first });
    await begun.promise;
    await session.checkpoint();
    expect((await holdfast.retain(session, { records: 2 })).withinBounds).toBe(true);
    const bytes = await bundleOf(holdfast);
    for (const place of await places(holdfast, options)) {
      await place.importBundle(pieces(bytes), { as: "copy" });
      const copy = await place.open("copy");
      await expect(copy.runTool({ name: "pay", input: "k" })).resolves.toMatchObject({ reason: "EFFECT_UNKNOWN" });
    }
    goOn.resolve();
    await rewinding;
    expect(did).toEqual(["k", "-k"]);
  });
});
