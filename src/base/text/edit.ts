import type { Json } from "../json.ts";
import { type Child, childrenOf, isOpening, skipSpace } from "./scan.ts";

export type Path = readonly (string | number)[];

/** One change inside a JSON text, by the path of what it changes. Everything not named keeps its bytes. */
export type Edit =
  /** Replaces a value, or adds the key when it is not there. */
  | { readonly op: "set"; readonly path: Path; readonly value: Json }
  | { readonly op: "remove"; readonly path: Path }
  /** New elements of an array, before the element that now stands at `index`. */
  | { readonly op: "insert"; readonly path: Path; readonly index: number; readonly texts: readonly NewText[] };

/** An element as JSON text: laid out as its new neighbours are, unless it comes from the same file as it is. */
export interface NewText {
  readonly text: string;
  readonly asIs?: boolean;
}

/** What is to be done below one value. */
interface Plan {
  value?: Json;
  removed?: true;
  readonly below: Map<string | number, Plan>;
  readonly inserts: Map<number, NewText[]>;
}

/** Applies changes to a valid JSON text. */
export function editText(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const start = skipSpace(text, 0);
  const root = planOf(edits);
  return text.slice(0, start) + rewrite(text, start, text.trimEnd().length, root) + text.slice(text.trimEnd().length);
}

function planOf(edits: readonly Edit[]): Plan {
  const root = emptyPlan();
  for (const edit of edits) {
    let plan = root;
    for (const step of edit.path) {
      const next = plan.below.get(step) ?? emptyPlan();
      plan.below.set(step, next);
      plan = next;
    }
    if (edit.op === "set") plan.value = edit.value;
    else if (edit.op === "remove") plan.removed = true;
    else plan.inserts.set(edit.index, [...(plan.inserts.get(edit.index) ?? []), ...edit.texts]);
  }
  return root;
}

function emptyPlan(): Plan {
  return { below: new Map(), inserts: new Map() };
}

/** The text of one value after its changes. Depth is that of the changed path, never that of the document. */
function rewrite(text: string, start: number, end: number, plan: Plan): string {
  if (plan.value !== undefined) return JSON.stringify(plan.value);
  if (plan.below.size === 0 && plan.inserts.size === 0) return text.slice(start, end);
  if (!isOpening(text.charCodeAt(start))) return text.slice(start, end);
  const children = childrenOf(text, start);
  const layout = layoutOf(text, start, end, children);
  const written: string[] = [];
  const byKey = lastOfEachKey(children, plan);
  for (const [nth, child] of children.entries()) {
    for (const added of plan.inserts.get(nth) ?? []) written.push(layout.lead(nth) + styled(added, layout.lead(nth)));
    const below = byKey.get(child);
    if (below?.removed === true) continue;
    const value =
      below === undefined ? text.slice(child.start, child.end) : rewrite(text, child.start, child.end, below);
    written.push(layout.lead(nth) + text.slice(child.from, child.start) + value + layout.trail(nth));
  }
  const last = children.length;
  for (const [index, texts] of plan.inserts) {
    if (index >= last) written.push(...texts.map((added) => layout.lead(last) + styled(added, layout.lead(last))));
  }
  for (const [key, below] of plan.below) {
    if (below.value === undefined || children.some((child) => child.key === key)) continue;
    written.push(`${layout.lead(last)}${JSON.stringify(key)}:${layout.gap}${JSON.stringify(below.value)}`);
  }
  return text[start] + written.join(",") + layout.tail(written.length) + text[end - 1];
}

/** A key may be written twice; the last is the one everybody reads, and so the one that changes. */
function lastOfEachKey(children: readonly Child[], plan: Plan): ReadonlyMap<Child, Plan> {
  const found = new Map<Child, Plan>();
  for (const [key, below] of plan.below) {
    const child = typeof key === "number" ? children[key] : children.findLast((one) => one.key === key);
    if (child !== undefined && child.key === key) found.set(child, below);
  }
  return found;
}

/** The white space around children: what is kept keeps its own, what is new takes that of its neighbour. */
function layoutOf(text: string, start: number, end: number, children: readonly Child[]) {
  const edge = (nth: number) => (nth === 0 ? start + 1 : text.indexOf(",", (children[nth - 1] as Child).end) + 1);
  const lead = (nth: number) => {
    const at = Math.min(nth, children.length - 1);
    return at < 0 ? "" : text.slice(edge(at), (children[at] as Child).from);
  };
  const trail = (nth: number) => {
    const next = children[nth + 1];
    return next === undefined ? "" : text.slice((children[nth] as Child).end, edge(nth + 1) - 1);
  };
  const lastEnd = children.at(-1)?.end ?? start + 1;
  const first = children[0];
  const gap = first !== undefined && /:\s/.test(text.slice(first.from, first.start)) ? " " : "";
  return { lead, trail, gap, tail: (count: number) => (count === 0 ? "" : text.slice(lastEnd, end - 1)) };
}

/** A new element written as its neighbours are: one line, or indented as they are. */
function styled({ text, asIs }: NewText, lead: string): string {
  const indent = /\n([ \t]*)$/.exec(lead)?.[1];
  if (asIs === true || indent === undefined) return text;
  const unit = indent.includes("\t") ? "\t" : 2;
  return JSON.stringify(JSON.parse(text), null, unit).replaceAll("\n", `\n${indent}`);
}
