/**
 * Makes the store fixture of the current schema version: `node scripts/make-store-fixture.ts`. Run once when a version
 * is released, then committed and never made again: a test opens a copy of every one that there is.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type CallId,
  callIdAt,
  createHoldfast,
  FixedClock,
  type RecordDraft,
  readEntries,
  SeededRandom,
  type Session,
  toSessionId,
} from "../src/index.ts";
import { appendReserved } from "../src/journal/journal.ts";
import { dropBodies } from "../src/journal/retention.ts";
import { STORE_VERSION } from "../src/stores/sqlite/schema.ts";
import { sqlite } from "../src/stores/sqlite/entry.ts";

const folder = fileURLToPath(new URL(`../test/fixtures/stores/v${STORE_VERSION}/`, import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const clock = new FixedClock("2026-01-02T03:04:05.678Z");
const random = new SeededRandom("fixture");
const holdfast = await createHoldfast({ store: sqlite(`${folder}store.db`, { clock, random }), clock, random });

const session = await holdfast.open("every-kind");
const call = callIdAt(toSessionId("every-kind"), 1, 0);
await writeEveryKind(session, call);
await session.close();

const cut = await holdfast.open("cut");
for (let n = 0; n < 5; n += 1) await cut.append({ kind: "user-said", text: `forgotten ${n}` });
await appendReserved(cut.journal, { kind: "checkpoint-kept", openCalls: [], tag: "kept from here" });
await cut.append({ kind: "user-said", text: "kept" });
await holdfast.retain(cut, { records: 4 });
await cut.close();

const fork = await holdfast.fork("every-kind", { as: "fork", after: 3 });
await fork.append({ kind: "user-said", text: "another way" });
await fork.close();

const dangling = await holdfast.open("left-open");
await dangling.append({
  kind: "call-opened",
  callId: callIdAt(toSessionId("left-open"), 1, 0),
  tool: "sleep",
  args: {},
});
await dangling.close();

await holdfast.sweep({ graceMs: 0 });
const expected: Record<string, unknown[]> = {};
for await (const { id } of holdfast.sessions()) {
  expected[id] = [];
  for await (const entry of readEntries(holdfast.store, id)) expected[id].push(entry);
}
writeFileSync(`${folder}expected.json`, `${JSON.stringify(expected, null, 1)}\n`);
await holdfast.close();
rmSync(`${folder}store.db.locks`, { recursive: true, force: true });

async function writeEveryKind(into: Session, callId: CallId): Promise<void> {
  const small = await into.journal.stageBlob(Buffer.from("small content"));
  const large = await into.journal.stageBlob(Buffer.alloc(70_000, "large content "));
  const from = toSessionId("elsewhere");
  const drafts: readonly RecordDraft[] = [
    { kind: "user-said", text: "hello \u{1F980} \u0000", parts: [{ type: "text" }] },
    { kind: "model-said", text: "hi", model: "m", usage: { input: 1 } },
    { kind: "call-opened", callId, tool: "read", args: { path: "a" }, alias: "toolu_1" },
    { kind: "call-closed", callId, tool: "read", status: "success", output: ["x"], effects: "none" },
    { kind: "call-late", callId, tool: "read", output: null },
    { kind: "state-changed", delta: { plan: [{ set: [], to: 1 }] }, cause: "call", callId },
    { kind: "effect-opened", tool: "pay", name: "payment", key: "k", generation: 0, callId, args: { n: 1 } },
    { kind: "effect-done", tool: "pay", name: "payment", key: "k", generation: 0, result: { receipt: 1 } },
    { kind: "effect-joined", tool: "pay", name: "payment", key: "k", generation: 0, callId },
    { kind: "effect-undone", tool: "pay", name: "payment", key: "k", generation: 0, how: "undone" },
    { kind: "view-chosen", levels: { a: "full" }, renderer: "r1" },
    { kind: "page-pinned", page: "p", pinned: true },
    { kind: "writeback-staged", page: "p", change: 1 },
    { kind: "writeback-rejected", page: "p", change: 1, reason: "scope" },
    { kind: "writeback-committed", page: "p", change: 1 },
    { kind: "boundary-crossed", boundary: "compaction" },
    { kind: "mode-changed", mode: "plan" },
    { kind: "catalog-changed", version: 1, epoch: 2, reason: "start", tools: [] },
    { kind: "history-repaired", fault: "missing-output", detail: {} },
    { kind: "history-cut", through: 0, records: 0, reason: "none" },
    { kind: "file-diverged", path: "a", callId, kept: "rescue/a" },
    { kind: "rewound", to: 1, scope: ["files"] },
    { kind: "forked", from, after: 1 },
    { kind: "fault-raised", fault: "refetch", detail: { page: "p" } },
    { kind: "session-recovered", closedCalls: [callId], damaged: [1], previousWriter: "died" },
    { kind: "user-said", text: "a secret" },
    { kind: "model-failed", failure: { kind: "overloaded" }, attempt: 1, model: "m" },
    { kind: "call-waiting", callId, tool: "read", args: {}, for: "approval" },
    { kind: "approval-given", callId, approved: true },
    { kind: "turn-interrupted", text: "stopped" },
    { kind: "turn-ended", status: "aborted", steps: 1 },
    { kind: "effect-left", tool: "pay", name: "payment", key: "k", generation: 0, callId },
    { kind: "agents-returned", calls: [callId] },
    { kind: "user-said", text: "with content", blobs: [small.ref, large.ref] },
    { kind: "checkpoint-kept", openCalls: [], state: { a: 1 }, tag: "t" },
  ];
  for (const draft of drafts) {
    clock.advance(1_000);
    await appendReserved(into.journal, draft, {
      operation: `made-${draft.kind}-${into.journal.head.seq}`,
      staged: [small, large],
    });
  }
  await dropBodies(holdfast.store, into.journal, [27], "asked for");
}
