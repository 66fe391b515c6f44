import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { AMOUNT, BOOLEAN, checkOptions, OBJECT, type OptionRules, whole } from "../base/options.ts";
import type { Store, SweepBatch } from "../contracts/store.ts";
import type { BlobName } from "../records/ids.ts";
import { committed } from "./conflicts.ts";

/** Options of `sweep`. */
export interface SweepOptions {
  /**
   * How long content that no record has named yet is left alone, in milliseconds: its writer may be about to commit.
   * Default 1 hour. For content that records once named and no longer do, it is at most five minutes since it was last
   * put.
   */
  readonly graceMs?: number;
  /** How many records and blobs one transaction removes. Writers wait for it, and get their turn between two. */
  readonly limit?: number;
  /** Also gives freed space back to the disk, in small steps between the writes of others. Default true. */
  readonly shrink?: boolean;
  readonly signal?: AbortSignal;
}

export const SWEEP_OPTIONS: OptionRules<SweepOptions> = {
  graceMs: AMOUNT,
  limit: whole(1),
  shrink: BOOLEAN,
  signal: OBJECT,
};

interface SweepDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** What a sweep removed. */
export interface SweepReport {
  readonly records: number;
  readonly blobs: number;
  /** Bytes of content removed. */
  readonly bytes: number;
  /** How many bytes smaller the store is on the disk. */
  readonly shrunkBy: number;
}

/** Content outside the store that was put so recently is left alone: somebody may be about to name it again. */
const JUST_PUT_MS = 300_000;
const AT_ONCE = 256;

/**
 * Removes what records no longer name, as a session does by the way. What no record ever named is left to `sweep`, which
 * looks for it; and so is everything while a session is damaged, because nobody knows what that one names.
 */
export async function sweepForgotten({ store, clock }: SweepDeps): Promise<void> {
  const putBefore = clock.now() - JUST_PUT_MS;
  try {
    await sweepAll(store, { candidates: [], putBefore, byTheWay: true });
  } catch (error) {
    if (!HoldfastError.is(error, "SESSION_DAMAGED")) throw error;
  }
}

/** Removes these, too, as far as no record names them any more: now, and not when somebody cleans up. */
export function sweepAway(store: Store, candidates: readonly BlobName[]): Promise<void> {
  return sweepAll(store, { candidates });
}

async function sweepAll(store: Store, what: Omit<SweepBatch, "kind" | "limit">): Promise<void> {
  while ((await committed(store, undefined, { kind: "sweep", limit: AT_ONCE, ...what })).more);
}

/**
 * Removes what no session can reach. Every removal is checked again inside its write transaction, so a sweep can be
 * killed anywhere. A writer that slept since it put its content gets an error at its commit, instead of losing content
 * later.
 */
export async function sweep(deps: SweepDeps, options: SweepOptions = {}): Promise<SweepReport> {
  checkOptions(options, SWEEP_OPTIONS);
  const { graceMs = 3_600_000, limit = AT_ONCE, shrink = true, signal } = options;
  const { store, clock } = deps;
  const total = { records: 0, blobs: 0, bytes: 0 };
  const started = clock.now();
  const run = async (candidates: readonly BlobName[], sparedMs: number): Promise<boolean> => {
    signal?.throwIfAborted();
    const spared = sparedMs === 0 ? {} : { putBefore: started - sparedMs };
    const swept = await committed(store, undefined, { kind: "sweep", limit, candidates, ...spared });
    total.records += swept.records;
    total.blobs += swept.blobs;
    total.bytes += swept.bytes;
    return swept.more;
  };
  while (await run([], Math.min(graceMs, JUST_PUT_MS)));
  const before = started - graceMs;
  let candidates: BlobName[] = [];
  for await (const { name } of store.blobs.list(before)) {
    candidates.push(name);
    if (candidates.length < limit) continue;
    while (await run(candidates, graceMs));
    candidates = [];
  }
  if (candidates.length > 0) while (await run(candidates, graceMs));
  total.bytes += await store.blobs.sweepTemps(before);
  return { ...total, shrunkBy: shrink ? (await store.shrink()).bytes : 0 };
}
