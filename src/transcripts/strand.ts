import { repairHistory, type Repair } from "../history/repair.ts";
import { derivedCallId } from "../history/synthetic.ts";
import { type Item, isPairable, type OutputItem, spaceOf, type ToolCallId } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";
import type { Piece } from "./format.ts";
import type { Conversation, Element } from "./transcript.ts";

/** One piece of a conversation and the element it stands in. */
export interface Entry {
  readonly element: Element;
  readonly piece: Piece;
}

/** An item that knows which entry it was read from. Repair copies items by their fields, so the mark stays on. */
export type Marked = Item & { readonly entry?: number };

/** A line of talk: the main conversation of a log, or that of one sub-agent. */
export interface Strand {
  readonly entries: readonly Entry[];
  /** What each entry is, by position. */
  readonly items: readonly Marked[];
  /** Calls that are open by nature. */
  readonly open: ReadonlySet<ToolCallId>;
  /** Entries whose call had the id of another, where the output lies inside the call. */
  readonly twins: readonly number[];
}

export interface Judged {
  readonly strand: Strand;
  readonly repairs: readonly Repair[];
  /** The strand as it should be; the same list when nothing is wrong between calls and outputs. */
  readonly items: readonly Marked[];
  /** Entries of calls that shared their id with a call of another kind or strand. */
  readonly shared: readonly number[];
}

export function strandsOf({ elements, continues }: Conversation): readonly Strand[] {
  const byName = new Map<string, Entry[]>();
  for (const element of elements) {
    const name = element.reading.strand ?? "";
    const entries = byName.get(name) ?? [];
    if (entries.length === 0) byName.set(name, entries);
    for (const piece of element.reading.pieces) entries.push({ element, piece });
  }
  if (continues === true) return [...byName.values()].map((entries) => strandOf(byAnswer(withKept(entries))));
  return [...byName.values()].map((entries) => strandOf(byAnswer(entries)));
}

/** Outputs of calls that the provider keeps are nobody's orphans: they are carried as they are. */
function withKept(entries: readonly Entry[]): readonly Entry[] {
  const calls = new Set(entries.map(({ piece: { item } }) => (item.kind === "call" ? item.callId : undefined)));
  return entries.map((entry) => {
    const { item } = entry.piece;
    if (item.kind !== "output" || item.callId === "" || calls.has(item.callId)) return entry;
    return { ...entry, piece: { ...entry.piece, item: { kind: "other", by: "host" } } };
  });
}

/**
 * Pieces of one model answer together, its outputs behind them: a host that runs tools while the answer still streams
 * writes the first outputs down before the last calls.
 */
function byAnswer(entries: readonly Entry[]): readonly Entry[] {
  const ordered: Entry[] = [];
  const outputs: Entry[] = [];
  const release = () => {
    for (const output of outputs) ordered.push(output);
    outputs.length = 0;
  };
  let step: number | string | undefined;
  for (const entry of entries) {
    const { item } = entry.piece;
    if (item.kind === "output" && item.server !== true) {
      outputs.push(entry);
      continue;
    }
    if (item.step === undefined || item.step !== step) release();
    step = item.step;
    ordered.push(entry);
  }
  release();
  return ordered;
}

function strandOf(entries: readonly Entry[]): Strand {
  const open = new Set<ToolCallId>();
  const twins: number[] = [];
  const seen = new Map<string, number>();
  const inside = new Map<Piece["path"], ToolCallId>();
  const last = entries.at(-1)?.element;
  const items = entries.map(({ element, piece }, entry): Marked => {
    const { item } = piece;
    if (!isPairable(item)) return { ...item, entry };
    const waits = element.open || (element.reading.waits === true && element === last);
    if (waits && item.callId !== undefined) open.add(item.callId);
    if (piece.inside !== true || item.callId === undefined) return { ...item, entry };
    // Pairing is given here, so a repeated id is told apart before anybody pairs by it.
    if (item.kind === "output") return { ...item, callId: inside.get(piece.path) ?? item.callId, entry };
    const used = seen.get(item.callId) ?? 0;
    seen.set(item.callId, used + 1);
    if (used > 0) twins.push(entry);
    const callId = used === 0 ? item.callId : derivedCallId(item, used);
    inside.set(piece.path, callId);
    return { ...item, callId, entry };
  });
  return { entries, items, open, twins };
}

/** Judges every strand for itself, then tells apart ids that two of them, or calls of two kinds, share. */
export function judgeStrands(strands: readonly Strand[], profile: ProfileId): readonly Judged[] {
  const owners = new Map<ToolCallId, string>();
  return strands.map((strand, nth) => {
    const inFlight = new Map([...strand.open].map((id) => [id, {}] as const));
    const { history, repairs } = repairHistory(strand.items, { profile, inFlight });
    return { strand, repairs, ...toldApart(history as readonly Marked[], `${nth}`, owners) };
  });
}

/**
 * One provider keeps an id space for each kind of call, and a sub-agent talks to it in a conversation of its own. Every
 * reader of the file that knows neither would give one call the other's output.
 */
function toldApart(
  items: readonly Marked[],
  strand: string,
  owners: Map<ToolCallId, string>,
): Pick<Judged, "items" | "shared"> {
  const renamed = new Map<string, ToolCallId>();
  const shared: number[] = [];
  let copy: Marked[] | undefined;
  for (const [at, item] of items.entries()) {
    if (!isPairable(item) || item.callId === undefined || item.callId === "" || item.server === true) continue;
    const own = `${strand} ${spaceOf(item.callKind)}`;
    const key = `${own} ${item.callId}`;
    const owner = owners.get(item.callId);
    if (item.kind === "call" && owner === undefined) owners.set(item.callId, own);
    else if (item.kind === "call" && owner !== own) {
      renamed.set(key, derivedCallId({ ...item, id: own }, 1));
      if (item.entry !== undefined) shared.push(item.entry);
    }
    const callId = renamed.get(key);
    if (callId !== undefined) (copy ??= items.slice())[at] = { ...(item as OutputItem & Marked), callId };
  }
  return { items: copy ?? items, shared };
}
