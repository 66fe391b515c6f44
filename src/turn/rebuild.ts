import { HoldfastError } from "../base/errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { PartIntroduction } from "../state/opaque.ts";
import { type AnyPart, applyRootDelta, type Parts, type RootDelta } from "../state/part.ts";
import type { Root } from "../state/root.ts";
import type { Epoch } from "./epochs.ts";
import type { SessionFold } from "./fold.ts";
import { type KeptState, keptState } from "./kept-state.ts";
import { catalogPart } from "./catalog-part.ts";
import { strangerPart } from "./kernel-parts.ts";
import type { PartBlobs } from "./part-blobs.ts";

/** What of a journal is needed to say what was true: writing it is somebody else's. */
export type JournalReading = Pick<Journal<SessionFold>, "opened" | "folded" | "head" | "read">;

export interface Rebuilt {
  readonly root: Root;
  /** Those of this process, and one for every slice that only the journal knows. */
  readonly parts: Parts;
  /** Changes that could not be applied, because something they build on is lost. */
  readonly skipped: readonly number[];
  /** Something is lost that may have been a change of the mode, and nothing after it says what the mode is. */
  readonly modeInDoubt: boolean;
}

/**
 * The state that opening found: the newest kept one, and every change after it. When its content is damaged, the kept
 * state before it and every change since: a flipped byte must not cost the session.
 */
export async function rebuildNewest(
  journal: JournalReading,
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  try {
    return await rebuildFromTail(journal.opened.tail, known, blobs);
  } catch (error) {
    if (!isDamage(error)) throw error;
    for (const epoch of journal.folded.epochs.slice(0, -1).toReversed()) {
      try {
        return await stateFrom(journal, epoch, journal.head.seq, known, blobs);
      } catch (older) {
        if (!isDamage(older)) throw older;
      }
    }
    throw error;
  }
}

async function rebuildFromTail(
  tail: readonly JournalEntry[],
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const at = tail.findLastIndex((entry) => keptState(entry) !== undefined);
  const base = tail[at];
  if (base === undefined) refuseLostBeginning(tail);
  const kept = base === undefined ? undefined : keptState(base);
  return rebuild(kept, tail.slice(at + 1), known, blobs, (parts, places) => blobs.resume(parts, places));
}

/**
 * What is true where a session was cut is told by the checkpoint that it begins with, and by nothing else. Taken for what a
 * new session begins with, plan mode would be over, and what was done outside would be done once more.
 */
function refuseLostBeginning(tail: readonly JournalEntry[]): void {
  if (!isBeginningLost(tail)) return;
  const detail = "it was cut, and the checkpoint that it begins with is lost";
  throw new HoldfastError("SESSION_DAMAGED", { record: tail[0]?.seq, detail });
}

function isBeginningLost(tail: readonly JournalEntry[]): boolean {
  const [first] = tail;
  return first !== undefined && first.seq > 1 && !tail.some(({ kind }) => kind === "checkpoint-kept");
}

/** The state as it was after a record, however long ago, as long as what it is made of is kept. */
export async function stateAt(
  journal: JournalReading,
  seq: number,
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const epoch = journal.folded.epochs.findLast(({ base }) => base <= seq);
  if (epoch === undefined || (epoch.base === 0 && isBeginningLost(journal.opened.tail))) throw gone(seq);
  for (const change of epoch.changes) {
    // Passing over a change that cannot be proven would show a state that never was.
    if (change <= seq && (await entryAt(journal, change)).kind === "damaged") throw gone(change);
  }
  return stateFrom(journal, epoch, seq, known, blobs);
}

async function stateFrom(
  journal: JournalReading,
  from: Epoch,
  seq: number,
  known: readonly AnyPart[],
  blobs: PartBlobs,
): Promise<Rebuilt> {
  const kept = from.base === 0 ? undefined : keptState(await entryAt(journal, from.base));
  if (from.base > 0 && kept === undefined) throw gone(seq);
  const later = journal.folded.epochs.filter(({ base }) => base >= from.base).flatMap(({ changes }) => changes);
  const changes: JournalEntry[] = [];
  for (const change of later) if (change <= seq) changes.push(await entryAt(journal, change));
  const rebuilt = await rebuild(kept, changes, known, blobs);
  if (rebuilt.skipped.length > 0) throw gone(seq);
  return rebuilt;
}

async function rebuild(
  kept: KeptState | undefined,
  entries: readonly JournalEntry[],
  known: readonly AnyPart[],
  blobs: PartBlobs,
  load: PartBlobs["load"] = (parts, places) => blobs.load(parts, places),
): Promise<Rebuilt> {
  const parts = await withStrangers(known, kept, entries, blobs);
  let root = await load(parts, kept?.parts ?? {});
  const skipped: number[] = [];
  let modeInDoubt = false;
  for (const entry of entries) {
    if (entry.kind === "dropped" && entry.was === "state-changed") skipped.push(entry.seq);
    // Written down before the change itself: until that is read, it is only a word.
    if (entry.kind === "mode-changed" || mayHaveChangedMode(entry)) modeInDoubt = true;
    if (entry.kind !== "state-changed") continue;
    const delta = entry.delta as RootDelta;
    try {
      root = applyRootDelta(parts, root, delta);
      if (Object.hasOwn(delta, catalogPart.name)) modeInDoubt = false; // it says the whole of it, whatever was before
    } catch (error) {
      if (error instanceof RangeError) throw error; // no room for it here is no damage: what was acknowledged is there
      skipped.push(entry.seq);
      modeInDoubt ||= Object.hasOwn(delta, catalogPart.name);
    }
  }
  return { root: await blobs.fill(parts, root), parts, skipped, modeInDoubt };
}

function mayHaveChangedMode(entry: JournalEntry): boolean {
  if (entry.kind !== "damaged" && entry.kind !== "dropped") return false;
  return entry.was === undefined || MODE_KINDS.includes(entry.was);
}

const MODE_KINDS: readonly string[] = ["mode-changed", "state-changed"];

/** A slice that is not registered here must not be lost when this process writes the next checkpoint. */
async function withStrangers(
  known: readonly AnyPart[],
  kept: KeptState | undefined,
  entries: readonly JournalEntry[],
  blobs: PartBlobs,
): Promise<Parts> {
  const parts = new Map(known.map((part) => [part.name, part]));
  for (const [name, told] of Object.entries(kept?.parts ?? {}))
    if (!parts.has(name)) parts.set(name, strangerPart(name, await blobs.introduced(told)));
  for (const entry of entries) {
    if (entry.kind !== "state-changed") continue;
    const told = (entry.introduces ?? {}) as unknown as Readonly<Record<string, PartIntroduction>>;
    for (const name of Object.keys(entry.delta as RootDelta))
      if (!parts.has(name)) parts.set(name, strangerPart(name, told[name] ?? { policy: "state" }));
  }
  return parts;
}

async function entryAt(journal: JournalReading, seq: number): Promise<JournalEntry> {
  for await (const entry of journal.read({ from: seq, to: seq })) if (entry.seq === seq) return entry;
  throw gone(seq);
}

/** What it is made of is lost, or no longer kept. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.some((code) => HoldfastError.is(error, code));
}

const DAMAGE = ["BLOB_CORRUPT", "BLOB_MISSING", "CHECKPOINT_UNKNOWN"] as const;

function gone(seq: number): HoldfastError {
  return new HoldfastError("CHECKPOINT_UNKNOWN", { record: seq });
}
