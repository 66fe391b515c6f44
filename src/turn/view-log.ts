import type { Sha256 } from "../base/hash.ts";
import type { Compressed } from "../contracts/compressor.ts";
import type { Usage } from "../contracts/model.ts";
import { type Calibration, calibrate, UNCALIBRATED } from "../context/tokens/calibrate.ts";
import type { ChosenLevels } from "../context/record.ts";
import type { Reclaim } from "../context/view.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { Handle } from "../context/handle.ts";
import type { ShownSpan } from "../context/recall.ts";
import type { BodyOf } from "../records/kinds.ts";
import type { KeptItems } from "../wire/keep.ts";
import { cutFault, levelsFault, usageFault } from "./told-shapes.ts";

/** What a request's record tells beside the levels of its pages. */
export interface ViewNotes {
  /** Tokens of the whole request as they were counted, to be compared with what the provider reports. */
  readonly counted: number;
  /** Pinned rules, and the page each of them stands behind. */
  readonly beside: Readonly<Record<string, string>>;
  /** Pointers that this view is the first to show. */
  readonly spans?: readonly ShownSpan[];
  /** Texts that a model made shorter, by the digest of what they stand for. This view is the first that could show them. */
  readonly prepared?: Readonly<Record<Sha256, Compressed>>;
  /** Of `counted`, what stood around the conversation. */
  readonly around?: number;
  /** How many tokens the conversation might take. */
  readonly budget?: number;
  /** The window that this was of. */
  readonly window?: number;
  /** Set when levels were chosen anew for this request. */
  readonly reclaim?: Reclaim;
}

/** A request, as far as its size goes: what its conversation took, what it might take, and of which window. */
export interface RequestSize {
  readonly tokens: number;
  readonly budget: number;
  readonly window: number | undefined;
}

/** What a boundary left of the conversation for the requests after it. */
export interface KeptCut {
  /** Up to this page of the conversation … */
  readonly through: string;
  /** … only these stay. */
  readonly stays: readonly string[];
  /** Under this handle every page that left is listed. */
  readonly handle: Handle;
  /** What stands in its place. */
  readonly items: KeptItems;
}

export interface CrossedCut {
  readonly seq: number;
  readonly cut: KeptCut;
}

interface Chosen {
  readonly seq: number;
  /** The tools that its request offered, as far as the journal says. */
  readonly tools: ReadonlySet<string> | undefined;
  readonly body: BodyOf<"view-chosen">;
}

/** What the journal says about views: enough to go on from the last one, and to know how far counts are off. */
export class ViewLog {
  calibration: Calibration = UNCALIBRATED;
  #chosen: Chosen[] = [];
  /** Every pointer that was ever shown: what a rewind took back may still be named in somebody's notes. */
  readonly spans: ShownSpan[] = [];
  /** What a model once made of an output is what its page says, also after a rewind. */
  readonly prepared = new Map<Sha256, Compressed>();
  #cuts: CrossedCut[] = [];
  #counted = 0;
  #offered: ReadonlySet<string> | undefined;
  /** The tools that every request has offered. Calls of all others were once shown as notes, or may have been. */
  #always: ReadonlySet<string> | undefined;
  /** By their names: the tools that were offered where a pointer was first shown, for it lists what stood there then. */
  readonly #besideSpans = new Map<string, ReadonlySet<string>>();
  /** The mode has changed since the last view: the provider reads the tools anew, so this is the moment to make room. */
  flipped = false;

  /** Answers true when what was known of the last view no longer holds. */
  take(entry: JournalEntry): boolean {
    switch (entry.kind) {
      case "view-chosen": {
        if (levelsFault(entry.levels) !== undefined) return false; // it says nothing of any view
        const levels = entry.levels as unknown as ChosenLevels & Partial<ViewNotes>;
        this.#chosen.push({ seq: entry.seq, tools: this.#offered, body: entry });
        this.#shown(levels.spans ?? []);
        this.#counted = levels.counted ?? 0;
        this.spans.push(...(levels.spans ?? []));
        for (const [digest, text] of Object.entries(levels.prepared ?? {})) this.prepared.set(digest as Sha256, text);
        this.flipped = false;
        return false;
      }
      case "catalog-changed":
        this.#offered = toolsIn(entry);
        return false;
      case "boundary-crossed":
        if (entry.cut !== undefined && cutFault(entry.cut) === undefined)
          this.#cuts.push({ seq: entry.seq, cut: entry.cut as unknown as KeptCut });
        if (entry.boundary === "mode-flip") this.flipped = true;
        return false;
      case "model-said": {
        if (entry.usage === undefined || usageFault(entry.usage) !== undefined) return false;
        const { input: reported, samplings = 1 } = entry.usage as unknown as Usage;
        if (samplings > 1) return false; // a sum would make room for less with every answer of several models
        this.calibration = calibrate(this.calibration, { counted: this.#counted, reported });
        return false;
      }
      case "rewound":
        if (!entry.scope.includes("conversation")) return false;
        this.#chosen = this.#chosen.filter(({ seq }) => seq <= entry.to);
        this.#cuts = this.#cuts.filter(({ seq }) => seq <= entry.to);
        return true;
      default:
        return false;
    }
  }

  /** From the last time that all levels were written down. */
  get records(): readonly BodyOf<"view-chosen">[] {
    const from = this.#chosen.findLastIndex(({ body }) => (body.levels as unknown as ChosenLevels).from === 0);
    return from === -1 ? [] : this.#chosen.slice(from).map(({ body }) => body);
  }

  #shown(spans: readonly ShownSpan[]): void {
    const offered = this.#offered;
    if (offered === undefined) return;
    if (this.#always !== offered)
      this.#always = new Set([...(this.#always ?? offered)].filter((name) => offered.has(name)));
    if (spans.length > 0) this.#besideSpans.set([...offered].join(" "), offered);
  }

  /** The sets of tools under which everything that was ever shown can be made again. */
  get toolsBefore(): readonly ReadonlySet<string>[] {
    return [...(this.#always === undefined ? [] : [this.#always]), ...this.#besideSpans.values()];
  }

  /** What the last view took of what it might take. A view that is resumed knows neither its tail nor its budget. */
  get size(): RequestSize | undefined {
    return sizeOf(this.#chosen.at(-1)?.body);
  }

  /** The tools that the last request offered. */
  get tools(): ReadonlySet<string> | undefined {
    return this.#chosen.at(-1)?.tools;
  }

  /** Oldest first. The newest says what requests show; every one of them says what its handle lists. */
  get cuts(): readonly CrossedCut[] {
    return this.#cuts;
  }

  /** Those that the last view has seen. */
  get cutsShown(): readonly CrossedCut[] {
    const { seq: last = 0 } = this.#chosen.at(-1) ?? {};
    return this.#cuts.filter(({ seq }) => seq < last);
  }

  get beside(): ViewNotes["beside"] {
    const last = this.#chosen.at(-1)?.body.levels as unknown as Partial<ViewNotes> | undefined;
    return last?.beside ?? {};
  }
}

/** Nothing where the record does not say what might be taken. */
export function sizeOf(body: BodyOf<"view-chosen"> | undefined): RequestSize | undefined {
  const { counted = 0, around = 0, budget, window } = (body?.levels ?? {}) as unknown as Partial<ViewNotes>;
  return budget === undefined ? undefined : { tokens: counted - around, budget, window };
}

/** The tools that requests offer from this record on. A call of any other is sent as a note. */
function toolsIn({ tools }: BodyOf<"catalog-changed">): ReadonlySet<string> | undefined {
  if (!Array.isArray(tools)) return undefined;
  return new Set((tools as readonly { readonly name: string }[]).map(({ name }) => name));
}
