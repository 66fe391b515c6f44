import type { ClockDep } from "../base/clock.ts";
import { badOption } from "../base/options.ts";
import { unreachable } from "../base/unreachable.ts";
import type { BlobStore } from "../contracts/blob-store.ts";
import type * as contract from "../contracts/store.ts";
import { type Link, MAX_SEQ } from "../records/chain.ts";
import type { BlobName, SessionId } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import { growing, holesIn, type Run, runsOf, sharedUpTo } from "./spans.ts";
import type { PlacedBlob, Tables } from "./tables.ts";

type Refusal = { readonly ok: false; readonly conflict: contract.Conflict };
type Applied<B extends contract.WriteBatch> = contract.Receipt<B>;

/**
 * The rules of every batch. Each checks all it must before its first write, so a refused batch has changed nothing and
 * its neighbours in the same transaction stand.
 */
export function applyBatch<B extends contract.WriteBatch>(on: Ground, batch: B): contract.Receipt<B> {
  return apply(on, batch) as contract.Receipt<B>;
}

/** What a batch is applied to. The wall time is asked for inside the transaction, when nobody is waited for any more. */
export interface Ground extends ClockDep {
  readonly tables: Tables;
  readonly blobs: BlobStore;
  /** Whether it is certain that nobody else has the store open. */
  readonly isAlone: () => boolean;
}

function apply(on: Ground, batch: contract.WriteBatch): Applied<contract.WriteBatch> {
  const { tables, blobs } = on;
  switch (batch.kind) {
    case "create":
      return create(tables, batch);
    case "lease":
      return lease(on, batch);
    case "renew":
      return fenced(tables, batch, (row) => {
        const until = leaseEnd(on, batch);
        tables.sessions.put({ ...row, leaseUntil: until });
        return { ok: true, until };
      });
    case "release":
      return fenced(tables, batch, (row) => {
        const released = { ...row, owner: null, leaseUntil: 0 };
        tables.sessions.put(released);
        tables.sessions.keepWitness(released);
        return { ok: true, released: true };
      });
    case "append":
      return append(on, batch);
    case "fork":
      return fork(tables, batch);
    case "drop":
      return drop(tables, batch);
    case "delete":
      return fenced(tables, batch, (row) => {
        tables.sessions.remove(row);
        return { ok: true, deleted: true };
      });
    case "forget":
      return forget(on, batch);
    case "rename":
      return rename(tables, batch);
    case "sweep":
      return sweep(tables, blobs, batch);
    default:
      return unreachable(batch);
  }
}

function create(tables: Tables, batch: contract.CreateBatch): Applied<contract.CreateBatch> {
  const taken = whyTaken(tables, batch.session);
  if (taken !== undefined) return taken;
  const row: contract.SessionRow = {
    id: batch.session,
    createdAt: batch.at,
    epoch: tables.sessions.epochBefore(batch.session),
    owner: null,
    leaseUntil: 0,
    head: batch.genesis,
    anchor: batch.genesis,
    checkpoint: 0,
    segments: [{ segment: tables.records.newSegment(), through: null }],
  };
  tables.sessions.add(row);
  return { ok: true, row };
}

/** Whole milliseconds, whatever fractions a clock counts in: a store keeps no others. */
function leaseEnd({ clock }: ClockDep, { leaseMs }: { readonly leaseMs: number }): number {
  const end = Math.ceil(clock.now() + leaseMs);
  if (!Number.isSafeInteger(end)) throw badOption("clock", end, "a time in milliseconds");
  return end;
}

function lease(on: Ground, batch: contract.LeaseBatch): Applied<contract.LeaseBatch> {
  const { tables, clock } = on;
  const { mended, ...found } = mendedRow(tables, batch.session);
  if (!found.ok) return found;
  const { row } = found;
  const held = row.owner !== null && row.leaseUntil > clock.now() && row.epoch !== batch.over;
  if (row.owner !== null && held) {
    return refuse({ kind: "lease-held", owner: row.owner, epoch: row.epoch, until: row.leaseUntil });
  }
  // Swapped or lost pages: records appended there would be acknowledged and not be found again.
  if (!tables.records.endsAt(growing(row), row.head.seq))
    return refuse({ kind: "session-damaged", detail: `there are records beyond the newest of session ${row.id}` });
  const taken = { ...row, owner: batch.owner, epoch: row.epoch + 1, leaseUntil: leaseEnd(on, batch) };
  tables.sessions.put(taken);
  tables.sessions.keepWitness(taken);
  const told = mended === undefined ? {} : { mended };
  return { ok: true, row: taken, previousWriter: previousWriter(row, batch), ...told };
}

function previousWriter(row: contract.SessionRow, batch: contract.LeaseBatch): contract.PreviousWriter {
  if (row.owner === null) return row.epoch === 0 ? "none" : "closed";
  return row.epoch === batch.over ? "died" : "expired";
}

function append(on: Ground, batch: contract.AppendBatch): Applied<contract.AppendBatch> {
  return appendUnasked(on, batch) ?? appendAsked(on, batch);
}

/**
 * The common append: it brings records and nothing else, and the row is as this store left it. Then to move the row is to
 * check epoch and head, and nothing has to be read before. Whatever is out of the ordinary goes the long way.
 */
function appendUnasked(on: Ground, batch: contract.AppendBatch): Applied<contract.AppendBatch> | undefined {
  const { tables } = on;
  const { operation, anchor, blobs, references, epoch, after } = batch;
  if (operation !== undefined || anchor !== undefined || blobs.length > 0 || references.length > 0) return undefined;
  const row = tables.sessions.lastSeen(batch.session);
  if (row === undefined || row.epoch !== epoch || row.owner === null || !isSameLink(row.head, after)) return undefined;
  mustChain(batch);
  const moved = movedBy(on, batch, row);
  if (!tables.sessions.move(row, moved)) return undefined;
  for (const record of batch.records) tables.records.insert(growing(row), record, undefined);
  return { ok: true, first: after.seq + 1, last: moved.head.seq, repeated: false };
}

function appendAsked(on: Ground, batch: contract.AppendBatch): Applied<contract.AppendBatch> {
  const { tables, blobs } = on;
  return fenced(tables, batch, (row) => {
    const segment = growing(row);
    if (batch.operation !== undefined) {
      const before = tables.records.operation(segment, batch.operation);
      if (before !== undefined) return { ok: true, ...before, repeated: true };
    }
    if (!isSameLink(row.head, batch.after)) return refuse({ kind: "head-moved", head: row.head });
    mustChain(batch);
    if (batch.anchor !== undefined && !holdsLink(tables, row, batch.anchor)) return refuse({ kind: "link-unknown" });
    const missing = missingBlobs(tables, blobs, batch);
    if (missing.length > 0) return refuse({ kind: "blobs-missing", names: missing });

    for (const { ref, bytes } of batch.blobs) {
      if (bytes === undefined) tables.blobs.note(ref);
      else tables.blobs.put(ref, bytes);
    }
    for (const record of batch.records) tables.records.insert(segment, record, batch.operation);
    for (const { seq, name } of batch.references) tables.blobs.addReference(segment, seq, name);
    const moved = movedBy(on, batch, row);
    tables.sessions.put(moved);
    if (batch.anchor !== undefined) tables.sessions.keepWitness(moved); // what lies before it may be removed from now on
    return { ok: true, first: batch.after.seq + 1, last: moved.head.seq, repeated: false };
  });
}

function movedBy(on: ClockDep, batch: contract.AppendBatch, row: contract.SessionRow): contract.SessionRow {
  const last = batch.records.at(-1);
  return {
    ...row,
    head: last === undefined ? row.head : { seq: last.seq, hash: last.hash },
    anchor: batch.anchor ?? row.anchor,
    leaseUntil: leaseEnd(on, batch),
    checkpoint: batch.checkpoint ?? row.checkpoint,
  };
}

function isSameLink(a: Link, b: Link): boolean {
  return a.seq === b.seq && a.hash === b.hash;
}

/** A journal never sends this; if it ever did, a gap or a spliced chain must not become durable. */
function mustChain({ after, records }: Pick<contract.AppendBatch, "after" | "records">): void {
  let link = after;
  for (const record of records) {
    if (record.seq !== link.seq + 1 || record.prev !== link.hash || record.seq > MAX_SEQ)
      throw new TypeError(`record ${record.seq} does not hang on record ${link.seq}`);
    link = record;
  }
}

/** Every name a batch refers to must exist now, inside the transaction: a sweep may have run since the content was put. */
function missingBlobs(tables: Tables, blobs: BlobStore, batch: contract.AppendBatch): readonly BlobName[] {
  if (batch.references.length === 0 && batch.blobs.length === 0) return [];
  const arriving = new Set<BlobName>();
  for (const { ref, bytes } of batch.blobs) if (bytes !== undefined) arriving.add(ref.name);
  const named = new Set<BlobName>([
    ...batch.references.map((reference) => reference.name),
    ...batch.blobs.map((blob) => blob.ref.name),
  ]);
  const missing = [...named].filter(
    (name) => !arriving.has(name) && tables.blobs.place(name) !== "store" && !blobs.holds(name),
  );
  // There is no content of that name and another size: whoever trusts the size would read beyond its end, or not all of it.
  const misnamed = batch.blobs.filter(({ ref, bytes }) => ref.size !== (bytes?.length ?? sizeOf(tables, blobs, ref)));
  return [...new Set([...missing, ...misnamed.map(({ ref }) => ref.name)])];
}

function sizeOf(tables: Tables, blobs: BlobStore, { name, size }: BlobRef): number {
  return tables.blobs.size(name) ?? blobs.sizeOf?.(name) ?? size; // who cannot tell is believed
}

function fork(tables: Tables, batch: contract.ForkBatch): Applied<contract.ForkBatch> {
  const found = wholeRow(tables, batch.from);
  if (!found.ok) return found;
  const { row: origin } = found;
  const taken = whyTaken(tables, batch.session);
  if (taken !== undefined) return taken;
  if (!holdsLink(tables, origin, batch.after)) return refuse({ kind: "link-unknown" });
  const { after, records = [] } = batch;
  mustChain({ after, records });
  const { seq, hash } = records.at(-1) ?? after;
  const row: contract.SessionRow = {
    id: batch.session,
    createdAt: batch.at,
    epoch: tables.sessions.epochBefore(batch.session),
    owner: null,
    leaseUntil: 0,
    head: { seq, hash },
    anchor: origin.anchor,
    checkpoint: origin.checkpoint <= batch.after.seq ? origin.checkpoint : (batch.checkpoint ?? 0),
    segments: [...sharedUpTo(origin, batch.after.seq), { segment: tables.records.newSegment(), through: null }],
  };
  tables.sessions.add(row);
  for (const record of records) tables.records.insert(growing(row), record, undefined);
  return { ok: true, row };
}

function forget({ tables, clock, isAlone }: Ground, { session }: contract.ForgetBatch): Applied<contract.ForgetBatch> {
  const found = wholeRow(tables, session);
  if (!found.ok && found.conflict.kind !== "session-damaged") return found;
  if (found.ok || tables.sessions.isProven(session)) return refuse({ kind: "session-sound" });
  // A writer knows the whole row, and its next append would write the whole row: then nothing was lost.
  if (!isAlone()) return refuse({ kind: "store-shared" });
  // The row cannot be asked how far its epoch had come. Nobody opens a session every millisecond since 1970.
  tables.sessions.forget(session, Math.ceil(clock.now()));
  return { ok: true, forgotten: true };
}

function rename(tables: Tables, batch: contract.RenameBatch): Applied<contract.RenameBatch> {
  return fenced(tables, batch, (old) => {
    const taken = whyTaken(tables, batch.to);
    if (taken !== undefined) return taken;
    tables.sessions.remove(old);
    const row = { ...old, id: batch.to, epoch: tables.sessions.epochBefore(batch.to), owner: null, leaseUntil: 0 };
    tables.sessions.add(row);
    return { ok: true, row };
  });
}

function drop(tables: Tables, batch: contract.DropBatch): Applied<contract.DropBatch> {
  return fenced(tables, batch, (row) => {
    const shared = sharedRuns(tables, [row.id, ...(batch.despite ?? [])]);
    if (!shared.ok) return shared;
    let dropped = 0;
    let bytes = 0;
    for (const seq of batch.seqs) {
      const [run] = runsOf(row, seq, seq);
      // A fork still tells its story with these bodies: they are not ours alone to drop.
      if (run === undefined || shared.runs.some((other) => covers(other, run.segment, seq))) continue;
      const freed = tables.records.dropBody(run.segment, seq, batch.reason);
      if (freed > 0) dropped += 1;
      bytes += freed;
    }
    return { ok: true, dropped, bytes };
  });
}

function sweep(tables: Tables, blobs: BlobStore, batch: contract.SweepBatch): Applied<contract.SweepBatch> {
  const reachable = sharedRuns(tables, []);
  if (!reachable.ok) return reachable;
  const swept = { records: 0, blobs: 0, bytes: 0 };
  const bySegment = Map.groupBy<number, Run>(reachable.runs, (run) => run.segment);
  for (const { segment, last } of tables.records.segments()) {
    if (swept.records >= batch.limit) break;
    for (const hole of holesIn(segment, bySegment.get(segment) ?? [], last)) {
      if (swept.records >= batch.limit) break;
      const gone = tables.records.remove(hole, batch.limit - swept.records);
      swept.records += gone.records;
      swept.bytes += gone.bytes;
    }
  }
  // Content goes in a later transaction than the records that named it: an unlinked file does not come back when a crash
  // rolls the records' removal back.
  if (swept.records > 0) return { ok: true, ...swept, more: true };
  const { limit, byTheWay = false } = batch;
  const isMeant = ({ name, place }: PlacedBlob) => place === "store" || isOld(blobs, name, batch);
  const unnamed = byTheWay
    ? tables.blobs.nextUnreferenced(LOOKED_AT_BY_THE_WAY).filter(isMeant)
    : tables.blobs.unreferenced(limit, isMeant);
  for (const { name, size, place } of unnamed) {
    tables.blobs.remove(name);
    swept.blobs += 1;
    swept.bytes += place === "store" ? size : blobs.remove(name);
  }
  const more = !byTheWay && unnamed.length >= limit;
  for (const name of batch.candidates) {
    if (tables.blobs.place(name) !== undefined || tables.blobs.isNamed(name)) continue;
    if (!isOld(blobs, name, batch)) continue;
    const bytes = blobs.remove(name);
    if (bytes > 0) swept.blobs += 1;
    swept.bytes += bytes;
  }
  return { ok: true, ...swept, more };
}

/** Looking at all content of a large store takes as long as it is large, and everybody waits: by the way, a part is enough. */
const LOOKED_AT_BY_THE_WAY = 2_048;

/** Whoever has just put the same content again is on the way to the commit that names it. */
function isOld(blobs: BlobStore, name: BlobName, { putBefore, byTheWay = false }: contract.SweepBatch): boolean {
  if (putBefore === undefined) return true;
  if (blobs.lastPut === undefined) return !byTheWay;
  return (blobs.lastPut(name) ?? Number.NEGATIVE_INFINITY) < putBefore;
}

/** The runs all sessions reach, or all but some. Unknown as soon as one row is damaged: then nothing may be removed. */
function sharedRuns(tables: Tables, except: readonly SessionId[]) {
  const runs: Run[] = [];
  for (const row of tables.sessions.all()) {
    if ("damaged" in row) return refuse({ kind: "session-damaged", detail: row.damaged });
    if (!except.includes(row.id)) runs.push(...runsOf(row));
  }
  return { ok: true as const, runs };
}

function covers(
  run: { readonly segment: number; readonly from: number; readonly to: number },
  segment: number,
  seq: number,
): boolean {
  return run.segment === segment && run.from <= seq && seq <= run.to;
}

function holdsLink(tables: Tables, row: contract.SessionRow, link: contract.SessionRow["head"]): boolean {
  if (link.seq === row.anchor.seq) return link.hash === row.anchor.hash;
  const [run] = runsOf(row, link.seq, link.seq);
  return run !== undefined && tables.records.linkAt(run.segment, link.seq)?.hash === link.hash;
}

function whyTaken(tables: Tables, id: SessionId): Refusal | undefined {
  const row = tables.sessions.find(id);
  if (row !== undefined)
    return "damaged" in row
      ? refuse({ kind: "session-damaged", detail: row.damaged })
      : refuse({ kind: "session-exists" });
  return tables.sessions.knows(id) ? refuse({ kind: "session-damaged", detail: LOST_ROW }) : undefined;
}

const LOST_ROW = "the session is known by name, but its row is gone";

type Found = { readonly ok: true; readonly row: contract.SessionRow } | Refusal;

/** A damaged row is put right by whoever comes to write, where that can be proven. */
function mendedRow(tables: Tables, id: SessionId): Found & { readonly mended?: string } {
  const found = wholeRow(tables, id);
  if (found.ok || found.conflict.kind !== "session-damaged" || !tables.sessions.mend()) return found;
  return { ...wholeRow(tables, id), mended: found.conflict.detail };
}

function wholeRow(tables: Tables, id: SessionId): Found {
  const row = tables.sessions.find(id);
  if (row === undefined) {
    return tables.sessions.knows(id)
      ? refuse({ kind: "session-damaged", detail: LOST_ROW })
      : refuse({ kind: "session-unknown" });
  }
  return "damaged" in row ? refuse({ kind: "session-damaged", detail: row.damaged }) : { ok: true, row };
}

/** Runs a write only for the holder of the lease, and only for this epoch: a holder that slept past its lease is refused. */
function fenced<R>(tables: Tables, fence: contract.Fence, write: (row: contract.SessionRow) => R): R | Refusal {
  const found = wholeRow(tables, fence.session);
  if (!found.ok) return found;
  return found.row.epoch === fence.epoch && found.row.owner !== null
    ? write(found.row)
    : refuse({ kind: "lease-lost", epoch: found.row.epoch });
}

function refuse(conflict: contract.Conflict): Refusal {
  return { ok: false, conflict };
}
