import { HoldfastError } from "../base/errors.ts";
import { ANYTHING, checkOptions, FUNCTION, OBJECT } from "../base/options.ts";
import type { DamagedRow, SessionRow, Store, StoreRead } from "../contracts/store.ts";
import { type BlobName, type SessionId, toSessionId } from "../records/ids.ts";
import { readBlob } from "./blobs.ts";
import { leftIn } from "./bundle/left.ts";
import type { DamagedEntry } from "./prove.ts";
import { PAGE, readEntries, rowOf } from "./read.ts";

/** What `verify` found in one session. */
export interface SessionVerdict {
  readonly session: SessionId;
  readonly records: number;
  readonly dropped: number;
  readonly damaged: readonly DamagedEntry[];
  /** Set when the session could not be read to its end. */
  readonly failed?: string;
}

/** Content that is missing or damaged. */
export interface BlobFault {
  readonly name: BlobName;
  /** `unlisted`: a record names it, but the store has no reference or no content for it. Something was removed. */
  readonly fault: "missing" | "corrupt" | "unreadable" | "unlisted";
}

/** Everything that `verify` found. */
export interface VerifyReport {
  readonly ok: boolean;
  /** Problems of the container itself, in words. */
  readonly structure: readonly string[];
  readonly sessions: readonly SessionVerdict[];
  /**
   * `left`: content that imported sessions name and that was not in their bundles. It was never here, and is no fault.
   */
  readonly blobs: { readonly checked: number; readonly left: number; readonly faults: readonly BlobFault[] };
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** Checks only this session. Default: all. */
  readonly session?: SessionId;
  readonly signal?: AbortSignal;
  readonly progress?: (done: { readonly sessions: number; readonly records: number; readonly blobs: number }) => void;
}

/** Checks the container, every chain and every reference, and reports every fault. Changes nothing. */
export async function verify(store: Store, options: VerifyOptions = {}): Promise<VerifyReport> {
  checkOptions(options, { session: ANYTHING, signal: OBJECT, progress: FUNCTION });
  const { signal, progress } = options;
  const done = { sessions: 0, records: 0, blobs: 0 };
  const structure = [...(await store.reading((read) => read.structure()))];
  const sessions: SessionVerdict[] = [];
  const named = new Map<BlobName, Naming>();
  const left = new Set<BlobName>();
  const rows = options.session === undefined ? sessionRows(store) : [await rowOf(store, toSessionId(options.session))];
  for await (const row of rows) {
    // A damaged row is named by the structure. What can be read of the session all the same is examined like any other.
    sessions.push(await verifySession(store, row, { done, named, left, progress, signal }));
    done.sessions += 1;
  }
  const faults: BlobFault[] = [];
  for await (const { name, size } of references(store)) {
    signal?.throwIfAborted();
    const fault = (await blobFault(store, name)) ?? (size < 0 ? "unlisted" : undefined);
    if (fault !== undefined) faults.push({ name, fault });
    named.delete(name);
    done.blobs += 1;
    progress?.({ ...done });
  }
  for (const [name, naming] of named)
    if (!left.has(name) && (await isStillThere(store, naming))) faults.push({ name, fault: "unlisted" });
  const ok = structure.length === 0 && faults.length === 0 && sessions.every(isSound);
  return { ok, structure, sessions, blobs: { checked: done.blobs, left: left.intersection(named).size, faults } };
}

/** A record that names content. */
interface Naming {
  readonly session: SessionId;
  readonly seq: number;
}

interface Walk {
  readonly progress: VerifyOptions["progress"];
  readonly signal: AbortSignal | undefined;
  readonly done: { sessions: number; records: number; blobs: number };
  readonly named: Map<BlobName, Naming>;
  readonly left: Set<BlobName>;
}

/** Retention may have taken the record since it was read, and a sweep what it named. */
async function isStillThere(store: Store, { session, seq }: Naming): Promise<boolean> {
  const row = await store.reading((read) => read.session(session));
  return row !== undefined && row.anchor.seq < seq;
}

function isSound(verdict: SessionVerdict): boolean {
  return verdict.damaged.length === 0 && verdict.failed === undefined;
}

/** Every session's row, in the order of ids. */
export function sessionRows(store: Store) {
  return pages(
    (read, after: SessionId | "") => read.sessions(after, PAGE),
    store,
    (row) => row.id,
  );
}

function references(store: Store) {
  return pages(
    (read, after: BlobName | "") => read.references(after, PAGE),
    store,
    (ref) => ref.name,
  );
}

async function verifySession(store: Store, row: SessionRow | DamagedRow, walk: Walk): Promise<SessionVerdict> {
  const { done, named, left, progress, signal } = walk;
  const damaged: DamagedEntry[] = [];
  let records = 0;
  let dropped = 0;
  try {
    const upTo = "damaged" in row ? {} : { to: row.head.seq };
    const options = { ...upTo, ...(signal === undefined ? {} : { signal }) };
    for await (const entry of readEntries(store, row.id, options)) {
      if (entry.kind === "damaged") damaged.push(entry);
      else records += 1;
      for (const name of leftIn(entry)) left.add(name);
      if (entry.kind === "dropped") dropped += 1;
      else if (entry.kind !== "damaged")
        for (const { name } of entry.blobs ?? []) named.set(name, { session: row.id, seq: entry.seq });
      done.records += 1;
      if (done.records % PAGE === 0) progress?.({ ...done });
    }
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { session: row.id, records, dropped, damaged, failed: `${error.code}: ${error.message}` };
  }
  return { session: row.id, records, dropped, damaged };
}

async function blobFault(store: Store, name: BlobName): Promise<BlobFault["fault"] | undefined> {
  try {
    for await (const _ of readBlob(store, name)) continue;
    return undefined;
  } catch (error) {
    if (HoldfastError.is(error, "BLOB_MISSING")) return "missing";
    if (HoldfastError.is(error, "BLOB_CORRUPT")) return "corrupt";
    if (HoldfastError.is(error)) return "unreadable";
    throw error;
  }
}

async function* pages<T, K extends string>(
  page: (read: StoreRead, after: K | "") => Promise<readonly T[]>,
  store: Store,
  keyOf: (element: T) => K,
): AsyncIterable<T> {
  for (let after: K | "" = ""; ; ) {
    const elements: readonly T[] = await store.reading((read) => page(read, after));
    yield* elements;
    const last = elements.at(-1);
    if (last === undefined) return;
    after = keyOf(last);
  }
}
