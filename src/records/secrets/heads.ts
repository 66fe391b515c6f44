import type { Candidate } from "./candidate.ts";
import { AHEAD, exact, lettersOf, roughLetters, standsAt } from "./letters.ts";
import { RUN, type Scan } from "./scan.ts";

/**
 * What secrets begin with. Looked up by the first four letters, or three, and compared by the first eight as two numbers:
 * most that begin alike are told apart by that, and candidates are asked of few places.
 */
export class Heads {
  /** By a hash of its first letters, the newest of the heads there; 0 for none. */
  readonly #newest = new Int32Array(SLOTS);
  /** Of every head the one before it in the same slot, and its letters, with which of them there are. */
  #rows = new Int32Array(ROW * 512);
  readonly #candidates: (Candidate | undefined)[] = [undefined];
  /** What is to be compared beside those: nothing, a few letters behind them, or all of it. */
  readonly #rests: (Uint8Array | string | undefined)[] = [undefined];

  get isEmpty(): boolean {
    return this.#candidates.length === 1;
  }

  add(candidate: Candidate): void {
    const { head } = candidate;
    const letters = exact(head, roughLetters(head));
    const nth = this.#candidates.push(candidate) - 1;
    if ((nth + 1) * ROW > this.#rows.length) this.#rows = grown(this.#rows);
    const [firstMask, secondMask] = [maskOf(head.length), maskOf(head.length - 4)];
    const first = wordAt(letters, 0) & firstMask;
    const slot = slotOf(first);
    const row = [this.#newest[slot] as number, first, firstMask, wordAt(letters, 4) & secondMask, secondMask];
    this.#rows.set(row, nth * ROW);
    this.#newest[slot] = nth;
    const rest = head.length <= AHEAD * 2 && /^[ -~]*$/.test(head) ? lettersOf(head.slice(AHEAD)) : head;
    this.#rests.push(rest.length === 0 ? undefined : rest);
  }

  /**
   * Whether a secret begins here, or before; the scan is told of the longest, and when two are as long, of the one with the
   * longer head. One that is told here and begins later is foreseen.
   */
  longest(scan: Scan, at: number): boolean {
    const rows = this.#rows;
    const { letters } = scan;
    const first = wordAt(letters, at);
    const second = wordAt(letters, at + 4);
    let longest = 0;
    let from = 0;
    let to = 0;
    for (let key = first & THREE; ; key = first) {
      for (let nth = this.#newest[slotOf(key)] as number; nth !== 0; nth = rows[nth * ROW] as number) {
        const row = nth * ROW;
        if (((first ^ (rows[row + 1] as number)) & (rows[row + 2] as number)) !== 0) continue;
        if (((second ^ (rows[row + 3] as number)) & (rows[row + 4] as number)) !== 0) continue;
        if (!this.#begins(nth, scan, at) || scan.to < to) continue;
        longest = nth;
        from = scan.from;
        to = scan.to;
      }
      if (key === first) break;
    }
    if (longest === 0) return false;
    scan.mark = (this.#candidates[longest] as Candidate).mark;
    return scan.tell(from, to);
  }

  #begins(nth: number, scan: Scan, at: number): boolean {
    const candidate = this.#candidates[nth] as Candidate;
    if (candidate.needsDigit && scan.runEnd(RUN.noDigit, at) - at > FAR) return false;
    if (candidate.startsWord && !scan.wordStarts(at)) return false;
    const rest = this.#rests[nth];
    if (rest !== undefined && !isThere(rest, scan, at)) return false;
    if (!candidate.find(scan, at)) return false;
    if (scan.from > at) scan.foresee(scan.from, scan.to, candidate.mark);
    return scan.from <= at;
  }
}

function isThere(rest: Uint8Array | string, { letters, text }: Scan, at: number): boolean {
  return typeof rest === "string" ? text.startsWith(rest, at) : standsAt(rest, letters, at + AHEAD);
}

function grown(rows: Int32Array): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(rows.length * 2);
  wider.set(rows);
  return wider;
}

/** Four letters as one number. */
function wordAt(letters: Uint8Array, at: number): number {
  return (
    (letters[at] as number) |
    ((letters[at + 1] as number) << 8) |
    ((letters[at + 2] as number) << 16) |
    ((letters[at + 3] as number) << 24)
  );
}

/** As many of its bits as there are letters. */
function maskOf(count: number): number {
  return count >= 4 ? -1 : (1 << (8 * Math.max(0, count))) - 1;
}

/** Where four letters, or three, are looked up. */
function slotOf(word: number): number {
  return Math.imul(word, 0x9e37_79b1) >>> SLOT_SHIFT;
}

const SLOT_SHIFT = 19;
const SLOTS = 1 << (32 - SLOT_SHIFT);
const THREE = 0xff_ffff;
const ROW = 5;
/** From the beginning of a head to where digits are no longer looked for. */
const FAR = 128;
