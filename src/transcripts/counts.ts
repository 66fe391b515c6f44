import { firstWhere } from "../base/first-where.ts";
import type { Reading } from "./format.ts";

/** Defects by their literal definition: read strictly, by id alone, in the order of the file. */
export interface Counts {
  readonly missing: number;
  readonly missingAtTail: number;
  readonly orphan: number;
  readonly duplicateCallIds: number;
  readonly duplicateOutputs: number;
  readonly outputBeforeCall: number;
  readonly displaced: number;
  readonly badLines: number;
  readonly gluedLines: number;
}

export interface Totals {
  readonly messages: number;
  readonly calls: number;
  readonly outputs: number;
  readonly counts: Counts;
}

interface Occurrence {
  readonly id: string | undefined;
  /** Place in the order of turns, calls and outputs. */
  readonly at: number;
  /** The answer it belongs to; for an output, that of the element it stands in. */
  readonly turn: string;
  /** Its output lies inside it. */
  readonly inside: boolean;
}

interface Spoken {
  readonly at: number;
  readonly turn: string;
}

/** Counts one conversation. Repair decides by order and kind and may see less, or more, than these numbers. */
export function countConversation(readings: readonly Reading[]): Totals {
  const { calls, outputs, spoken, messages } = occurrences(readings);
  const answered = new Set(outputs.map(({ id }) => id));
  const lastCall = new Map<string, Occurrence>();
  for (const call of calls) if (call.id !== undefined) lastCall.set(call.id, call);
  const lost = [...lastCall.values()].filter(({ id }) => !answered.has(id));
  const unnamed = calls.filter(({ id, inside }) => id === undefined && !inside);
  const missing = [...lost, ...unnamed];
  const firstCall = firstOfEach(calls);
  return {
    messages,
    calls: calls.length,
    outputs: outputs.length,
    counts: {
      missing: missing.length,
      missingAtTail: missing.filter((call) => !isFollowed(call, spoken)).length,
      orphan: outputs.filter(({ id, inside }) => !inside && (id === undefined || !firstCall.has(id))).length,
      duplicateCallIds: surplus(calls),
      duplicateOutputs: surplus(outputs),
      outputBeforeCall: outputs.filter(({ id, at }) => at < (firstCall.get(id ?? "")?.at ?? -1)).length,
      displaced: displaced(calls, outputs, spoken),
      badLines: 0,
      gluedLines: 0,
    },
  };
}

export function sumTotals(all: readonly Totals[], lines: Pick<Counts, "badLines" | "gluedLines">): Totals {
  const sum = (pick: (totals: Totals) => number) => all.reduce((total, one) => total + pick(one), 0);
  return {
    messages: sum(({ messages }) => messages),
    calls: sum(({ calls }) => calls),
    outputs: sum(({ outputs }) => outputs),
    counts: {
      missing: sum(({ counts }) => counts.missing),
      missingAtTail: sum(({ counts }) => counts.missingAtTail),
      orphan: sum(({ counts }) => counts.orphan),
      duplicateCallIds: sum(({ counts }) => counts.duplicateCallIds),
      duplicateOutputs: sum(({ counts }) => counts.duplicateOutputs),
      outputBeforeCall: sum(({ counts }) => counts.outputBeforeCall),
      displaced: sum(({ counts }) => counts.displaced),
      ...lines,
    },
  };
}

function occurrences(readings: readonly Reading[]) {
  const calls: Occurrence[] = [];
  const outputs: Occurrence[] = [];
  const spoken: Spoken[] = [];
  let messages = 0;
  let at = 0;
  for (const [nth, reading] of readings.entries()) {
    const turn = reading.turn ?? `@${nth}`;
    if (reading.message) messages += 1;
    if (reading.speaks !== undefined) spoken.push({ at: at++, turn });
    for (const { item, inside = false } of reading.pieces) {
      if ((item.kind !== "call" && item.kind !== "output") || item.server === true) continue;
      const id = item.callId === "" ? undefined : item.callId;
      (item.kind === "call" ? calls : outputs).push({ id, at: at++, turn, inside });
    }
  }
  return { calls, outputs, spoken, messages };
}

function firstOfEach(calls: readonly Occurrence[]): ReadonlyMap<string, Occurrence> {
  const first = new Map<string, Occurrence>();
  for (const call of calls) if (call.id !== undefined && !first.has(call.id)) first.set(call.id, call);
  return first;
}

/** Occurrences beyond the first of each id. */
function surplus(all: readonly Occurrence[]): number {
  const named = all.filter(({ id }) => id !== undefined);
  return named.length - new Set(named.map(({ id }) => id)).size;
}

function isFollowed(call: Occurrence, spoken: readonly Spoken[]): boolean {
  for (let nth = spoken.length - 1; nth >= 0 && (spoken[nth] as Spoken).at > call.at; nth -= 1) {
    if ((spoken[nth] as Spoken).turn !== call.turn) return true;
  }
  return false;
}

/** Outputs with somebody else's turn between them and the nearest call before them that has their id. */
function displaced(calls: readonly Occurrence[], outputs: readonly Occurrence[], spoken: readonly Spoken[]): number {
  const newest = new Map<string, Occurrence>();
  let next = 0;
  let late = 0;
  for (const output of outputs) {
    for (; next < calls.length && (calls[next] as Occurrence).at < output.at; next += 1) {
      const call = calls[next] as Occurrence;
      if (call.id !== undefined) newest.set(call.id, call);
    }
    const call = newest.get(output.id ?? "");
    if (call !== undefined && isParted(call, output, spoken)) late += 1;
  }
  return late;
}

function isParted(call: Occurrence, output: Occurrence, spoken: readonly Spoken[]): boolean {
  const first = firstWhere(spoken.length, (nth) => (spoken[nth] as Spoken).at > call.at);
  for (let nth = first; nth < spoken.length; nth += 1) {
    const { at, turn } = spoken[nth] as Spoken;
    if (at > output.at) return false;
    if (turn !== call.turn) return true;
  }
  return false;
}
