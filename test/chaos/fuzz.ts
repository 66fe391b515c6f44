/**
 * Mutation fuzzing of every session reader, on one thread: for tests, and for the workers of the campaign. A case must
 * not crash, hang, change a prototype or be accepted and then come out of the repair unreadable.
 */
import type { FormatId } from "../../src/transcripts/format.ts";
import { type Examine, fuzzCase, prototypeKeys } from "./fuzz-case.ts";

export interface Span {
  readonly seed: string;
  readonly format: FormatId;
  readonly from: number;
  readonly to: number;
}

export interface SpanOutcome {
  /** Where it stopped: `to`, or earlier when time was up. */
  readonly next: number;
  readonly violations: readonly string[];
}

export interface SpanOptions {
  readonly isOver?: () => boolean;
  /** Told before every case, so that somebody else notices one that never ends. */
  readonly begins?: (nth: number) => void;
  readonly under?: Examine;
}

/** How many cases share one look at the prototypes. */
const LOOK = 64;

/** Cases of one format, in order. */
export async function fuzzSpan({ seed, format, from, to }: Span, options: SpanOptions = {}): Promise<SpanOutcome> {
  const violations: string[] = [];
  const born = prototypeKeys();
  let nth = from;
  while (nth < to && violations.length < 20 && options.isOver?.() !== true) {
    options.begins?.(nth);
    const label = `${seed}/${format}/${nth}`;
    for (const what of await fuzzCase(label, format, options.under)) violations.push(`${label}: ${what}`);
    nth += 1;
    if ((nth % LOOK === 0 || nth === to) && prototypeKeys() !== born) {
      violations.push(`${label}: a prototype changed, here or at most ${LOOK} cases before`);
      break;
    }
  }
  return { next: nth, violations };
}
