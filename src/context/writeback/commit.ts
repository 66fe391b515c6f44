import { canonicalJson } from "../../base/canonical.ts";
import type { Json } from "../../base/json.ts";
import { FIELDS } from "./fields.ts";
import {
  type DurablePage,
  type DurablePages,
  type Entry,
  type Field,
  keyOf,
  stampOf,
  type Writeback,
} from "./tuple.ts";
import { validateWriteback, type WritebackRejection, type WritebackWorld } from "./validate.ts";

/** A writeback that was refused, and why. */
export interface RejectedWriteback {
  readonly writeback: Writeback;
  readonly rejection: WritebackRejection;
}

/** What a commit would do. Nothing has been written yet. */
export interface CommitPlan {
  readonly pages: DurablePages;
  readonly committed: readonly Writeback[];
  readonly rejected: readonly RejectedWriteback[];
}

/**
 * Validates what is staged, in the order of its clocks, each change against the result of those before it. The order of
 * arrival makes no difference, and a rejected change has no effect.
 */
export function planCommit(staged: readonly Writeback[], world: WritebackWorld): CommitPlan {
  let { pages } = world;
  const committed: Writeback[] = [];
  const rejected: RejectedWriteback[] = [];
  for (const writeback of staged.toSorted(byStamp)) {
    // An earlier process may have died between writing it and saying so.
    const rejection = isApplied(writeback, pages) ? undefined : validateWriteback(writeback, { ...world, pages });
    if (rejection !== undefined) {
      rejected.push({ writeback, rejection });
      continue;
    }
    pages = applyWriteback(pages, writeback);
    committed.push(writeback);
  }
  return { pages, committed, rejected };
}

/** The pages with one valid change in them. The same change twice is once; the order of appends and merges is all one. */
export function applyWriteback(pages: DurablePages, writeback: Writeback): DurablePages {
  if (isApplied(writeback, pages)) return pages;
  const key = keyOf(writeback);
  const { kind, page, scope, by, field } = writeback;
  const now: DurablePage = pages[key] ?? { kind, page, scope, source: by, fields: {} };
  const changed = changedField(now.fields[field], writeback);
  const fields = sorted({ ...now.fields, [field]: changed });
  return sorted({ ...pages, [key]: { ...now, fields } });
}

function changedField(now: Field | undefined, writeback: Writeback): Field {
  const type = FIELDS[writeback.kind][writeback.field]?.type ?? "text";
  const stamp = stampOf(writeback);
  const clock = Math.max(now?.clock ?? 0, writeback.clock);
  const { value, op } = writeback;
  const replaces = op === "set-with-version";
  const kept = replaces ? undefined : now;
  const set = replaces ? { stamp } : now?.stamp === undefined ? {} : { stamp: now.stamp };
  switch (type) {
    case "text":
      return { type, text: value as string, stamp, clock };
    case "list": {
      const added = op === "append" ? [value] : (value as readonly Json[]);
      const before = kept?.type === "list" ? kept.list : [];
      return { type, list: distinct([...before, ...added.map((one) => ({ value: one, stamp }))]), clock, ...set };
    }
    case "map": {
      const before = kept?.type === "map" ? kept.map : {};
      return { type, map: newest(before, value as Readonly<Record<string, Json>>, stamp), clock, ...set };
    }
  }
}

/** In the order of their stamps, each value once, under the oldest of its stamps. */
function distinct(entries: readonly Entry[]): readonly Entry[] {
  const seen = new Set<string>();
  return entries
    .toSorted((a, b) => compare(a.stamp, b.stamp) || compare(canonicalJson(a.value), canonicalJson(b.value)))
    .filter(({ value }) => {
      const text = canonicalJson(value);
      return seen.size !== seen.add(text).size;
    });
}

/** Of two values for one key the one with the newer stamp. */
function newest(
  before: Readonly<Record<string, Entry>>,
  values: Readonly<Record<string, Json>>,
  stamp: string,
): Readonly<Record<string, Entry>> {
  const next: Record<string, Entry> = { ...before };
  for (const [key, value] of Object.entries(values)) {
    const known = Object.hasOwn(next, key) ? next[key] : undefined;
    if (known === undefined || known.stamp < stamp) next[key] = { value, stamp };
  }
  return sorted(next);
}

function isApplied(writeback: Writeback, pages: DurablePages): boolean {
  const field = pages[keyOf(writeback)]?.fields[writeback.field];
  const stamp = stampOf(writeback);
  if (field?.stamp === stamp) return true;
  switch (field?.type) {
    case "list":
      return field.list.some((entry) => entry.stamp === stamp);
    case "map":
      return Object.values(field.map).some((entry) => entry.stamp === stamp);
    default:
      return false;
  }
}

/** Keys in one order, so that equal pages have equal bytes. */
function sorted<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => compare(a, b)));
}

function byStamp(a: Writeback, b: Writeback): number {
  return compare(stampOf(a), stampOf(b));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
