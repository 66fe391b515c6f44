import { formEnd, isMixed, type Scan } from "./scan.ts";
import type { SecretShape } from "./shapes.ts";

/** A place in a text that must not be kept, and what is told in its stead. */
export interface Hidden {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

export type Found = Omit<Hidden, "name">;

/** Something that may begin with this head: where it is, when it is there. */
export interface Candidate {
  readonly head: string;
  readonly name: string;
  find(scan: Scan, at: number): Found | undefined;
}

export function candidateOf(shape: SecretShape, head: string): Candidate {
  const { name, rest, least, most = Number.POSITIVE_INFINITY, atWordStart, mixed, form, before } = shape;
  return {
    head,
    name,
    find: (scan, at) => {
      if (atWordStart === true && before === undefined && !scan.wordStarts(at)) return undefined;
      const start = at + head.length;
      const to = form === undefined ? scan.runEnd(rest, start) : formEnd(form, scan.text, start);
      if (to - start < least || to - start > most) return undefined;
      if (most !== Number.POSITIVE_INFINITY && scan.goesOn(to)) return undefined;
      if (mixed !== undefined && !isMixed(scan, start, to, mixed === "cases")) return undefined;
      if (before === undefined) return { from: at, to };
      const lead = before.exec(scan.text.slice(Math.max(scan.hiddenTo, at - LONGEST_LEAD), at));
      if (lead === null || (atWordStart === true && !scan.wordStarts(at - lead[0].length))) return undefined;
      return { from: at - lead[0].length, to };
    },
  };
}

const LONGEST_LEAD = 40;
