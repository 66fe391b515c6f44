import { canonicalJson } from "../base/canonical.ts";
import type { Json } from "../base/json.ts";
import type { CallItem } from "../wire/item.ts";
import { argumentsText } from "./content-text.ts";
import { inputOf, tellingOf } from "./facts.ts";
import { isBelow, minFidelity, type ResidencyLevel } from "./kind.ts";
import type { Page } from "./page.ts";
import type { Recalled } from "./recall.ts";
import { behindView, type View } from "./view.ts";

/** A promise about context that was not kept. */
export type ContextFault =
  | "refetch"
  | "duplicate-tool"
  | "pinned-invariant-miss"
  | "post-compaction-bootstrap"
  | "silent-recall"
  | "flush-miss";

/** How often each fault and alert happened. */
export interface ContextCounts {
  readonly faults: Readonly<Record<ContextFault, number>>;
  /** Calls repeated although their result was still visible: the model's doing, not ours. */
  readonly alerts: number;
  /** Pages that could be shown when they were wanted. */
  readonly hits: number;
}

/** Counts that are all zero. */
export const NO_COUNTS: ContextCounts = {
  faults: {
    refetch: 0,
    "duplicate-tool": 0,
    "pinned-invariant-miss": 0,
    "post-compaction-bootstrap": 0,
    "silent-recall": 0,
    "flush-miss": 0,
  },
  alerts: 0,
  hits: 0,
};

export function isContextFault(text: string): text is ContextFault {
  return Object.hasOwn(NO_COUNTS.faults, text);
}

/** Faults and alerts together, divided by the number of hits plus one. */
export function thrashOf({ faults, alerts, hits }: ContextCounts): number {
  const events = Object.values(faults).reduce((sum, count) => sum + count, alerts);
  return events / (hits + 1);
}

export function withFault(counts: ContextCounts, fault: ContextFault, times = 1): ContextCounts {
  return { ...counts, faults: { ...counts.faults, [fault]: counts.faults[fault] + times } };
}

/** What a view lacks that it should show. Empty for every view that `deriveView` returns. */
export function missedIn(view: View): readonly { readonly fault: ContextFault; readonly page: string }[] {
  const shown = new Map<number, ResidencyLevel>();
  for (const { from, to, level } of view.entries) for (let at = from; at < to; at += 1) shown.set(at, level);
  return view.pages.flatMap((page, at): { fault: ContextFault; page: string }[] => {
    const level = shown.get(at);
    if (level !== undefined && !isBelow(level, minFidelity(page.kind))) return [];
    if (page.kind === "bootstrap" && view.reclaim !== undefined)
      return [{ fault: "post-compaction-bootstrap", page: page.id }];
    return page.pin === "hard" ? [{ fault: "pinned-invariant-miss", page: page.id }] : [];
  });
}

/**
 * What a new call means: the first of its kind, a repetition of one whose result is visible, or a call that was needed
 * because a page had been lowered.
 */
export type CallSeen = "first" | "alert" | "duplicate-tool" | "refetch";

/** Remembers which calls were made and where their results are, and counts faults. It changes nothing. */
export class FaultObserver {
  /** By signature, and by tool with what it was about: the page of the newest output. */
  readonly #outputs = new Map<string, string>();
  readonly #calls = new Map<string, CallItem>();
  #placed: { readonly view: View; readonly places: ReadonlyMap<string, number> } | undefined;
  counts: ContextCounts;

  constructor(counts: ContextCounts = NO_COUNTS) {
    this.counts = counts;
  }

  /** Records pages. Recording one twice counts once. */
  note(pages: Iterable<Page>): void {
    for (const { id, representations } of pages) {
      const item = representations.full?.item;
      if (item?.kind === "call" && item.callId !== undefined) this.#calls.set(item.callId, item);
      if (item?.kind !== "output" || item.callId === undefined) continue;
      const call = this.#calls.get(item.callId);
      if (call === undefined) continue;
      for (const name of [signatureOf(call), subjectOf(call)]) if (name !== undefined) this.#outputs.set(name, id);
    }
  }

  /**
   * Judges a call that the model makes while it sees `view`. Use it only for tools that read: repeating a write may be
   * intended.
   */
  call(call: CallItem, view: View): CallSeen {
    const same = this.#outputs.get(signatureOf(call));
    const page = same ?? this.#outputs.get(subjectOf(call) ?? "");
    const at = page === undefined ? undefined : this.#placesIn(view).get(page);
    if (at === undefined) return "first"; // or it was taken back by a rewind
    if (isReadable(levelOf(view, at))) {
      if (same !== undefined) this.counts = { ...this.counts, alerts: this.counts.alerts + 1 };
      return same === undefined ? "first" : "alert";
    }
    const fault = same === undefined ? "refetch" : "duplicate-tool";
    this.counts = withFault(this.counts, fault);
    return fault;
  }

  /** Where pages stand in a view: looked up once, however many calls the answer to it makes. */
  #placesIn(view: View): ReadonlyMap<string, number> {
    if (this.#placed?.view !== view) {
      const { list, count } = behindView(view);
      this.#placed = { view, places: new Map(list.slice(0, count).map(({ id }, at) => [id, at])) };
    }
    return this.#placed.places;
  }

  /** Counts a recall that succeeded as a hit. */
  recalled(answer: Recalled): void {
    if (answer.ok) this.counts = { ...this.counts, hits: this.counts.hits + 1 };
  }

  /** Counts what the view of a request that is about to be sent lacks. */
  assembled(view: View): void {
    for (const { fault } of missedIn(view)) this.counts = withFault(this.counts, fault);
  }
}

/** The level a page is shown at in a view; undefined when it is not shown. */
function levelOf(view: View, at: number): ResidencyLevel | undefined {
  return view.entries.find(({ from, to }) => from <= at && at < to)?.level;
}

function isReadable(level: ResidencyLevel | undefined): boolean {
  return level === "full" || level === "compressed";
}

function signatureOf(call: CallItem): string {
  const input = inputOf(call);
  return `${call.name}(${input === undefined ? argumentsText(call) : canonicalJson(input)})`;
}

/** What a call is about, in full: two long commands that begin alike are two. Undefined when it does not say. */
function subjectOf(call: CallItem): string | undefined {
  const about = tellingOf(call).filter(([, value]) => value !== "" && (value as readonly Json[]).length > 0);
  return about.length === 0 ? undefined : `${call.name} about ${canonicalJson(Object.fromEntries(about))}`;
}
