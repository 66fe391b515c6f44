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

/** What is to be done below one value. Most have one thing to do, and there may be hundreds of thousands. */
interface Plan {
  value?: Json;
  removed?: true;
  below?: Map<string | number, Plan>;
  inserts?: Map<number, NewText[]>;
}

/** Applies changes to a valid JSON text. */
export function editText(text: string, edits: readonly Edit[]): string {
  return edits.length === 0 ? text : editPieces(text, edits).join("");
}

/** The same in pieces, cut between values: most of them are slices of the text, so a large one is not copied. */
export function editPieces(text: string, edits: readonly Edit[]): readonly string[] {
  const start = skipSpace(text, 0);
  const end = text.trimEnd().length;
  const out = [text.slice(0, start)];
  emit(text, { start, end }, planOf(edits), out);
  out.push(text.slice(end));
  return out;
}

function planOf(edits: readonly Edit[]): Plan {
  const root: Plan = {};
  for (const edit of edits) {
    let plan = root;
    for (const step of edit.path) {
      plan.below ??= new Map();
      let next = plan.below.get(step);
      if (next === undefined) plan.below.set(step, (next = {}));
      plan = next;
    }
    if (edit.op === "set") plan.value = edit.value;
    else if (edit.op === "remove") plan.removed = true;
    else {
      plan.inserts ??= new Map();
      plan.inserts.set(edit.index, [...(plan.inserts.get(edit.index) ?? []), ...edit.texts]);
    }
  }
  return root;
}

/** Writes one value after its changes. Depth is that of the changed path, never that of the document. */
function emit(text: string, { start, end }: Pick<Child, "start" | "end">, plan: Plan, out: string[]): void {
  if (plan.value !== undefined) out.push(JSON.stringify(plan.value));
  else if (plan.below === undefined && plan.inserts === undefined) out.push(text.slice(start, end));
  else if (!isOpening(text.charCodeAt(start))) out.push(text.slice(start, end));
  else emitChildren(text, { start, end }, plan, out);
}

function emitChildren(text: string, { start, end }: Pick<Child, "start" | "end">, plan: Plan, out: string[]): void {
  const children = childrenOf(text, start);
  const layout = layoutOf(text, start, end, children);
  const changed = lastOfEachKey(children, plan);
  const last = children.length;
  let count = 0;
  let kept = 0; // children before this one are written
  const next = () => {
    if (count > 0) out.push(",");
    count += 1;
  };
  const keepUpTo = (nth: number) => {
    if (kept < nth) {
      next();
      out.push(text.slice(layout.from(kept), layout.to(nth - 1)));
    }
    kept = nth;
  };
  const add = (texts: readonly NewText[], nth: number) => {
    for (const added of texts) {
      next();
      out.push(layout.lead(nth), styled(added, layout.lead(nth)));
    }
  };
  out.push(text.charAt(start));
  for (const [nth, child] of children.entries()) {
    const below = changed.get(child);
    const inserts = plan.inserts?.get(nth);
    if (inserts !== undefined || below !== undefined) keepUpTo(nth);
    add(inserts ?? [], nth);
    if (below === undefined) continue;
    kept = nth + 1;
    if (below.removed === true) continue;
    next();
    out.push(text.slice(layout.from(nth), child.start));
    emit(text, child, below, out);
    out.push(text.slice(child.end, layout.to(nth)));
  }
  keepUpTo(last);
  for (const [index, texts] of plan.inserts ?? []) if (index >= last) add(texts, last);
  for (const [key, below] of plan.below ?? []) {
    if (below.value === undefined || children.some((child) => child.key === key)) continue;
    next();
    out.push(`${layout.lead(last)}${JSON.stringify(key)}:${layout.gap}${JSON.stringify(below.value)}`);
  }
  out.push(layout.tail(count), text.charAt(end - 1));
}

/** A key may be written twice; the last is the one everybody reads, and so the one that changes. */
function lastOfEachKey(children: readonly Child[], plan: Plan): ReadonlyMap<Child, Plan> {
  const found = new Map<Child, Plan>();
  for (const [key, below] of plan.below ?? []) {
    const child = typeof key === "number" ? children[key] : children.findLast((one) => one.key === key);
    if (child !== undefined && child.key === key) found.set(child, below);
  }
  return found;
}

/** The white space around children: what is kept keeps its own, what is new takes that of its neighbour. */
function layoutOf(text: string, start: number, end: number, children: readonly Child[]) {
  const from = (nth: number) => (nth === 0 ? start + 1 : text.indexOf(",", (children[nth - 1] as Child).end) + 1);
  const to = (nth: number) => (nth + 1 < children.length ? from(nth + 1) - 1 : (children[nth] as Child).end);
  const lead = (nth: number) => {
    const at = Math.min(nth, children.length - 1);
    return at < 0 ? "" : text.slice(from(at), (children[at] as Child).from);
  };
  const lastEnd = children.at(-1)?.end ?? start + 1;
  const first = children[0];
  const gap = first !== undefined && /:\s/.test(text.slice(first.from, first.start)) ? " " : "";
  return { from, to, lead, gap, tail: (count: number) => (count === 0 ? "" : text.slice(lastEnd, end - 1)) };
}

/** A new element written as its neighbours are: one line, or indented as they are. */
function styled({ text, asIs }: NewText, lead: string): string {
  const indent = /\n([ \t]*)$/.exec(lead)?.[1];
  if (asIs === true || indent === undefined) return text;
  const unit = indent.includes("\t") ? "\t" : 2;
  return JSON.stringify(JSON.parse(text), null, unit).replaceAll("\n", `\n${indent}`);
}
