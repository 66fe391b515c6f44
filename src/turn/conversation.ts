import type { Json } from "../base/json.ts";
import { shownName } from "../base/shown-name.ts";
import { HistoryIndex } from "../history/history-index.ts";
import { normalize } from "../history/normalize.ts";
import { type Repair, repairHistory } from "../history/repair.ts";
import type { PairedHistory } from "../history/paired.ts";
import type { Entries } from "../journal/journal.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import { type CallKind, type Item, type Part, type ToolCallId, toolCallId } from "../wire/item.ts";
import { type KeptItems, unkeepItems } from "../wire/keep.ts";

import { madeId } from "./made-id.ts";
import { readPart } from "./said-part.ts";
import { resultItemParts } from "./show-media.ts";
import { type WaitingCall, waitingCallOf } from "./waiting.ts";

/** One item of the conversation and the record that said it. */
interface Said {
  readonly seq: number;
  readonly item: Item;
  callId?: CallId;
}

/** A call as its output must answer it. */
interface AskedAs {
  readonly callId: ToolCallId;
  readonly callKind: CallKind;
}

/**
 * The conversation that a journal holds, kept up to date by reading on: what a rewind took back is gone, whole calls with
 * their outputs. It is not repaired; whoever sends it takes it through the repair station.
 */
export class Conversation {
  /** What its pairing is known to be, so that checking it costs what is new. */
  readonly index = new HistoryIndex();
  /** Where reading goes on. */
  next = 1;
  /**
   * How many answers were ever journalled, those that were taken back included; after a cut, at least as many: calls are named
   * by it, and none may get the name of one that was forgotten.
   */
  answers = 0;
  #reading: Promise<void> = Promise.resolve();
  /** Items of answers that were to go on, and why. */
  readonly #unfinished = new WeakMap<Item, "called" | "paused">();
  #said: Said[] = [];
  #items: Item[] = [];
  /** Names of the tools that were called in the log, as far as it was looked through for them. */
  #called: { readonly items: readonly Item[]; through: number; readonly names: Set<string> } = {
    items: this.#items,
    through: 0,
    names: new Set(),
  };
  /** Calls of answers that have not been opened yet, by the provider's id. */
  readonly #asked = new Map<string, Said>();
  readonly #open = new Map<CallId, AskedAs>();
  /** The calls of the newest answer in their order, with the outputs that have come so far. */
  #batch = new Map<CallId, Said | undefined>();
  /** What is to be told after the outputs that are still coming: nothing may stand between a call and its output. */
  #notes: Said[] = [];
  readonly #waiting = new Map<CallId, WaitingCall>();
  readonly #inner = new Set<CallId>();
  readonly #repaired = new Set<string>();
  readonly #names = new WeakMap<Item, string>();

  /** The log as it stands. The same array as long as it only grows. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** The tools that were called in it. */
  get calledTools(): ReadonlySet<string> {
    const items = this.#items;
    if (this.#called.items !== items) this.#called = { items, through: 0, names: new Set() };
    for (; this.#called.through < items.length; this.#called.through += 1) {
      const item = items[this.#called.through];
      if (item?.kind === "call") this.#called.names.add(item.name);
    }
    return this.#called.names;
  }

  /** Where an item stands in the journal, as a name: the record that said it, and which of its items it is. */
  idOf(item: Item): string | undefined {
    return this.#names.get(item);
  }

  /** As a request shows it that offers these tools: repaired, whether or not a call still runs. */
  offering(tools: ReadonlySet<string> | undefined): readonly Item[] {
    const { history, repairs } = normalize(this.items, {
      inFlight: this.running,
      ...(tools === undefined ? {} : { tools }),
    });
    this.nameMade(repairs);
    return history;
  }

  /** Names what repair made, after the item at fault: what became of that decides what becomes of it. */
  nameMade(repairs: readonly Pick<Repair, "fault" | "item">[]): void {
    for (const { fault, item } of repairs) {
      const meant = this.#items[fault.at];
      if (item === undefined || meant === undefined || this.#names.has(item)) continue;
      this.#names.set(item, madeId(item, this.#names.get(meant)));
    }
  }

  /** The log with the outputs that still wait for their neighbours. */
  outspoken(): readonly Item[] {
    const coming = [...this.#batch.values(), ...this.#notes];
    return [...this.#items, ...coming.flatMap((said) => said?.item ?? [])];
  }

  /** Whether the model has had the last word, and meant it: what it said before calls that a rewind took back is no last word. */
  get isAnswered(): boolean {
    const last = this.#items.at(-1);
    return last?.kind === "assistant" && !this.#unfinished.has(last);
  }

  /** Whether the provider paused in the middle of the last answer. */
  get isPaused(): boolean {
    const last = this.#items.at(-1);
    return last !== undefined && this.#unfinished.get(last) === "paused";
  }

  /** Calls without an output, by the id they are answered under. */
  get running(): ReadonlyMap<ToolCallId, object> {
    return new Map([...this.#open.values()].map(({ callId }) => [callId, {}]));
  }

  /** Calls that wait for somebody. */
  get waiting(): readonly WaitingCall[] {
    return [...this.#waiting.values()];
  }

  /** One reader at a time: two would hear everything twice. `heard` is told of every entry before it counts. */
  readOn(entries: (from: number) => Entries, heard: (entry: JournalEntry) => void = () => {}): Promise<void> {
    const read = async () => {
      for await (const entry of entries(this.next)) {
        heard(entry);
        this.take(entry);
      }
    };
    const turn = this.#reading.then(read, read);
    this.#reading = turn.catch(() => {}); // told to whoever asked for it
    return turn;
  }

  take(entry: JournalEntry): void {
    this.next = entry.seq + 1;
    if (SPEAKS.has(entry.kind)) this.#flush();
    switch (entry.kind) {
      case "user-said":
        return this.#say(entry.seq, { kind: "user", at: entry.at, parts: partsOf(entry) });
      case "turn-interrupted":
        return this.#say(entry.seq, { kind: "user", at: entry.at, notice: "aborted", parts: [aborted(entry.text)] });
      case "model-said":
        return this.#answered(entry);
      case "call-opened":
        return this.#opened(entry);
      case "call-closed":
        return this.#closed(entry);
      case "call-waiting":
        return void this.#waiting.set(entry.callId, waitingCallOf(entry));
      case "approval-given":
        return void this.#waiting.delete(entry.callId);
      case "file-diverged":
        return this.#noted({ seq: entry.seq, item: divergedItem(entry) });
      case "rewound":
        return entry.scope.includes("conversation") ? this.#takeBack(entry.to) : undefined;
      case "history-cut":
        this.answers = Math.max(this.answers, entry.seq); // there cannot have been more answers than records
        return this.#forget(entry.through);
      case "dropped": // what comes after is named by how many answers came before
        if (entry.was === "model-said") this.answers += 1;
        return;
      case "history-repaired":
        this.#repaired.add(entry.fault + JSON.stringify(placeIn(entry.detail)));
        return;
      default:
        return; // every other kind is no part of the conversation
    }
  }

  /** Where in the journal an item stands, for a record about it; undefined when such a record is there already. */
  unrecorded(fault: string, at: number): { readonly record: number; readonly nth: number } | undefined {
    const record = this.#said[at]?.seq ?? 0;
    let first = at; // from here back: a search from the front, for every fault of every request, costs their product
    while (this.#said[first - 1]?.seq === record) first -= 1;
    const place = { record, nth: at - first };
    return this.#repaired.has(fault + JSON.stringify(place)) ? undefined : place;
  }

  #say(seq: number, item: Item, callId?: CallId): void {
    const nth = this.#said.length - 1 - this.#said.findLastIndex((said) => said.seq !== seq);
    this.#names.set(item, `${String(seq).padStart(9, "0")}.${nth}`);
    this.#said.push(callId === undefined ? { seq, item } : { seq, item, callId });
    this.#items.push(item);
  }

  #answered(entry: Extract<JournalEntry, { readonly kind: "model-said" }>): void {
    this.answers += 1;
    const items = itemsOf(entry);
    const called = items.some(({ kind }) => kind === "call") ? "called" : undefined;
    const goesOn = entry.stop === "paused" ? "paused" : called;
    for (const item of items) {
      if (goesOn !== undefined) this.#unfinished.set(item, goesOn);
      this.#say(entry.seq, item);
      const said = this.#said.at(-1);
      if (item.kind === "call" && item.callId !== undefined && said !== undefined) this.#asked.set(item.callId, said);
    }
  }

  #opened({ seq, at, callId, tool, args, alias, parent }: Extract<JournalEntry, { readonly kind: "call-opened" }>) {
    // A call inside a call was the tool's, not the model's.
    if (parent !== undefined) return void this.#inner.add(callId);
    const asked = alias === undefined ? undefined : this.#asked.get(alias);
    if (asked?.item.kind === "call" && asked.item.callId !== undefined) {
      this.#asked.delete(asked.item.callId);
      asked.callId = callId;
      this.#batch.set(callId, undefined);
      this.#open.set(callId, { callId: asked.item.callId, callKind: asked.item.callKind });
      return;
    }
    const own = { callId: toolCallId(callId), callKind: "function" } as const;
    this.#open.set(callId, own);
    this.#say(seq, { kind: "call", ...own, at, name: tool, input: args }, callId);
  }

  #closed(entry: Extract<JournalEntry, { readonly kind: "call-closed" }>): void {
    const { seq, at, callId, tool, status, reason, output, parts: kept } = entry;
    this.#waiting.delete(callId);
    if (this.#inner.has(callId)) return;
    const asked = this.#open.get(callId) ?? { callId: toolCallId(callId), callKind: "function" };
    this.#open.delete(callId);
    const why = reason === undefined ? {} : { reason };
    const parts = kept === undefined ? [textPart(outputText(output))] : resultItemParts(kept);
    const item: Item = { kind: "output", ...asked, at, name: tool, status, ...why, parts };
    if (!this.#batch.has(callId)) return this.#say(seq, item, callId);
    this.#batch.set(callId, { seq, item, callId });
    if ([...this.#batch.values()].every((said) => said !== undefined)) this.#flush();
  }

  /** Outputs are told in the order of the calls, whichever ended first: the same answer reads the same in every run. */
  #noted(note: Said): void {
    if (this.#batch.size === 0) this.#say(note.seq, note.item);
    else this.#notes.push(note);
  }

  #flush(): void {
    for (const said of this.#batch.values()) if (said !== undefined) this.#say(said.seq, said.item, said.callId);
    this.#batch = new Map();
    for (const { seq, item } of this.#notes.splice(0)) this.#say(seq, item);
  }

  /** A call whose output goes, goes with it: an answer may lie after the cut while its question lies before. */
  #takeBack(to: number): void {
    const gone = new Set(this.#said.filter(({ seq }) => seq > to).flatMap(({ callId }) => callId ?? []));
    this.#said = this.#said.filter(({ seq, callId }) => seq <= to && (callId === undefined || !gone.has(callId)));
    this.#items = this.#said.map(({ item }) => item);
  }

  /** Retention cut while somebody follows: what the next process will not find is not told here either. */
  #forget(through: number): void {
    this.#said = this.#said.filter(({ seq }) => seq > through);
    this.#items = this.#said.map(({ item }) => item);
  }
}

function itemsOf({ at, items, text }: Extract<JournalEntry, { readonly kind: "model-said" }>): readonly Item[] {
  if (items !== undefined) return unkeepItems(items as unknown as KeptItems);
  return text === undefined ? [] : [{ kind: "assistant", at, parts: [textPart(text)] }];
}

/** The model must know, or it goes on as if its version were there. */
function divergedItem({ at, path, kept }: Extract<JournalEntry, { readonly kind: "file-diverged" }>): Item {
  const ours = kept === undefined ? "" : ` The other version is kept aside as ${kept}.`;
  const text = `Somebody else changed ${shownName(path)} at the same time. Their version is in place.${ours} Read it before you go on.`;
  return { kind: "user", at, notice: "context-update", parts: [{ type: "text", text, notice: "context-update" }] };
}

/** After these the outputs of an earlier answer have had their place. */
const SPEAKS: ReadonlySet<JournalEntry["kind"]> = new Set(["user-said", "model-said", "turn-interrupted", "rewound"]);

/** The conversation as a whole, repaired. */
export async function conversationOf(entries: AsyncIterable<JournalEntry>): Promise<PairedHistory> {
  const conversation = new Conversation();
  await conversation.readOn(() => entries);
  return repairHistory(conversation.outspoken()).history;
}

function partsOf({ text, parts }: Extract<JournalEntry, { readonly kind: "user-said" }>): readonly Part[] {
  return parts?.map(readPart) ?? [textPart(text)];
}

function placeIn(detail: Json): object {
  const { record = 0, nth = 0 } = (detail ?? {}) as { readonly record?: number; readonly nth?: number };
  return { record, nth };
}

function textPart(text: string): Part {
  return { type: "text", text };
}

function aborted(text: string): Part {
  return { type: "text", text, notice: "aborted" };
}

function outputText(output: Json | undefined): string {
  return typeof output === "string" ? output : JSON.stringify(output ?? null);
}
