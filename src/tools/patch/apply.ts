import { appendTo } from "../../base/append-to.ts";
import { likelyPlaces } from "../likely.ts";
import { joinedLines, linesIn, numbersWords } from "../lines.ts";
import type { Line, Lines } from "../lines.ts";
import type { Hunk } from "./change.ts";

export type Applied =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Every hunk where its lines stand, exactly, in the order of the file. A hunk that fits nowhere, or in several places
 * with nothing to tell them apart, is refused; the others are looked at all the same, so that one answer names all.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const { mark, lines: there, usual } = seenBy(hunks, linesIn(text));
  const lines = there.map((line) => line.text);
  const faults: string[] = [];
  const made: (readonly Line[])[] = []; // joined at the end: a long file has more lines than a call has arguments
  let done = 0;
  for (const [nth, given] of hunks.entries()) {
    const { hunk, found } = placed(lines, given, done);
    if (typeof found === "string") {
      faults.push(`hunk ${nth + 1} of ${hunks.length}: ${found}`);
      continue;
    }
    const end = found + hunk.before.length;
    made.push(there.slice(done, found), linesAfter(hunk.after, there.slice(found, end)));
    done = end;
  }
  made.push(there.slice(done));
  return faults.length === 0 ? { ok: true, text: mark + joinedLines(made.flat(), usual) } : { ok: false, faults };
}

/** As the patch sees it: one that a program made has the mark at its beginning as a part of the first line. */
function seenBy(hunks: readonly Hunk[], { mark, lines, usual }: Lines): Lines {
  const [first = { text: "" }, ...others] = lines;
  const isPart = mark !== "" && hunks.some(({ before }) => before.some((line) => line.startsWith(mark)));
  return isPart
    ? { mark: "", lines: [{ ...first, text: mark + first.text }, ...others], usual }
    : { mark, lines, usual };
}

/** Lines that stay keep their own line breaks, also where those of a file are mixed; new ones get the usual. */
function linesAfter(after: readonly string[], before: readonly Line[]): readonly Line[] {
  const places = new Map<string, number[]>(); // the last first, so that the next one is taken from the end
  for (let at = before.length - 1; at >= 0; at -= 1) {
    appendTo(places, (before[at] as Line).text, at);
  }
  let from = 0;
  return after.map((text) => {
    const left = places.get(text) ?? [];
    while ((left.at(-1) ?? from) < from) left.pop();
    const same = left.pop();
    if (same === undefined) return { text };
    from = same + 1;
    return before[same] as Line;
  });
}

/** With the empty lines at its end where they stand in the file; else without those that only separate it from the next. */
function placed(
  lines: readonly string[],
  hunk: Hunk,
  from: number,
): { readonly hunk: Hunk; readonly found: number | string } {
  const { before, after, gap = 0 } = hunk;
  const isOnlyGap = gap > 0 && before.length === gap; // taken for a line of the file, it would be the next empty one
  const found = isOnlyGap ? undefined : placeOf(lines, hunk, from);
  if (found !== undefined && (gap === 0 || typeof found === "number")) return { hunk, found };
  const bare = { ...hunk, before: before.slice(0, -gap), after: after.slice(0, -gap) };
  return { hunk: bare, found: placeOf(lines, bare, from) };
}

/** The index of its first line, or why there is none. */
function placeOf(lines: readonly string[], hunk: Hunk, from: number): number | string {
  const { before, anchors, line, ends } = hunk;
  const start = afterAnchors(lines, anchors, from);
  if (typeof start === "string") return start;
  if (before.length === 0) return insertion(lines, hunk, start);
  const found = matches(lines, before, start);
  const places = ends === undefined ? found : atEnd(lines, found, hunk);
  const [first] = places;
  if (first === undefined && found.length > 0) return notAtEnd(found);
  if (first === undefined) return nowhere(lines, hunk, from);
  if (places.length === 1 || anchors.length > 0) return first; // after an anchor the next place is the one that is meant
  if (line !== undefined && places.includes(line - 1)) return line - 1;
  const at = numbersWords(places.map((place) => place + 1));
  return `its lines occur ${places.length} times, at line ${at}. Give more of the lines around them, or name after @@ what they are in.`;
}

/** A mark at the wrong place does no harm where there is only one; a last line break would be one line more, or less. */
function atEnd(lines: readonly string[], found: readonly number[], { before, ends }: Hunk): readonly number[] {
  const end = lines.length - before.length;
  const last = found.filter((at) => at === end || (ends === "lines" && at === end - 1 && lines.at(-1) === ""));
  return last.length === 0 && ends === "lines" && found.length === 1 ? found : last;
}

function notAtEnd(places: readonly number[]): string {
  const at = numbersWords(places.map((place) => place + 1));
  return `its lines are at line ${at}, but the patch says that the file ends with them, with or without a line break as it says.`;
}

/** New lines beside nothing: behind the anchor, at the line that is named, or at the end of the file. */
function insertion(lines: readonly string[], { anchors, line, ends }: Hunk, start: number): number | string {
  if (anchors.length > 0 && ends === undefined) return start;
  const end = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (line === undefined) return end;
  if (line > end) return `it begins after line ${line}, but the file has ${end}.`;
  if (line < start)
    return `it begins after line ${line}, before the hunk above it. Put hunks in the order of the file.`;
  return line;
}

function afterAnchors(lines: readonly string[], anchors: readonly string[], from: number): number | string {
  let start = from;
  for (const anchor of anchors) {
    const at = lines.findIndex((line, index) => index >= start && line.trim() === anchor.trim());
    if (at === -1)
      return `there is no line ${JSON.stringify(anchor)} where @@ looks for it.${likelyPlaces(lines.join("\n"), anchor)}`;
    start = at + 1;
  }
  return start;
}

/** In one pass: lines that repeat, as empty ones do, would be compared again for every place at which they begin. */
function matches(lines: readonly string[], wanted: readonly string[], from: number): readonly number[] {
  const shorter = beginnings(wanted);
  const places: number[] = [];
  let fit = 0;
  for (let at = from; at < lines.length; at += 1) {
    while (fit > 0 && wanted[fit] !== lines[at]) fit = shorter[fit - 1] ?? 0;
    if (wanted[fit] === lines[at]) fit += 1;
    if (fit === wanted.length) {
      places.push(at + 1 - fit);
      fit = shorter[fit - 1] ?? 0;
    }
  }
  return places;
}

/** For every beginning of the lines, how many of its last lines are themselves a shorter beginning. */
function beginnings(lines: readonly string[]): readonly number[] {
  const found = [0];
  let fit = 0;
  for (let at = 1; at < lines.length; at += 1) {
    while (fit > 0 && lines[fit] !== lines[at]) fit = found[fit - 1] ?? 0;
    if (lines[fit] === lines[at]) fit += 1;
    found.push(fit);
  }
  return found;
}

function nowhere(lines: readonly string[], { before }: Hunk, from: number): string {
  const [earlier] = matches(lines, before, 0);
  if (earlier !== undefined && earlier < from)
    return `its lines are at line ${earlier + 1}, before those of the hunk above it. Put hunks in the order of the file.`;
  return `its lines are not in the file.${likelyPlaces(lines.join("\n"), before.join("\n"))}`;
}
