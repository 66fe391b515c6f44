import { type CallItem, type Item, type OutputItem, spaceOf, type ToolCallId } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";
import type { OutputReason, OutputStatus } from "../wire/status.ts";
import type { Batch } from "./batch.ts";
import { type FaultKind, type HistoryFault, severityOf } from "./faults.ts";
import { HistoryValidationReport, type OpenCall } from "./report.ts";
import { type Finding, isWeak, type PairScan } from "./scan.ts";
import { sameTurn, Strays } from "./strays.ts";

/** What to check a history against. */
export interface CheckOptions {
  /** The provider by which severities are judged. It does not change what is found or repaired. */
  readonly profile?: ProfileId;
  /**
   * Calls that are still running, each with the time after which it counts as lost. Without `now` none counts as lost.
   */
  readonly inFlight?: ReadonlyMap<ToolCallId, { readonly deadline?: number }>;
  /** The current time, in the same measure as the deadlines. */
  readonly now?: number;
  /**
   * The tools that the request may name. A call of any other tool, with its output, becomes a note. Default: no check.
   */
  readonly tools?: ReadonlySet<string>;
}

/** A finding with what a missing output should say. */
export interface Resolved extends Finding {
  readonly status?: OutputStatus;
  readonly reason?: OutputReason;
  /** Why the call was denied, in the words of whoever denied it. */
  readonly because?: string;
}

export interface Resolution {
  readonly findings: readonly Resolved[];
  readonly report: HistoryValidationReport;
}

interface OpenPair {
  readonly at: number;
  readonly call: CallItem;
  readonly batch: Batch;
  readonly ordinal: number;
  /** Nothing but outputs came after its answer. */
  readonly tail: boolean;
}

/** Turns what the scan knows now into faults. Costs the number of faults, not the length of the history. */
export function resolve(scan: PairScan, items: readonly Item[], options: CheckOptions = {}): Resolution {
  const found: Resolved[] = [...scan.settled];
  const inFlight: OpenCall[] = [];
  const strays = new Strays(scan);
  const asked = new Set([...scan.requests.values()].map((request) => request.callId));
  const lost = new Set<ToolCallId>();
  const paused: Resolved[] = [];
  for (const pair of openPairs(scan)) {
    const { at, call, batch, ordinal, tail } = pair;
    // A provider's own call at the very end is paused, not lost; further up only the provider could have answered it.
    if (call.server === true) {
      (tail ? paused : found).push({ kind: "missing-output", at, call: at, batch, ordinal });
      continue;
    }
    const verdict = judge(scan, pair, { strays, asked, options });
    if (verdict === undefined) continue;
    if ("waitsFor" in verdict) inFlight.push(verdict);
    else {
      found.push(verdict);
      if (pair.call.callId !== undefined) lost.add(pair.call.callId);
    }
  }
  const mended = new Set<number | undefined>();
  for (const at of strays.left()) {
    const finding = orphan(scan, items, at);
    mended.add(finding.call);
    found.push(finding);
  }
  for (const [call, finding] of scan.forged) if (!mended.has(call)) found.push(finding);
  for (const at of scan.pending) found.push({ kind: "broken-bond", at, bond: "reasoning" });
  const goesOn = found.some(({ kind, batch }) => batch === scan.batch && GOES_ON.includes(kind));
  if (found.some((finding) => isSplit(scan, finding))) found.push(...paused);
  for (const finding of unanswered(scan, lost, goesOn)) found.push(finding);
  found.sort((one, other) => one.at - other.at);
  const faults = found.map((finding) => faultOf(finding, items, options.profile));
  return {
    findings: found,
    report: new HistoryValidationReport(faults, {
      inFlight,
      unpairable: scan.unpairable.slice(),
      unknownStatuses: scan.unknownStatuses.slice(),
    }),
  };
}

function* openPairs(scan: PairScan): Generator<OpenPair> {
  for (const [at, batch] of scan.open) {
    const ordinal = batch.ordinalOf(at);
    yield { at, call: batch.items[ordinal] as CallItem, batch, ordinal, tail: false };
  }
  const { batch } = scan;
  for (let ordinal = 0; ordinal < batch.size; ordinal += 1) {
    if (batch.answers[ordinal] !== -1) continue;
    const at = batch.calls[ordinal] as number;
    yield { at, call: batch.items[ordinal] as CallItem, batch, ordinal, tail: true };
  }
}

interface Circumstances {
  readonly strays: Strays;
  /** Calls whose approval was asked for and never given. */
  readonly asked: ReadonlySet<ToolCallId | undefined>;
  readonly options: CheckOptions;
}

/** What becomes of a call without an output: nothing, it is still open, or a fault. */
function judge(
  scan: PairScan,
  pair: OpenPair,
  { strays, asked, options }: Circumstances,
): Resolved | OpenCall | undefined {
  const { at, call, batch, ordinal, tail } = pair;
  const place = { at, call: at, batch, ordinal };
  if (call.callId === undefined || call.callId === "")
    return isPartial(call) ? { kind: "partial-call", ...place } : { kind: "missing-output", ...place, ...INTERRUPTED };
  const early = strays.take(call, at);
  if (early !== undefined) return { kind: "output-before-call", at: early, call: at, batch, ordinal };
  const consent = consentTo(scan, at);
  if (tail && consent !== undefined) return open(call, at, consent);
  const running = isNewest(scan, call, at) ? options.inFlight?.get(call.callId) : undefined;
  if (running !== undefined && !isPast(running.deadline, options.now)) return open(call, at, "tool");
  if (isPartial(call)) return { kind: "partial-call", ...place };
  if (running !== undefined) return { kind: "missing-output", ...place, status: "timeout", reason: "deadline" };
  if (consent === "denial") return { kind: "missing-output", ...place, ...denied(scan, at) };
  return { kind: "missing-output", ...place, ...(asked.has(call.callId) ? UNANSWERED : INTERRUPTED) };
}

const INTERRUPTED = { status: "canceled", reason: "interrupted" } as const;
const UNANSWERED = { status: "canceled", reason: "approval-unanswered" } as const;

/** What the user said to a call. Asked twice and consented to once, it may have run. */
function consentTo(scan: PairScan, at: number): "approval" | "denial" | undefined {
  if (scan.approved.has(at)) return "approval";
  return scan.denied.has(at) ? "denial" : undefined;
}

function denied(scan: PairScan, at: number): Pick<Resolved, "status" | "reason" | "because"> {
  const because = scan.denied.get(at);
  return { status: "canceled", reason: "denied", ...(because === undefined ? {} : { because }) };
}

function open(call: CallItem, at: number, waitsFor: OpenCall["waitsFor"]): OpenCall {
  return { callId: call.callId as ToolCallId, toolName: call.name, at, waitsFor };
}

function isNewest(scan: PairScan, call: CallItem, at: number): boolean {
  return scan.newest[spaceOf(call.callKind)]?.get(call.callId as ToolCallId) === at;
}

function isPast(deadline: number | undefined, now: number | undefined): boolean {
  return deadline !== undefined && now !== undefined && now >= deadline;
}

/** Arguments that stop in the middle. An answered call is never asked: whatever it said, it ran. */
function isPartial(call: CallItem): boolean {
  if (call.partial !== undefined) return call.partial;
  if (call.inputText === undefined || call.inputText.trim() === "" || call.callKind === "custom") return false;
  try {
    JSON.parse(call.inputText);
    return false;
  } catch {
    return true;
  }
}

/** An orphan, unless the only answer of its call is a stopgap: then this is the real one, in the wrong place. */
function orphan(scan: PairScan, items: readonly Item[], at: number): Resolved {
  const output = items[at] as OutputItem;
  const call = scan.newest[spaceOf(output.callKind)]?.get(output.callId as ToolCallId);
  const weak = call === undefined ? undefined : scan.weak.get(call);
  if (call === undefined || weak === undefined || isWeak(output) || !sameTurn(scan, at, call)) {
    return { kind: "orphan-output", at };
  }
  return { kind: "duplicate-output", at: weak, call, output: at };
}

/** Faults of an answer that repair mends behind it: the answer is then no longer the last. */
const GOES_ON: readonly FaultKind[] = ["missing-output", "output-before-call", "unknown-tool"];

/** Whether what repair does about it parts the newest answer: what was paused in its first half is no longer at the end. */
function isSplit({ batch }: PairScan, finding: Resolved): boolean {
  if (finding.batch !== batch || !GOES_ON.includes(finding.kind)) return false;
  return finding.kind === "unknown-tool" || batch.placeOf(finding.ordinal ?? 0) <= batch.lastModel;
}

/** Approval requests that nobody answered and whose call nobody ran: they would wait for ever. */
function unanswered(scan: PairScan, lost: ReadonlySet<ToolCallId>, goesOn: boolean): Resolved[] {
  const found: Resolved[] = [];
  const end = goesOn ? -1 : scan.count - 1;
  for (const { at, callId, batch } of scan.requests.values()) {
    const isLast = at >= scan.batch.start && at <= scan.batch.lastModel && scan.batch.lastModel === end;
    const broken = callId === undefined ? !isLast : lost.has(callId);
    const torn = callId === undefined ? { batch } : {};
    if (broken) found.push({ kind: "broken-bond", at, bond: "approval", ...torn });
  }
  return found;
}

export function faultOf(finding: Resolved, items: readonly Item[], profile?: ProfileId): HistoryFault {
  const item = items[finding.at] as Item;
  const call = finding.call === undefined ? undefined : (items[finding.call] as CallItem);
  const pairable = item.kind === "call" || item.kind === "output" ? item : undefined;
  const callId = pairable?.callId ?? (item.kind === "approval-request" ? item.callId : undefined);
  const toolName = call?.name ?? pairable?.name;
  const related = finding.kind === "duplicate-output" ? (finding.output ?? finding.call) : finding.call;
  return {
    kind: finding.kind,
    at: finding.at,
    ...(callId === undefined ? {} : { callId }),
    ...(pairable === undefined ? {} : { callKind: pairable.callKind }),
    ...(toolName === undefined ? {} : { toolName }),
    ...(finding.bond === undefined ? {} : { bond: finding.bond }),
    ...(related === undefined || related === finding.at ? {} : { related }),
    severity: severityOf(finding.kind, profile),
  };
}
