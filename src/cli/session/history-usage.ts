import { type HistoryUsage, ratesOf, type SessionLook, usageCounter } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { count, grouped } from "../words.ts";

/** How one session's history was kept and used, read without taking the session. */
export async function usageIn(look: SessionLook, onRead: () => void): Promise<HistoryUsage> {
  const counter = usageCounter();
  for await (const entry of look.read()) {
    onRead();
    if (entry.kind !== "damaged") counter.take(entry);
  }
  // A writer that has closed the session left no call behind but those that wait; any other may have some under way.
  return counter.usage(look.waiting.length + (look.writer === "closed" ? 0 : look.openCalls.length));
}

/** As `--json` tells it. */
export function usageJson(usage: HistoryUsage) {
  const { appended = null, guided = null, detected = null } = ratesOf(usage);
  return { ...usage, rates: { appended, guided, detected } };
}

/** Whether a promise was missed: a call without its record, or a request that did not say how to read them. */
export function isMissed(usage: HistoryUsage): boolean {
  const { appended = 1, guided = 1 } = ratesOf(usage);
  return appended < 1 || guided < 1;
}

export function usageLines(terminal: Terminal, title: string, usage: HistoryUsage): readonly string[] {
  const { calls, requests, programs, patterns } = usage;
  const { appended, guided, detected } = ratesOf(usage);
  const line = (name: string, rate: number | undefined, of: string) => {
    const told = rate === undefined ? "-" : `${(rate * 100).toFixed(rate === 1 ? 0 : 2)} %`;
    const shown = told.padStart(8);
    return `  ${name.padEnd(20)}${rate !== undefined && rate < 1 ? paint(terminal, "yellow", shown) : shown}  ${of}`;
  };
  const asked = Object.entries(patterns).toSorted(([, a], [, b]) => b - a);
  const beside = [
    ...(calls.open === 0 ? [] : [`${grouped(calls.open)} open`]),
    ...(calls.dropped === 0 ? [] : [`${grouped(calls.dropped)} dropped`]),
  ];
  return [
    `${paint(terminal, "bold", title)}: ${count(usage.size, "record")}`,
    line("records appended", appended, [`of ${count(calls.ended, "call")} that ended`, ...beside].join(", ")),
    line("guidance present", guided, `of ${count(requests.offering, "request")} that offered programs`),
    line("access detected", detected, `of ${count(programs.reading, "program")} that read records`),
    `  programs: ${grouped(programs.run)} run, ${grouped(programs.failed)} failed, ${grouped(programs.again)} again by name; ${count(programs.recordsRead, "record")} read`,
    ...(asked.length === 0 ? [] : [`  asked by: ${asked.map(([name, times]) => `${name} ${times}`).join(", ")}`]),
  ];
}
