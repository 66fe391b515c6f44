import type { TokenCounter } from "../../contracts/token-counter.ts";

/** Tokenizers take time with the square of an unbroken run: 100 KB of one letter block a process for ten seconds. */
const LONGEST_RUN = 200;
const RUN = new RegExp(
  `\\p{L}{${LONGEST_RUN + 1},}|\\s{${LONGEST_RUN + 1},}|[^\\p{L}\\s\\d]{${LONGEST_RUN + 1},}`,
  "gu",
);

/** Counting this much takes a tenth of a second; a longer text is sampled, for it will never be sent whole. */
const MOST_COUNTED = 400_000;
const SAMPLES = 16;
const SAMPLE_LENGTH = 16_000;
/** Samples may miss what is dense. */
const SAMPLE_MARGIN = 1.1;

/** The count of a text whose long runs are cut first and which is not longer than can be counted. */
export function countWithoutRuns(counter: TokenCounter, text: string): number {
  if (text.length <= MOST_COUNTED) return countPieces(counter, text);
  let counted = 0;
  const stride = Math.floor((text.length - SAMPLE_LENGTH) / (SAMPLES - 1));
  for (let at = 0; at < SAMPLES; at += 1)
    counted += countPieces(counter, text.slice(at * stride, at * stride + SAMPLE_LENGTH));
  return Math.ceil((counted / (SAMPLES * SAMPLE_LENGTH)) * text.length * SAMPLE_MARGIN);
}

function countPieces(counter: TokenCounter, text: string): number {
  if (!mayHoldRun(text)) return counter.count(text);
  let tokens = 0;
  let from = 0;
  const known = new Map<string, number>();
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (index > from) tokens += counter.count(text.slice(from, index));
    for (let at = 0; at < run.length; at += LONGEST_RUN) {
      const piece = run.slice(at, at + LONGEST_RUN);
      let count = known.get(piece); // a run is mostly one piece over and over
      if (count === undefined) known.set(piece, (count = counter.count(piece)));
      tokens += count;
    }
    from = index + run.length;
  }
  return from === 0 ? counter.count(text) : tokens + (from < text.length ? counter.count(text.slice(from)) : 0);
}

/** A run so long covers one of the places that are looked at, and nearly every text has only short ones there. */
function mayHoldRun(text: string): boolean {
  for (let at = LONGEST_RUN; at < text.length; at += LONGEST_RUN + 1) {
    const kind = kindAt(text, at);
    if (kind === "digit") continue;
    if (kind === "unknown") return true;
    let from = at;
    while (from > 0 && kindAt(text, from - 1) === kind) from -= 1;
    let to = at + 1;
    while (to < text.length && to - from <= LONGEST_RUN && kindAt(text, to) === kind) to += 1;
    if (to - from > LONGEST_RUN || kindAt(text, from - 1) === "unknown" || kindAt(text, to) === "unknown") return true;
  }
  return false;
}

/** Letters and signs are one kind here, so that what is taken for no run is none. */
function kindAt(text: string, at: number): "digit" | "space" | "mark" | "unknown" | undefined {
  const unit = text.charCodeAt(at);
  if (Number.isNaN(unit)) return undefined;
  if (unit >= 127) return "unknown";
  if (unit === 32 || (unit >= 9 && unit <= 13)) return "space";
  return unit >= 48 && unit <= 57 ? "digit" : "mark";
}
