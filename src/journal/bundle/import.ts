import { instantOf } from "../../base/clock.ts";
import { bothErrors, HoldfastError } from "../../base/errors.ts";
import { checkOptions, OBJECT, TEXT } from "../../base/options.ts";
import { readTar } from "../../base/tar.ts";
import type { NewBlob, SessionRow } from "../../contracts/store.ts";
import type { Link, SealedRecord } from "../../records/chain.ts";
import { decodeRecord } from "../../records/codec.ts";
import { type BlobName, type SessionId, toSessionId } from "../../records/ids.ts";
import type { JournalRecord, RecordDraft } from "../../records/kinds.ts";
import { stageBlob } from "../blobs.ts";
import { committed } from "../conflicts.ts";
import { sealedNote } from "../fork.ts";
import type { JournalDeps } from "../journal.ts";
import { takeLease, type TakenLease } from "../take-lease.ts";
import { importingId, refuseImportingId } from "../importing.ts";
import { PAGE } from "../read.ts";
import { removeAbandonedImports } from "./abandoned.ts";
import { leftIn, leftRecords } from "./left.ts";
import { type BundleReport, type BundleSource, recordsIn, refuseNoSource, verifyBundle } from "./read.ts";

/** What an import took in. */
export interface ImportedBundle extends BundleReport {
  /** The id of the session in this store. */
  readonly as: SessionId;
  /** How many pieces of content its records name that were not in the bundle, such as files of a workspace. */
  readonly left: number;
}

/** Options of an import. */
export interface ImportOptions {
  /** The id of the session in this store. Default: the one it had. */
  readonly as?: string;
  /** Stops the import; what was taken in until then is removed again. */
  readonly signal?: AbortSignal;
}

const LEASE_MS = 60_000;

/**
 * Imports a proven bundle into a store as a session: the same records, the same chain, all of it or nothing. Workspace
 * files are never in a bundle, so a session that needs their content can be read here but not opened.
 */
export async function importBundle(
  deps: JournalDeps,
  given: BundleSource,
  options: ImportOptions = {},
): Promise<ImportedBundle> {
  checkOptions(options, { as: TEXT, signal: OBJECT });
  refuseNoSource(given);
  const source = heeding(given, options.signal);
  const report = await verifyBundle(source);
  if (!report.ok) throw new HoldfastError("BUNDLE_DAMAGED", { faults: report.faults.slice(0, 5) });
  const as = toSessionId(options.as ?? report.session);
  refuseImportingId(as);
  await removeAbandonedImports(deps);
  if ((await deps.store.reading((read) => read.session(as))) !== undefined)
    throw new HoldfastError("SESSION_EXISTS", { session: as });
  const { row, letGo } = await begin(deps, source);
  const held = { session: row.id, epoch: row.epoch };
  try {
    const left = await takeRecords(deps, source, row, toSessionId(report.session));
    // One commit makes it the session that was asked for: whoever is killed before has imported nothing.
    await committed(deps.store, as, { kind: "rename", ...held, to: as });
    return { ...report, as, left };
  } catch (error) {
    throw await deps.store.commit({ kind: "delete", ...held }).then(
      () => error,
      (second: unknown) => bothErrors(error, second),
    );
  } finally {
    letGo(); // what could not be taken away now is removed by a sweep, or by the next import
  }
}

function heeding(source: BundleSource, signal: AbortSignal | undefined): BundleSource {
  return async function* read() {
    for await (const piece of source()) {
      signal?.throwIfAborted();
      yield piece;
    }
  };
}

async function begin({ store, clock, random }: JournalDeps, source: BundleSource): Promise<TakenLease> {
  const session = importingId(random);
  const genesis = await anchorOf(source);
  await committed(store, session, { kind: "create", session, at: instantOf(clock), genesis });
  return takeLease(store, session, LEASE_MS);
}

/** What the first record hangs on. */
async function anchorOf(source: BundleSource): Promise<Link> {
  for await (const file of readTar(source()))
    for (const { seq, prev } of recordsIn(file)) return { seq: seq - 1, hash: prev };
  throw new HoldfastError("BUNDLE_DAMAGED", { detail: "it has no records" });
}

/** Answers how much content stayed behind. What of it no record of the bundle's tells is told by one more. */
async function takeRecords(deps: JournalDeps, source: BundleSource, row: SessionRow, from: SessionId): Promise<number> {
  const { store } = deps;
  const content = new Map<BlobName, NewBlob>();
  const left = new Set<BlobName>();
  const told = new Set<BlobName>();
  let page: SealedRecord[] = [];
  let after: Link = row.head;
  let hasEffects = false;
  const append = async () => {
    const last = page.at(-1);
    if (last === undefined) return;
    const entries = page.flatMap((record) => entryIn(record) ?? []);
    for (const entry of entries) for (const name of leftIn(entry)) told.add(name);
    hasEffects ||= page.some(({ kind }) => kind === "effect-opened") || entries.some(keepsEffects);
    const named = entries.flatMap(({ seq, blobs = [] }) => blobs.map(({ name }) => ({ seq, name })));
    for (const { name } of named) if (!content.has(name)) left.add(name);
    const references = named.filter(({ name }) => content.has(name));
    const checkpoint = page.findLast(({ kind, body }) => kind === "checkpoint-kept" && body !== null);
    await committed(store, row.id, {
      kind: "append",
      session: row.id,
      epoch: row.epoch,
      after,
      records: page,
      references,
      blobs: [...new Set(references.map(({ name }) => content.get(name)))].filter((blob) => blob !== undefined),
      leaseMs: LEASE_MS,
      ...(checkpoint === undefined ? {} : { checkpoint: checkpoint.seq }),
    });
    after = { seq: last.seq, hash: last.hash };
    page = [];
  };
  for await (const file of readTar(source())) {
    if (file.path.startsWith("content/")) {
      const staged = await stageBlob(store, file.bytes);
      content.set(staged.ref.name, staged);
    }
    for (const record of recordsIn(file)) {
      page.push(record);
      if (page.length >= PAGE) await append();
    }
  }
  await append();
  const notes: RecordDraft[] = [...leftRecords([...left.difference(told)])];
  // The session that it came from may still rely on what it did outside: undone by both, it would be undone twice.
  if (hasEffects) notes.push({ kind: "forked", from, after: after.seq });
  for (const note of notes) {
    page = [sealedNote(deps, after, note)];
    await append();
  }
  return left.size;
}

/** Whether a checkpoint remembers something that was done outside, by records that retention has cut off. */
function keepsEffects(entry: JournalRecord): boolean {
  if (entry.kind !== "checkpoint-kept") return false;
  const { effects } = Object(entry.state) as { readonly effects?: unknown };
  return Array.isArray(effects) && effects.length > 0;
}

/** A record whose body came along. */
function entryIn(record: SealedRecord): JournalRecord | undefined {
  const decoded = record.body === null ? undefined : decodeRecord(record);
  return decoded?.ok !== true || decoded.value.kind === "dropped" ? undefined : decoded.value;
}
