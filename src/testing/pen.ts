import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type {
  AppendBatch,
  Conflict,
  ForkBatch,
  NewBlob,
  Receipt,
  Reference,
  SessionRow,
  Store,
  WriteBatch,
} from "../contracts/store.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { genesisOf, type Link, type SealedRecord, seal } from "../records/chain.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";

export const AT = "2026-01-01T00:00:00.000Z";
/** How long a pen holds its session, in milliseconds. */
export const LEASE_MS = 1_000_000;

/** A session held by one writer, with where its chain stands: what a journal does, in the open. */
export interface Pen {
  readonly store: Store;
  readonly session: SessionId;
  readonly epoch: number;
  head: Link;
}

/** Creates a session and takes its lease. */
export async function begin(store: Store, id = "session"): Promise<Pen> {
  const session = toSessionId(id);
  applied(await store.commit({ kind: "create", session, at: AT, genesis: genesisOf(session) }));
  return take(store, id);
}

export async function take(
  store: Store,
  id: string,
  lease: { readonly leaseMs?: number; readonly over?: number } = {},
): Promise<Pen> {
  const session = toSessionId(id);
  const { row } = applied(
    await store.commit({ kind: "lease", session, owner: store.owner, leaseMs: LEASE_MS, ...lease }),
  );
  return { store, session, epoch: row.epoch, head: row.head };
}

/** Sealed records that hang on a link, one after the other. */
export function sealed(after: Link, ...bodies: readonly string[]): readonly SealedRecord[] {
  const records: SealedRecord[] = [];
  let link = after;
  for (const body of bodies) {
    const record = seal(link, { kind: "user-said", at: AT, version: 1, salt: "0011223344556677", body });
    records.push(record);
    link = record;
  }
  return records;
}

export function appendOf(
  pen: Pen,
  records: readonly SealedRecord[],
  more: Partial<Omit<AppendBatch, "kind" | "records">> = {},
): AppendBatch {
  return {
    kind: "append",
    session: pen.session,
    epoch: pen.epoch,
    after: { seq: pen.head.seq, hash: pen.head.hash },
    records,
    blobs: [],
    references: [],
    leaseMs: LEASE_MS,
    ...more,
  };
}

export function forkOf(from: SessionId, after: Link, as: string): ForkBatch {
  return { kind: "fork", from, after, session: toSessionId(as), at: AT };
}

/** Appends one record per body and moves on. */
export async function write(pen: Pen, ...bodies: readonly string[]): Promise<readonly SealedRecord[]> {
  const records = sealed(pen.head, ...bodies);
  applied(await pen.store.commit(appendOf(pen, records)));
  pen.head = linkOf(records.at(-1) ?? pen.head);
  return records;
}

/** Appends one record that names content which travels with it. */
export async function writeWithBlobs(pen: Pen, body: string, ...contents: readonly Uint8Array[]): Promise<void> {
  const records = sealed(pen.head, body);
  const blobs = contents.map(smallBlob);
  const references: readonly Reference[] = blobs.map(({ ref }) => ({ seq: pen.head.seq + 1, name: ref.name }));
  applied(await pen.store.commit(appendOf(pen, records, { blobs, references })));
  pen.head = linkOf(records.at(-1) ?? pen.head);
}

export function smallBlob(bytes: Uint8Array): NewBlob {
  return { ref: { name: nameOfBytes(bytes), size: bytes.length }, bytes };
}

export function linkOf(record: Link): Link {
  return { seq: record.seq, hash: record.hash };
}

export function applied<B extends WriteBatch>(receipt: Receipt<B>): Extract<Receipt<B>, { readonly ok: true }> {
  ok(receipt.ok, `refused: ${JSON.stringify(receipt)}`);
  return receipt as Extract<Receipt<B>, { readonly ok: true }>;
}

export function refused<B extends WriteBatch>(receipt: Receipt<B>, kind: Conflict["kind"]): Conflict {
  ok(!receipt.ok, `applied, but ${kind} was expected`);
  strictEqual(receipt.conflict.kind, kind);
  return receipt.conflict;
}

export async function rowOf(store: Store, id: string): Promise<SessionRow> {
  const row = await store.reading((read) => read.session(toSessionId(id)));
  ok(row !== undefined, `no session ${id}`);
  return row;
}

/** Every record of a session, page by page. */
export async function recordsOf(store: Store, id: string, page = 7): Promise<readonly SealedRecord[]> {
  const row = await rowOf(store, id);
  const records: SealedRecord[] = [];
  for (let from = 1; ; ) {
    const found = await store.reading((read) => read.records(row, { from, to: row.head.seq, limit: page }));
    const last = found.at(-1);
    if (last === undefined) return records;
    ok(last.seq >= from, "records that were not asked for"); // without end, a runner could not even give up on it
    records.push(...found);
    from = last.seq + 1;
  }
}

export async function expectBodies(store: Store, id: string, bodies: readonly (string | null)[]): Promise<void> {
  deepStrictEqual(
    (await recordsOf(store, id)).map((record) => record.body),
    bodies,
  );
}
