import { appendTo } from "../base/append-to.ts";
import { firstWhere } from "../base/first-where.ts";
import type { Edit, NewText } from "../base/text/edit.ts";
import type { Changes } from "./plan.ts";
import { Renderer, type TextOf } from "./render.ts";
import type { Conversation, Element, Transcript } from "./transcript.ts";

/** Changes by the place where the file is written: its records, in order. */
export interface RecordChanges {
  editsOf(record: number): readonly Edit[];
  isRemoved(record: number): boolean;
  /** JSON texts that come behind a record; -1 for the start. */
  added(record: number): readonly string[];
}

/** Elements of a log are its records; elements of a document are inside its record. */
export function recordChanges(transcript: Transcript, changes: readonly Changes[], textOf: TextOf): RecordChanges {
  const [only] = changes;
  if (transcript.layout === "log" && only !== undefined) return new LogChanges(transcript, only, textOf);
  return documentChanges(transcript, changes, textOf);
}

/** Worked out record by record while the log is written, so that nothing of it is held. */
class LogChanges implements RecordChanges {
  readonly #changes: Changes;
  readonly #render: Renderer;

  constructor({ format }: Transcript, changes: Changes, textOf: TextOf) {
    this.#changes = changes;
    this.#render = new Renderer(format, textOf, (element) => this.#editsOf(element));
  }

  editsOf(record: number): readonly Edit[] {
    const element = this.#elementAt(record);
    return element === undefined ? [] : this.#editsOf(element);
  }

  isRemoved(record: number): boolean {
    const element = this.#elementAt(record);
    return element !== undefined && this.#changes.removed.has(element);
  }

  added(record: number): readonly string[] {
    const { inserts } = this.#changes;
    const anchor = record === -1 ? undefined : this.#elementAt(record);
    if (record !== -1 && anchor === undefined) return [];
    return (inserts.get(anchor) ?? []).map((insert) => this.#render.added(insert).text);
  }

  #editsOf(element: Element): readonly Edit[] {
    const { editsOf, inside } = this.#changes;
    const answers = inside.get(element);
    return answers === undefined ? editsOf(element) : [...editsOf(element), ...this.#render.inside(answers)];
  }

  #elementAt(record: number): Element | undefined {
    const { elements } = this.#changes;
    const element = elements[firstWhere(elements.length, (at) => (elements[at] as Element).record >= record)];
    return element?.record === record ? element : undefined;
  }
}

/** Everything is an edit of the document that holds the conversation. */
function documentChanges(
  { format, conversations }: Transcript,
  changes: readonly Changes[],
  textOf: TextOf,
): RecordChanges {
  const all = new Map<number, Edit[]>();
  for (const [nth, { elements, editsOf, removed, inserts, inside }] of changes.entries()) {
    const { list } = conversations[nth] as Required<Conversation>;
    const ownEdits = (element: Element): readonly Edit[] => {
      const answers = inside.get(element);
      return answers === undefined ? editsOf(element) : [...editsOf(element), ...render.inside(answers)];
    };
    const render = new Renderer(format, textOf, ownEdits);
    for (const element of elements) {
      const { record, path } = element;
      if (removed.has(element)) appendTo(all, record, { op: "remove", path });
      else for (const edit of ownEdits(element)) appendTo(all, record, { ...edit, path: [...path, ...edit.path] });
    }
    for (const [anchor, added] of inserts) {
      const index = anchor === undefined ? 0 : (anchor.path.at(-1) as number) + 1;
      const texts = added.map((insert): NewText => render.added(insert));
      appendTo(all, list.record, { op: "insert", path: list.path, index, texts });
    }
  }
  return { editsOf: (record) => all.get(record) ?? [], isRemoved: () => false, added: () => [] };
}
