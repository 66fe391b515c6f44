import type { JsonObject } from "../base/json.ts";
import type { DroppedRecord } from "../records/codec.ts";
import type { JournalRecord } from "../records/kinds.ts";
import { CallTracker } from "./call-tracker.ts";

/** How a session's history was kept and used, in numbers: the evidence that seed 002 asks for. */
export interface HistoryUsage {
  /** How many records `conversation_history` has. */
  readonly size: number;
  readonly calls: {
    /** Calls that have ended, however they ended. */
    readonly ended: number;
    /** Those of them that have a record. */
    readonly recorded: number;
    /** Calls that are running or waiting; they have no record yet. */
    readonly open: number;
    /** Calls whose record was dropped, with a reason in its place. */
    readonly dropped: number;
  };
  /** Requests in which programs were offered, and how many of them contained the guidance. */
  readonly requests: { readonly offering: number; readonly guided: number };
  readonly programs: {
    readonly run: number;
    readonly failed: number;
    /** Programs run again, by name or digest. */
    readonly again: number;
    /** Programs whose text reads the history. */
    readonly detected: number;
    /** Programs that did read it when they ran. */
    readonly reading: number;
    /** Programs that read it and were detected by their text. */
    readonly readingDetected: number;
    readonly recordsRead: number;
  };
  /** How many programs use each way of asking. */
  readonly patterns: Readonly<Record<string, number>>;
}

/** Shares from 0 to 1; `undefined` where there is nothing to take a share of. */
export interface HistoryRates {
  readonly appended: number | undefined;
  readonly guided: number | undefined;
  readonly detected: number | undefined;
}

/** The shares that a usage amounts to. */
export function ratesOf({ calls, requests, programs }: HistoryUsage): HistoryRates {
  return {
    appended: share(calls.recorded + calls.dropped, calls.ended),
    guided: share(requests.guided, requests.offering),
    detected: share(programs.readingDetected, programs.reading),
  };
}

/** Counts usage as a journal is read. */
export interface UsageCounter {
  /** Reads the next record of the journal. */
  take(entry: JournalRecord | DroppedRecord): void;
  /** The usage so far. `running` says how many calls without an end may still end; every other one lacks its record. */
  usage(running: number): HistoryUsage;
}

/** Starts a counter for one journal. */
export function usageCounter(): UsageCounter {
  const tracker = new CallTracker();
  const begun = new Set<string>();
  const patterns = new Map<string, number>();
  const requests = { offering: 0, guided: 0 };
  const programs = { run: 0, failed: 0, again: 0, detected: 0, reading: 0, readingDetected: 0, recordsRead: 0 };
  let [size, recorded, dropped] = [0, 0, 0];
  const take = (entry: JournalRecord | DroppedRecord): void => {
    if (entry.kind === "dropped" && entry.was === "call-closed") dropped += 1;
    if (entry.kind === "call-opened") begun.add(entry.callId);
    if (entry.kind === "checkpoint-kept") for (const { callId } of entry.openCalls) begun.add(callId);
    if ((entry.kind === "model-said" || entry.kind === "model-failed") && entry.historyGuidance !== undefined) {
      requests.offering += 1;
      if (entry.historyGuidance) requests.guided += 1;
    }
    const told = tracker.take(entry);
    if (told !== undefined) size += 1;
    if (told?.kind !== "ended") return;
    const { callId, status, notes } = told.closed;
    begun.add(callId);
    recorded += 1;
    const used = programIn((notes ?? {}) as JsonObject);
    if (used === undefined) return;
    programs.run += 1;
    programs.recordsRead += used.read;
    if (status !== "success") programs.failed += 1;
    if (used.again) programs.again += 1;
    if (used.detected) programs.detected += 1;
    if (used.read > 0) programs.reading += 1;
    if (used.read > 0 && used.detected) programs.readingDetected += 1;
    for (const pattern of used.patterns) patterns.set(pattern, (patterns.get(pattern) ?? 0) + 1);
  };
  const usage = (running: number): HistoryUsage => {
    const all = Math.max(begun.size, recorded + dropped);
    const open = Math.min(running, all - recorded - dropped);
    return {
      size,
      calls: { ended: all - open, recorded, open, dropped },
      requests: { ...requests },
      programs: { ...programs },
      patterns: Object.fromEntries([...patterns].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    };
  };
  return { take, usage };
}

/** Adds up the usage of several sessions. */
export function sumOfUsage(all: readonly HistoryUsage[]): HistoryUsage {
  const patterns: Record<string, number> = {};
  for (const one of all)
    for (const [pattern, times] of Object.entries(one.patterns)) patterns[pattern] = (patterns[pattern] ?? 0) + times;
  return {
    size: all.reduce((sum, one) => sum + one.size, 0),
    calls: added(all.map(({ calls }) => calls)),
    requests: added(all.map(({ requests }) => requests)),
    programs: added(all.map(({ programs }) => programs)),
    patterns,
  };
}

function added<T extends Readonly<Record<string, number>>>(all: readonly T[]): T {
  const sums: Record<string, number> = {};
  for (const one of all) for (const [name, value] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + value;
  return sums as T;
}

/** What was noted of a program, when the call ran one. */
function programIn(notes: JsonObject) {
  const { program_source: source, artifact_hit: hit, history_records_read: read } = notes;
  if (typeof source !== "string") return undefined;
  const { history_access_detected: detected, history_query_patterns: patterns } = notes;
  return {
    again: hit === true,
    detected: detected === true,
    read: typeof read === "number" ? read : 0,
    patterns: Array.isArray(patterns) ? patterns.filter((one) => typeof one === "string") : [],
  };
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}
