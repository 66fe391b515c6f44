import { machineOf, type Step } from "./machine.ts";
import { type CharSet, parsePattern, PatternError } from "./syntax.ts";

/** Where the first match of a line ends, or -1: the line does not match. */
export type LinePattern = (line: string) => number;

type Made = { readonly ok: true; readonly pattern: LinePattern } | { readonly ok: false; readonly why: string };

const LONGEST = 1_000;

export function literalPattern(text: string, ignoreCase: boolean): Made {
  if (text === "") return { ok: false, why: "The text to look for is empty." };
  const found = ignoreCase ? text.toLowerCase() : text;
  return {
    ok: true,
    pattern: (line) => {
      const at = (ignoreCase ? line.toLowerCase() : line).indexOf(found);
      return at === -1 ? -1 : at + found.length;
    },
  };
}

/**
 * A regular expression that never takes longer than the line's length times the pattern's: a model's pattern, run by a
 * matcher that tries one way after the other, can hold up a process for ever.
 */
export function linePattern(source: string, ignoreCase: boolean): Made {
  if (source.length > LONGEST) return { ok: false, why: `The pattern is longer than ${LONGEST} characters.` };
  if (source !== "" && !/[\\^$.*+?()[\]{}|]/.test(source)) return literalPattern(source, ignoreCase);
  try {
    return { ok: true, pattern: runnerOf(machineOf(parsePattern(source)), ignoreCase) };
  } catch (error) {
    if (error instanceof PatternError) return { ok: false, why: error.message };
    throw error;
  }
}

type Read = Extract<Step, { is: "read" }>;

function runnerOf({ steps, start }: ReturnType<typeof machineOf>, ignoreCase: boolean): LinePattern {
  // In which round each step was last entered: with it, a step is entered once for each character, however it is reached.
  const entered = new Float64Array(steps.length);
  let round = 0;
  const open: number[] = [];
  const reading: Read[] = [];

  /** Follows every way that reads nothing. True when one of them ends. */
  function spread(between: Between): boolean {
    round += 1;
    reading.length = 0;
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (entered[at] === round) continue;
      entered[at] = round;
      const step = steps[at] as Step;
      if (step.is === "found") return true;
      if (step.is === "read") reading.push(step);
      else if (step.is === "both") open.push(...step.to);
      else if (PLACES[step.place](between)) open.push(step.to);
    }
    return false;
  }

  return (line) => {
    open.length = 0;
    let before: number | undefined;
    for (let at = 0; at <= line.length; ) {
      const code = line.codePointAt(at);
      open.push(start);
      if (spread({ isStart: at === 0, isEnd: code === undefined, isEdge: isWord(before) !== isWord(code) })) return at;
      if (code === undefined) return -1;
      for (const { set, to } of reading) if (holds(set, code, ignoreCase)) open.push(to);
      before = code;
      at += code > 0xffff ? 2 : 1;
    }
    return -1;
  };
}

interface Between {
  readonly isStart: boolean;
  readonly isEnd: boolean;
  readonly isEdge: boolean;
}

const PLACES: Readonly<Record<Extract<Step, { is: "place" }>["place"], (between: Between) => boolean>> = {
  start: ({ isStart }) => isStart,
  end: ({ isEnd }) => isEnd,
  edge: ({ isEdge }) => isEdge,
  inside: ({ isEdge }) => !isEdge,
};

function isWord(code: number | undefined): boolean {
  if (code === undefined) return false;
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

function holds({ ranges, not }: CharSet, code: number, ignoreCase: boolean): boolean {
  return (isIn(ranges, code) || (ignoreCase && isInOtherCase(ranges, code))) !== not;
}

function isIn(ranges: CharSet["ranges"], code: number): boolean {
  for (const [from, to] of ranges) if (code >= from && code <= to) return true;
  return false;
}

function isInOtherCase(ranges: CharSet["ranges"], code: number): boolean {
  const letter = String.fromCodePoint(code);
  return [letter.toLowerCase(), letter.toUpperCase()].some((other) => {
    const same = other.codePointAt(0) ?? code;
    return String.fromCodePoint(same) === other && isIn(ranges, same);
  });
}
