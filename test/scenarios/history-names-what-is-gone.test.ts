import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { createHoldfast, defineTool, type Session, ToolInvoked, toolResult } from "../../src/index.ts";
import { nameOfBytes } from "../../src/records/blob-name.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { counter, steps, writes } from "../support/calls.ts";
import { opened, run, step } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { PNG } from "../support/pictures.ts";
import { scratchFolder } from "../support/places.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

// A program follows a reference that it was told of earlier, and what it refers to was cut off, dropped, or altered on disk.
const code = quickjs({ limits: { timeMs: 60_000 } });
const content = (ref: unknown) => `return context.content(${JSON.stringify(ref)})`;

async function ask(session: Session, text: string) {
  return (await session.runTool({ name: "run_code", input: { code: text } })).output as { readonly result: unknown };
}

test("[RECORD-8] [CODE-8] [K53] what retention cut off is told as dropped, with the policy that did it; what is pinned stays", async () => {
  const disk = new MemoryDisk();
  const first = await opened(disk, { tools: [step], code });
  await first.session.context.pin({
    id: "brief",
    text: "Be brief, whatever happens.",
    scope: "session",
    source: "the user",
  });
  for (let nth = 0; nth < 10; nth += 1) {
    await run(first.session, `n${nth}`);
    await first.session.checkpoint();
  }
  const records = await first.session.callRecords();
  const refs = [records[0], records.at(-1)].map((record) => record?.outcome_summary.value);
  await first.session.close();
  await first.deps.store.close();
  const retention = { records: 12 };
  const { session, holdfast } = await opened(disk, { tools: [step], code, retention });
  const left = await session.callHistory();
  expect(left.records.length).toBeLessThan(10);
  expect(left.records).toEqual(records.slice(-left.records.length)); // the oldest went first
  expect(left.tombstones).toMatchObject([{ was: "records", reason: 'retention: {"records":12}' }]);
  expect(session.journal.head.seq - left.tombstones[0]!.through!).toBeLessThanOrEqual(12);
  expect((await ask(session, content(refs[0]))).result).toEqual({
    ok: false,
    code: "dropped",
    message: 'retention: {"records":12}',
  });
  expect((await ask(session, content(refs[1]))).result).toMatchObject({ ok: true, value: "n9" });
  expect((await ask(session, content(999_999))).result).toMatchObject({ ok: false, code: "no-match" });
  // What is pinned is state, and is in every request as before; so are the files of calls that are forgotten.
  const seen: string[] = [];
  const model = scripted([{ text: "ok" }]);
  const asking = {
    ...model,
    ask: (...asked: Parameters<typeof model.ask>) => (seen.push(JSON.stringify(asked[0])), model.ask(...asked)),
  };
  await watch(session.run("?", { model: asking }));
  expect(seen[0]).toContain("Be brief, whatever happens.");
  expect(await session.files.exists("n0.txt")).toBe(true);
  expect(await holdfast.verify()).toMatchObject({ ok: true });
});

test("[RECORD-8] [K53] content that was used again stays, and what was used least recently goes first", async () => {
  const disk = new MemoryDisk();
  const pictures = Object.fromEntries(
    ["old", "older", "again"].map((name) => [name, Buffer.concat([PNG, Buffer.from(name)])]),
  );
  const shows = defineTool<string>({
    name: "shows",
    access: "read",
    run: (name) => toolResult([{ mediaType: "image/png", bytes: pictures[name] ?? PNG, name }]),
  });
  const first = await opened(disk, { tools: [shows] });
  for (const input of ["older", "again", "old", "old", "again"]) {
    await first.session.runTool({ name: "shows", input });
    await first.session.checkpoint();
  }
  await first.session.close();
  await first.deps.store.close();
  const left = async (records: number) => {
    const { session, holdfast, deps } = await opened(disk, { tools: [shows], retention: { records } });
    await holdfast.sweep({ graceMs: 0 });
    const names: string[] = [];
    for (const [name, bytes] of Object.entries(pictures)) {
      const read = collect(session.journal.readBlob(nameOfBytes(bytes)));
      if (await read.then(() => true, isGone)) names.push(name);
    }
    const kept = (await session.callRecords()).length;
    await session.close();
    await deps.store.close();
    return { names, kept };
  };
  // The cut falls behind the first "again", which has a later use; then behind the last "old".
  expect(await left(12)).toEqual({ names: ["old", "again"], kept: 2 });
  expect(await left(7)).toEqual({ names: ["again"], kept: 1 });
});

function isGone(error: unknown): boolean {
  expect(error).toMatchObject({ code: "BLOB_MISSING" });
  return false;
}

test("[CODE-8] [K54] what was altered on disk is told as corrupt, and never returned", async () => {
  const path = join(scratchFolder(), "altered.db");
  const tools = [writes("say", async () => "the answer is forty-two")];
  const before = await createHoldfast({ store: sqlite(path), tools, code });
  const session = await before.open("s");
  await session.runTool({ name: "say", input: {} });
  const ref = (await session.callRecords())[0]?.outcome_summary.value;
  await session.runTool({ name: "say", input: {} });
  await session.checkpoint();
  await session.close();
  await before.close();
  const database = new DatabaseSync(path);
  const changed = database
    .prepare(
      "UPDATE records SET body = replace(body, 'forty-two', 'forty-one') WHERE key % 4294967296 = ? AND body LIKE '%forty-two%'",
    )
    .run(ref?.seq ?? 0);
  database.close();
  expect(Number(changed.changes)).toBe(1);
  await using after = await createHoldfast({ store: sqlite(path), tools, code });
  const again = await after.open("s");
  const told = await ask(again, content(ref));
  expect(told.result).toMatchObject({ ok: false, code: "corrupt" });
  expect(JSON.stringify(told)).not.toContain("forty-");
  await again.close();
});

test("[RECORD-3] [TX-2] [K55] of a call that was rolled back nothing is left in the state, and its record says what happened", async () => {
  const big = writes("big", async (_input, call) => {
    call.dispatch(steps.added("from the big one"));
    call.dispatch(counter.added(1));
    await call.files.writeText("big.txt", "x".repeat(100_000));
    call.note({ rows: 12 });
    return call.fail("too-many", "There are too many rows.", { rows: 12 });
  });
  const { session } = await opened(new MemoryDisk(), { tools: [step, big], code });
  await session.runTool({ name: "big", input: { table: "t" } });
  expect([session.state.session.get(steps), session.state.session.get(counter)]).toEqual([[], 0]);
  expect(await session.files.exists("big.txt")).toBe(false);
  expect(JSON.stringify(await session.state.snapshot({ tag: "now" }))).not.toContain("from the big one");
  const told = await ask(
    session,
    "const r = context.conversation_history.at(-1); return { ...r, content: context.content(1) }",
  );
  expect(told.result).toMatchObject({
    method_name: "big",
    kwargs: { table: "t" },
    rows: 12,
    error_type: "too-many",
    error_message: expect.stringContaining("There are too many rows."),
    outcome_summary: { status: "error", ok: false, retriable: false },
  });
  expect(session.state.session.get(ToolInvoked)[0]).toMatchObject({ toolName: "big", payload: { rows: 12 } });
});
