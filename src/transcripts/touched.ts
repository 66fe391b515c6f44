import type { Changes } from "./plan.ts";
import type { Element, Transcript } from "./transcript.ts";

/** What a repair does to a line of the file. Lines that are not named keep their bytes and their order. */
export interface Touched {
  readonly line: number;
  readonly does: "edits" | "removes" | "moves" | "adds-after" | "mends";
}

/** Everything a repair would touch, by line. */
export function touchedLines(
  { flawed, records, text }: Transcript,
  changes: readonly Changes[],
  lineOf: (element: Element) => number,
): readonly Touched[] {
  const touched: Touched[] = flawed.map(({ line }) => ({ line, does: "mends" }));
  for (const { elements, editsOf, removed, inserts, inside } of changes) {
    const moved = new Set<Element>();
    for (const [anchor, added] of inserts) {
      for (const insert of added) {
        if (insert.kind === "moved") moved.add(insert.element);
        else touched.push({ line: anchor === undefined ? 1 : lineOf(anchor), does: "adds-after" });
      }
    }
    for (const element of removed)
      touched.push({ line: lineOf(element), does: moved.has(element) ? "moves" : "removes" });
    for (const element of elements) {
      const edited = !removed.has(element) && (inside.has(element) || editsOf(element).length > 0);
      if (edited) touched.push({ line: lineOf(element), does: "edits" });
    }
  }
  // A record that names others by their place changes with everything before it.
  const shifts = records > 1 && text === undefined && touched.some(({ does }) => does !== "edits");
  return unique(shifts ? [...touched, ...positions(changes, lineOf)] : touched);
}

function positions(changes: readonly Changes[], lineOf: (element: Element) => number): readonly Touched[] {
  return changes.flatMap(({ positioned }) =>
    positioned.map((element) => ({ line: lineOf(element), does: "edits" }) as const),
  );
}

function unique(touched: readonly Touched[]): readonly Touched[] {
  const byKey = new Map(touched.map((one) => [`${one.line} ${one.does}`, one]));
  return [...byKey.values()].toSorted((one, other) => one.line - other.line);
}
