import { createHash } from "node:crypto";
import {
  createHoldfast,
  type Holdfast,
  HoldfastError,
  type JournalEntry,
  type Link,
  readEntries,
  type SealedRecord,
  type Session,
  type SessionRow,
  type StoreSource,
} from "../../src/index.ts";
import { readBlob } from "../../src/journal/blobs.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { digestOf, type Ledger, type Promised } from "./ledger.ts";
import { auditState } from "./script/audit-state.ts";
import { scriptKernel, standingBeside } from "./script/outside.ts";
import { WritebackStory } from "./sim/writeback.ts";
import { describe, type Mark } from "./workload.ts";

export interface AuditOptions {
  /** A dead writer's session opens at once; nobody waits for a lease to run out. */
  readonly openLimitMs?: number;
  readonly source?: StoreSource;
}

type Say = (rule: string, what: string) => void;

/**
 * The one checker. Opens the store as anybody would, lets it recover, and holds what it finds against what was promised:
 *   I1 no acknowledged record lost or changed       I2 sequence gap-free, chain whole
 *   I3 each call closed exactly once, no orphan     I4 state and files equal to what the calls make of them
 *   I6 named content there, bytes equal             writeback: nothing staged is lost, nothing waits at a boundary
 *   I8 a second open changes nothing                whole: a batch is there in full, once, or not at all
 * I5 and I9 speak of a workspace on disk and I7 of requests; other rigs ask for those.
 */
export async function audit(path: string, ledger: Ledger, options: AuditOptions = {}): Promise<readonly string[]> {
  const wrong: string[] = ledger.takeBroken().map((what) => `worker: ${what}`);
  const say: Say = (rule, what) => wrong.push(`${rule} ${what}`);
  try {
    const heads = await firstOpen(path, ledger, say, options);
    await secondOpen(path, heads, say, options);
  } catch (error) {
    say("open", describe(error));
  }
  return wrong;
}

async function firstOpen(path: string, ledger: Ledger, say: Say, options: AuditOptions): Promise<Map<string, Link>> {
  const heads = new Map<string, Link>();
  const { openLimitMs = 10_000, source = sqlite(path) } = options;
  const started = performance.now();
  const hf = await createHoldfast({ store: source, ...scriptKernel(path) });
  try {
    const rows = await sessionsOf(hf);
    for (const [id, { mustExist }] of ledger.sessions)
      if (mustExist && !rows.some((row) => row.id === id)) say("I1", `session ${id} was acknowledged and is not there`);
    for (const row of rows) {
      const session = await openOrForget(hf, row.id, ledger);
      if (session === undefined) continue;
      if (row.id.endsWith("-state")) await auditStateOf(path, session, ledger.owedTo(row.id), say);
      if (row.id.endsWith("-memory")) await auditMemory(session, ledger.owedTo(row.id), say);
      await session.close();
    }
    const took = performance.now() - started;
    if (took > openLimitMs) say("open", `recovery took ${took.toFixed(0)} ms`);
    const after = await sessionsOf(hf);
    for (const row of after) {
      heads.set(row.id, row.head);
      await auditSession(hf, row, ledger.owedTo(row.id), say);
    }
    const report = await hf.verify();
    if (!report.ok) say("verify", JSON.stringify(report).slice(0, 600));
  } finally {
    await hf.close();
  }
  return heads;
}

/** A fork whose maker died before it was acknowledged may be refused as unfinished; then it goes, as its user would have it. */
async function openOrForget(hf: Holdfast, id: string, ledger: Ledger): Promise<Session | undefined> {
  try {
    return await hf.open(id, { create: false });
  } catch (error) {
    if (!HoldfastError.is(error, "FORK_UNFINISHED") || ledger.sessions.get(id)?.mustExist === true) throw error;
    await hf.delete(id);
    return undefined;
  }
}

async function secondOpen(path: string, heads: ReadonlyMap<string, Link>, say: Say, options: AuditOptions) {
  const hf = await createHoldfast({ store: options.source ?? sqlite(path), ...scriptKernel(path) });
  try {
    for (const [id, head] of heads) {
      const session = await hf.open(id, { create: false });
      const { closedCalls, damaged } = session.recovered;
      const now = session.journal.head;
      if (now.seq !== head.seq || now.hash !== head.hash)
        say("I8", `a second open moved ${id} from ${head.seq} to ${now.seq}`);
      if (closedCalls.length + damaged.length > 0) say("I8", `a second open had to repair ${id} again`);
      await session.close();
    }
  } finally {
    await hf.close();
  }
}

/** Nothing that was staged is lost, and no boundary was crossed while something waited. */
async function auditMemory(session: Session, { learnt }: Promised, say: Say): Promise<void> {
  const story = new WritebackStory();
  for await (const entry of session.read())
    if (entry.kind !== "damaged" && entry.kind !== "dropped") story.hear(entry, entry.seq);
  for (const wrong of story.check(session)) say("writeback", wrong);
  const kept = JSON.stringify([session.writeback.pages("session"), session.writeback.pages("project")]);
  for (const value of learnt)
    if (!kept.includes(JSON.stringify(value))) say("writeback", `${value} was acknowledged and is lost`);
}

/** I4, for sessions whose calls change slices, files and the world outside. */
async function auditStateOf(path: string, session: Session, owed: Promised, say: Say): Promise<void> {
  const entries: JournalEntry[] = [];
  for await (const entry of session.read()) entries.push(entry);
  const ends = new Map(
    entries.flatMap((entry) => (entry.kind === "call-closed" ? [[entry.callId as string, entry.status]] : [])),
  );
  for (const [callId, status] of owed.called)
    if (ends.get(callId) !== status) say("I1", `${callId} was acknowledged as ${status}, and is ${ends.get(callId)}`);
  auditState(session, entries, standingBeside(path), say);
}

async function auditSession(hf: Holdfast, row: SessionRow, owed: Promised, say: Say): Promise<void> {
  const entries: JournalEntry[] = [];
  for await (const entry of readEntries(hf.store, row.id)) entries.push(entry);
  const backwards: string[] = [];
  for await (const entry of readEntries(hf.store, row.id, { reverse: true })) backwards.push(JSON.stringify(entry));
  if (backwards.reverse().join("\n") !== entries.map((entry) => JSON.stringify(entry)).join("\n"))
    say("I2", `${row.id} reads differently backwards`);
  auditPromises(row, entries, owed, say);
  await auditChain(hf, row, say);
  auditCalls(row, entries, say);
  auditBatches(row, entries, say);
  await auditContent(hf, row, entries, say);
}

/** I1, and that nothing was forgotten which nobody asked to forget. */
function auditPromises(row: SessionRow, entries: readonly JournalEntry[], owed: Promised, say: Say): void {
  const found = new Map(entries.map((entry) => [entry.seq, entry]));
  if (row.anchor.seq > 0 && !owed.mayCut) say("I1", `${row.id} forgot records up to ${row.anchor.seq} unasked`);
  for (const [seq, digest] of owed.acked) {
    if (seq <= row.anchor.seq) continue;
    const entry = found.get(seq);
    if (entry === undefined || entry.kind === "damaged") say("I1", `${row.id}:${seq} was acknowledged and is lost`);
    else if (entry.kind === "dropped") {
      if (!owed.dropping.has(seq)) say("I1", `${row.id}:${seq} lost its body unasked`);
    } else if (digestOf(entry) !== digest) say("I1", `${row.id}:${seq} is not what was acknowledged`);
  }
}

/** I2, with a hash of our own: the code under test does not vouch for itself. */
async function auditChain(hf: Holdfast, row: SessionRow, say: Say): Promise<void> {
  let { seq, hash } = row.anchor;
  for (;;) {
    const page = await hf.store.reading((read) => read.records(row, { from: seq + 1, to: row.head.seq, limit: 256 }));
    if (page.length === 0) break;
    for (const record of page) {
      const flaw = chainFlaw(record, { seq, hash });
      if (flaw !== undefined) say("I2", `${row.id}:${record.seq} ${flaw}`);
      ({ seq, hash } = record);
    }
  }
  if (seq !== row.head.seq || hash !== row.head.hash)
    say("I2", `${row.id} ends at ${seq}, its row says ${row.head.seq}`);
}

function chainFlaw(record: SealedRecord, before: Link): string | undefined {
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  const { seq, kind, at, version, salt, bodyDigest, prev, hash, body } = record;
  if (seq !== before.seq + 1) return `follows ${before.seq}`;
  if (prev !== before.hash) return "does not hang on the record before it";
  if (sha(`holdfast-record\n${seq}\n${kind}\n${at}\n${version}\n${salt}\n${bodyDigest}\n${prev}`) !== hash)
    return "has an altered header";
  return body === null || sha(`${salt}\n${body}`) === bodyDigest ? undefined : "has an altered body";
}

/** I3: after recovery every call has one closing record, and every closing record its call. */
function auditCalls(row: SessionRow, entries: readonly JournalEntry[], say: Say): void {
  const opened = new Set<string>();
  const closed = new Set<string>();
  for (const entry of entries) {
    // What was opened before a cut is known from the checkpoints after it.
    if (entry.kind === "checkpoint-kept" && row.anchor.seq > 0) {
      for (const { callId } of entry.openCalls) opened.add(callId);
    }
    if (entry.kind === "call-opened") {
      if (opened.has(entry.callId)) say("I3", `${row.id}:${entry.seq} opens ${entry.callId} again`);
      opened.add(entry.callId);
    }
    if (entry.kind !== "call-closed") continue;
    if (!opened.has(entry.callId)) say("I3", `${row.id}:${entry.seq} closes ${entry.callId}, which was never opened`);
    if (closed.has(entry.callId)) say("I3", `${row.id}:${entry.seq} closes ${entry.callId} a second time`);
    closed.add(entry.callId);
  }
  for (const callId of opened) if (!closed.has(callId)) say("I3", `${row.id}: ${callId} is open after recovery`);
}

/** A batch is there in one piece, once, or not at all. */
function auditBatches(row: SessionRow, entries: readonly JournalEntry[], say: Say): void {
  const inherited = Math.max(0, ...row.segments.map(({ through }) => through ?? 0));
  const batches = new Map<string, { readonly of: number; readonly seqs: (number | undefined)[] }>();
  for (const entry of entries) {
    const mark = markOf(entry);
    if (mark === undefined) continue;
    const key = `${mark.run}/${mark.batch}`;
    const batch = batches.get(key) ?? { of: mark.of, seqs: [] };
    batches.set(key, batch);
    if (batch.seqs[mark.index] !== undefined)
      say("whole", `${row.id}:${entry.seq} repeats ${key} of ${batch.seqs[mark.index]}`);
    batch.seqs[mark.index] = entry.seq;
  }
  const bodiless = new Set(entries.flatMap((entry) => (entry.kind === "dropped" ? [entry.seq] : [])));
  for (const [key, { of, seqs }] of batches) {
    const at = seqs.findIndex((seq) => seq !== undefined);
    const first = (seqs[at] ?? 0) - at;
    for (let index = 0; index < of; index += 1) {
      const seq = first + index;
      if (seqs[index] === seq || bodiless.has(seq) || seq <= row.anchor.seq) continue;
      if (first <= inherited && seq > inherited) continue; // the fork begins inside this batch
      say("whole", `${row.id}: batch ${key} is torn: ${index + 1} of ${of} should be at ${seq}`);
      break;
    }
  }
}

/** I6: content that a kept record names is there and is what was put. */
async function auditContent(hf: Holdfast, row: SessionRow, entries: readonly JournalEntry[], say: Say): Promise<void> {
  for (const entry of entries) {
    if (entry.kind === "damaged" || entry.kind === "dropped") continue;
    for (const [index, { name, size }] of (entry.blobs ?? []).entries()) {
      const digest = createHash("sha256");
      let bytes = 0;
      try {
        for await (const chunk of readBlob(hf.store, name)) {
          digest.update(chunk);
          bytes += chunk.length;
        }
      } catch (error) {
        say("I6", `${row.id}:${entry.seq} names ${name}: ${HoldfastError.is(error) ? error.code : describe(error)}`);
        continue;
      }
      const wanted = markOf(entry)?.content?.[index];
      if (bytes !== size || (wanted !== undefined && digest.digest("hex") !== wanted))
        say("I6", `${row.id}:${entry.seq} got other bytes for ${name}`);
    }
  }
}

export function markOf(entry: JournalEntry): Mark | undefined {
  return (entry as { readonly mark?: Mark }).mark;
}

async function sessionsOf(hf: Holdfast): Promise<readonly SessionRow[]> {
  const rows: SessionRow[] = [];
  for await (const row of hf.sessions()) if (!("damaged" in row)) rows.push(row); // verify names those
  return rows;
}
