import { appendTo } from "../base/append-to.ts";
import { textOf as outputText } from "../wire/item.ts";
import type { Format, Piece } from "./format.ts";
import type { Judgement } from "./judge.ts";
import { LinkEditor } from "./relink.ts";
import { type Run, runsOf, type StrandRuns } from "./runs.ts";
import type { Edit, Path } from "../base/text/edit.ts";
import type { LinkNode } from "./links.ts";
import type { Element } from "./transcript.ts";

/** Something that comes to stand behind an element, or first in the list. */
export type Insert =
  | { readonly kind: "moved"; readonly element: Element }
  /** Some blocks of an element, as an element of their own. */
  | { readonly kind: "part"; readonly element: Element; readonly pieces: readonly Piece[]; readonly link?: LinkNode }
  | AnswerInsert;

export interface AnswerInsert {
  readonly kind: "answer";
  /** The call, and the element it stands in. */
  readonly piece: Piece;
  readonly element: Element;
  readonly callId: string;
  readonly text: string;
  readonly link?: LinkNode;
}

/** What is done to the elements of one conversation. */
export interface Changes {
  readonly elements: readonly Element[];
  /** Worked out when asked for: a log of which every record is hung anew would be held twice. */
  readonly editsOf: (element: Element) => readonly Edit[];
  readonly removed: ReadonlySet<Element>;
  /** By the element they follow; `undefined` for the start of the list. */
  readonly inserts: ReadonlyMap<Element | undefined, readonly Insert[]>;
  /** Outputs written inside the element of their call. */
  readonly inside: ReadonlyMap<Element, readonly AnswerInsert[]>;
  /** Elements that name others by their position in the file. */
  readonly positioned: readonly Element[];
}

/** Turns judgements into changes of elements. What is not named here keeps its bytes. */
export function planChanges(judgement: Judgement, format: Format): Changes {
  const planner = new ChangePlanner(format, judgement);
  for (const judged of judgement.strands) planner.strand(runsOf(judged, format));
  return planner.changes();
}

class ChangePlanner {
  readonly #links: LinkEditor | undefined;
  readonly #elements: readonly Element[];
  readonly #edits = new Map<Element, Edit[]>();
  readonly #removed = new Set<Element>();
  readonly #inserts = new Map<Element | undefined, Insert[]>();
  readonly #inside = new Map<Element, AnswerInsert[]>();

  constructor({ links }: Format, { tree, conversation }: Judgement) {
    if (tree !== undefined && links !== undefined) this.#links = new LinkEditor(tree, links);
    this.#elements = conversation.elements;
    for (const element of conversation.elements) if (element.again === true) this.#removed.add(element);
  }

  strand({ runs, renames, dropped, inside }: StrandRuns): void {
    for (const { element, path, value } of renames) this.#edit(element, { op: "set", path, value });
    for (const [element, pieces] of dropped) this.#drop(element, pieces);
    for (const { entry, output } of inside) {
      const callId = output.callId as string;
      appendTo(this.#inside, entry.element, { kind: "answer", ...entry, callId, text: outputText(output.parts) });
    }
    let anchor: Element | undefined;
    for (const run of runs) anchor = this.#place(run, anchor);
  }

  changes(): Changes {
    return {
      elements: this.#elements,
      editsOf: (element) => this.#editsOf(element),
      removed: this.#removed,
      inserts: this.#inserts,
      inside: this.#inside,
      positioned: this.#elements.filter(({ reading }) => reading.position === true),
    };
  }

  #editsOf(element: Element): readonly Edit[] {
    const own = this.#edits.get(element);
    const hung = this.#links?.editsOf(element) ?? NO_EDITS;
    return own === undefined ? hung : [...own, ...hung];
  }

  /** Puts a run in its place and says behind which element of the file the next one goes. */
  #place(run: Run, anchor: Element | undefined): Element | undefined {
    switch (run.kind) {
      case "stays":
        this.#links?.pass(run.element);
        return run.element;
      case "moves":
        this.#removed.add(run.element);
        appendTo(this.#inserts, anchor, { kind: "moved", element: run.element });
        this.#links?.move(run.element);
        return anchor;
      case "part": {
        const pieces = run.entries.map(({ piece }) => piece);
        for (const { path } of pieces) this.#edit(run.element, { op: "remove", path });
        const link = this.#links?.part(run.element);
        const linked = link === undefined ? {} : { link };
        appendTo(this.#inserts, anchor, { kind: "part", element: run.element, pieces, ...linked });
        return anchor;
      }
      default: {
        const callId = run.output.callId as string;
        const link = this.#links?.answer(run.call.element, callId);
        const text = outputText(run.output.parts);
        const linked = link === undefined ? {} : { link };
        appendTo(this.#inserts, anchor, { kind: "answer", ...run.call, callId, text, ...linked });
        return anchor;
      }
    }
  }

  /** Takes blocks out of an element, and the element with its last one. */
  #drop(element: Element, paths: readonly Path[]): void {
    const { pieces, blocks = 0 } = element.reading;
    const blocked = paths.filter((path) => path.length > 0);
    const rest = pieces.length - paths.length;
    const whole = blocked.length < paths.length || blocked.length >= blocks;
    if (rest <= 0 && whole) {
      this.#removed.add(element);
      this.#links?.remove(element);
    } else if (blocked.length >= blocks && blocked[0] !== undefined) {
      this.#edit(element, { op: "remove", path: blocked[0].slice(0, -1) }); // an empty list of calls is refused, too
    } else for (const path of blocked) this.#edit(element, { op: "remove", path });
  }

  #edit(element: Element, edit: Edit): void {
    appendTo(this.#edits, element, edit);
  }
}

const NO_EDITS: readonly Edit[] = [];
