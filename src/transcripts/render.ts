import { appendTo } from "../base/append-to.ts";
import { toolCallId } from "../wire/item.ts";
import { type Edit, editText, type NewText, type Path } from "../base/text/edit.ts";
import { type Child, childrenOf } from "../base/text/scan.ts";
import { SpanIndex } from "../base/text/span-index.ts";
import type { Fields } from "../base/fields.ts";
import type { Format, Wanted } from "./format.ts";
import type { AnswerInsert, Insert } from "./plan.ts";
import { called } from "./skeleton.ts";
import type { Element } from "./transcript.ts";

/** The text of an element as the file has it. */
export type TextOf = (element: Element) => string;

/**
 * Writes what a repair adds, from the elements it is made of. An element that many additions come from is read once: a
 * message with a thousand results that all move elsewhere would otherwise be read a thousand times.
 */
export class Renderer {
  readonly #format: Format;
  readonly #textOf: TextOf;
  readonly #editsOf: (element: Element) => readonly Edit[];
  #asked: { readonly element: Element; readonly fields: Fields } | undefined;
  #parted: PartedElement | undefined;

  constructor(format: Format, textOf: TextOf, editsOf: (element: Element) => readonly Edit[]) {
    this.#format = format;
    this.#textOf = textOf;
    this.#editsOf = editsOf;
  }

  added(insert: Insert): NewText {
    const { element } = insert;
    if (insert.kind === "moved") {
      return { text: editText(this.#textOf(element), this.#editsOf(element)).trim(), asIs: true };
    }
    if (insert.kind === "part") return { text: this.#partOf(element).text(insert, this.#format), asIs: true };
    const answer = this.#format.answer(this.#wanted(insert));
    return { text: "element" in answer ? JSON.stringify(answer.element) : this.#textOf(element) };
  }

  /** Edits that write outputs inside the element of their calls. */
  inside(answers: readonly AnswerInsert[]): readonly Edit[] {
    return answers.flatMap((insert) => {
      const answer = this.#format.answer(this.#wanted(insert));
      return "inside" in answer ? answer.inside : [];
    });
  }

  #wanted({ element, piece, callId, text, link }: AnswerInsert): Wanted {
    const call = piece.item.kind === "call" ? piece.item : called({ id: callId, name: "" });
    return {
      call: { ...call, callId: toolCallId(callId) },
      callId,
      text,
      element: this.#fieldsOf(element),
      path: piece.path,
      ...(link === undefined ? {} : { link: { id: link.id, parent: link.parent?.id ?? null } }),
    };
  }

  #fieldsOf(element: Element): Fields {
    if (this.#asked?.element !== element)
      this.#asked = { element, fields: JSON.parse(this.#textOf(element)) as Fields };
    return this.#asked.fields;
  }

  #partOf(element: Element): PartedElement {
    if (this.#parted?.element !== element)
      this.#parted = new PartedElement(element, this.#textOf(element), this.#editsOf(element));
    return this.#parted;
  }
}

/** An element whose blocks go different ways. */
class PartedElement {
  readonly element: Element;
  readonly #text: string;
  readonly #list: Path;
  /** Where the list of blocks begins, and the blocks. */
  readonly #start: number;
  readonly #blocks: readonly Child[];
  /** New ids and names, by the block they stand in. */
  readonly #edits = new Map<number, Edit[]>();

  constructor(element: Element, text: string, edits: readonly Edit[]) {
    this.element = element;
    this.#text = text;
    this.#list = element.reading.pieces[0]?.path.slice(0, -1) ?? [];
    this.#start = new SpanIndex(text).spanOf(this.#list)?.start ?? 0;
    this.#blocks = childrenOf(text, this.#start);
    const depth = this.#list.length;
    for (const edit of edits) {
      const nth = edit.path[depth];
      if (edit.op !== "set" || typeof nth !== "number") continue;
      appendTo(this.#edits, nth, { ...edit, path: edit.path.slice(depth + 1) });
    }
  }

  /** The element with only some of its blocks, under an id of its own. */
  text({ pieces, link }: Extract<Insert, { kind: "part" }>, { links, outputFields = [] }: Format): string {
    const kept = new Set(pieces.map(({ path }) => path.at(-1) as number));
    const written = [...kept].map((nth) => this.#blockText(nth));
    const end = this.#blocks.at(-1)?.end ?? this.#start + 1;
    const text = this.#text.slice(0, this.#start + 1) + written.join(",") + this.#text.slice(end);
    const foreign = pieces.some(({ item }) => item.kind === "output") ? [] : outputFields;
    const edits: Edit[] = foreign.map((key) => ({ op: "remove", path: [key] }));
    if (link !== undefined && links !== undefined) {
      edits.push({ op: "set", path: [links.id], value: link.id });
      edits.push({ op: "set", path: [links.parent], value: link.parent?.id ?? null });
    }
    return editText(text, edits).trim();
  }

  /** A block with the white space before it. */
  #blockText(nth: number): string {
    const { start, end } = this.#blocks[nth] as Child;
    const before = this.#blocks[nth - 1];
    const from = before === undefined ? this.#start + 1 : this.#text.indexOf(",", before.end) + 1;
    return this.#text.slice(from, start) + editText(this.#text.slice(start, end), this.#edits.get(nth) ?? []);
  }
}
