import { appendTo } from "../base/append-to.ts";
import { type CallItem, isPairable, type OutputItem } from "../wire/item.ts";
import type { Format } from "./format.ts";
import type { Entry, Judged, Marked } from "./strand.ts";
import type { Path } from "../base/text/edit.ts";
import type { Element } from "./transcript.ts";

/** Pieces that follow each other in a repaired strand, seen as what becomes of their elements. */
export type Run =
  | { readonly kind: "stays"; readonly element: Element }
  | { readonly kind: "moves"; readonly element: Element }
  /** Pieces that leave their element and stand in one of their own. */
  | { readonly kind: "part"; readonly element: Element; readonly entries: readonly Entry[] }
  | { readonly kind: "answer"; readonly call: Entry; readonly output: OutputItem };

export interface StrandRuns {
  readonly runs: readonly Run[];
  readonly renames: readonly { readonly element: Element; readonly path: Path; readonly value: string }[];
  readonly dropped: ReadonlyMap<Element, readonly Path[]>;
  /** Outputs to be written inside their calls. */
  readonly inside: readonly { readonly entry: Entry; readonly output: OutputItem }[];
}

interface Group {
  readonly element: Element;
  readonly entries: Entry[];
  /** Holds a piece that stays where it was. */
  fixed: boolean;
}

export function runsOf(judged: Judged, format: Format): StrandRuns {
  const { strand, items } = judged;
  const moved = movedEntries(judged);
  const calls = new Map<string, Entry>();
  const sequence: (Group | Extract<Run, { kind: "answer" }>)[] = [];
  const inside: { entry: Entry; output: OutputItem }[] = [];
  let before = -1;
  for (const item of items) {
    if (item.entry === undefined) {
      const output = item as OutputItem;
      const call = calls.get(keyOf(output)) as Entry;
      if (call.piece.inside === true) inside.push({ entry: call, output });
      else sequence.push({ kind: "answer", call, output });
      continue;
    }
    const entry = strand.entries[item.entry] as Entry;
    if (item.kind === "call") calls.set(keyOf(item), entry);
    const last = sequence.at(-1);
    // Pieces that changed places inside their element part, or the element would be written as it was.
    const goesOn = last !== undefined && "entries" in last && last.element === entry.element && before < item.entry;
    if (goesOn && !isParted(last.entries.at(-1), entry, format)) last.entries.push(entry);
    else sequence.push({ element: entry.element, entries: [entry], fixed: false });
    (sequence.at(-1) as Group).fixed ||= !moved.has(item.entry);
    before = item.entry;
  }
  return { runs: placed(sequence), renames: renamesOf(judged), dropped: droppedOf(judged), inside };
}

/** Which run keeps the element: the first with a piece that did not move. The others part from it. */
function placed(sequence: readonly (Group | Extract<Run, { kind: "answer" }>)[]): readonly Run[] {
  const keeper = new Map<Element, Group>();
  for (const one of sequence) {
    if (!("entries" in one)) continue;
    const kept = keeper.get(one.element);
    if (kept === undefined || (!kept.fixed && one.fixed)) keeper.set(one.element, one);
  }
  return sequence.map((one): Run => {
    if (!("entries" in one)) return one;
    if (keeper.get(one.element) !== one) return { kind: "part", element: one.element, entries: one.entries };
    return { kind: one.fixed ? "stays" : "moves", element: one.element };
  });
}

/** Text that shares an element with outputs, where the format wants them parted. */
function isParted(before: Entry | undefined, entry: Entry, { partsMixed }: Format): boolean {
  if (partsMixed !== true || before === undefined) return false;
  return (before.piece.item.kind === "output") !== (entry.piece.item.kind === "output");
}

function movedEntries({ repairs }: Judged): ReadonlySet<number> {
  const moved = new Set<number>();
  for (const { action, item } of repairs) {
    const entry = (item as Marked | undefined)?.entry;
    if (action === "moved" && entry !== undefined) moved.add(entry);
  }
  return moved;
}

/** Ids and names that an item is known by now and was not before. */
function renamesOf({ strand, items }: Judged): StrandRuns["renames"] {
  return items.flatMap((item) => {
    if (item.entry === undefined) return [];
    const { element, piece } = strand.entries[item.entry] as Entry;
    const old = piece.item;
    const id = "callId" in item && "callId" in old && item.callId !== old.callId ? item.callId : undefined;
    const named = item.kind === "call" && old.kind === "call" && old.callId === undefined ? item.callId : id;
    const renames = named === undefined ? [] : piece.ids.map((path) => ({ element, path, value: named as string }));
    if (item.kind !== "output" || old.kind !== "output" || item.name === old.name || piece.name === undefined)
      return renames;
    return [...renames, { element, path: piece.name, value: item.name ?? "" }];
  });
}

function droppedOf({ strand, items }: Judged): ReadonlyMap<Element, readonly Path[]> {
  const kept = new Set(items.map(({ entry }) => entry));
  const dropped = new Map<Element, Path[]>();
  for (const [at, { element, piece }] of strand.entries.entries()) {
    if (!kept.has(at)) appendTo(dropped, element, piece.path);
  }
  return dropped;
}

function keyOf(item: CallItem | OutputItem): string {
  return isPairable(item) ? `${item.callKind === "shell" ? "function" : item.callKind} ${item.callId ?? ""}` : "";
}
