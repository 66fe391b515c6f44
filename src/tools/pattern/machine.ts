import type { CharSet, Node } from "./syntax.ts";
import { PatternError } from "./syntax.ts";

/** One step of the machine: read a character of a set, go both ways, or go on only at a place. */
export type Step =
  | { readonly is: "read"; readonly set: CharSet; readonly to: number }
  | { readonly is: "both"; readonly to: readonly [number, number] }
  | { readonly is: "place"; readonly place: "start" | "end" | "edge" | "inside"; readonly to: number }
  | { readonly is: "found" };

/** Steps that a pattern may come to. Written out, `(a{1000}){1000}` would be a million. */
const MOST_STEPS = 20_000;

/** A pattern as a machine that is in several steps at once: it reads each character once, whatever the pattern. */
export function machineOf(node: Node): { readonly steps: readonly Step[]; readonly start: number } {
  const steps: Step[] = [{ is: "found" }];
  const add = (step: Step): number => {
    if (steps.length >= MOST_STEPS)
      throw new PatternError("The pattern is too large when its repeats are written out.");
    return steps.push(step) - 1;
  };
  /** The step where matching `part` begins, when `to` comes after it. Built from the end. */
  const build = (part: Node, to: number): number => {
    switch (part.is) {
      case "set":
        return add({ is: "read", set: part.set, to });
      case "place":
        return add({ is: "place", place: part.place, to });
      case "one-after-another":
        return part.nodes.reduceRight((next, one) => build(one, next), to);
      case "either":
        return part.nodes
          .map((one) => build(one, to))
          .reduceRight((other, one) => add({ is: "both", to: [one, other] }));
      case "times":
        return repeat(part, to);
    }
  };
  const repeat = ({ node: part, least, most }: Extract<Node, { is: "times" }>, to: number): number => {
    let next = to;
    if (most === Number.POSITIVE_INFINITY) {
      const loop = add({ is: "both", to: [to, to] });
      steps[loop] = { is: "both", to: [build(part, loop), to] };
      next = loop;
    } else for (let more = most - least; more > 0; more -= 1) next = add({ is: "both", to: [build(part, next), to] });
    for (let times = least; times > 0; times -= 1) next = build(part, next);
    return next;
  };
  return { start: build(node, 0), steps };
}
