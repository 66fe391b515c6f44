import type { Item } from "../wire/item.ts";
import type { Fields } from "../base/fields.ts";
import type { Piece, Reading } from "./format.ts";

/** Reads items in order: which of them are one answer is told by what stands between them. */
export function inAnswers(readItem: (item: Fields) => Reading | undefined): (item: Fields) => Reading | undefined {
  const steps = new AnswerSteps();
  return (item) => {
    const reading = readItem(item);
    return reading === undefined ? undefined : { ...reading, pieces: steps.mark(reading.pieces) };
  };
}

/**
 * Which answer of the model an item belongs to, in formats that are a flat list. An answer says something and then calls;
 * what the model says after calls, or after anybody else, begins the next one.
 */
class AnswerSteps {
  #step = 0;
  #called = false;

  mark(pieces: readonly Piece[]): readonly Piece[] {
    return pieces.map((piece) => ({ ...piece, item: this.#marked(piece.item) }));
  }

  #marked(item: Item): Item {
    if (item.kind === "call") {
      this.#called = true;
      return { ...item, step: `${this.#step}` };
    }
    if (item.kind === "reasoning") return { ...item, step: `${this.#step}` };
    if (item.kind !== "assistant") {
      this.#next();
      return item;
    }
    if (this.#called) this.#next();
    return { ...item, step: `${this.#step}` };
  }

  #next(): void {
    this.#step += 1;
    this.#called = false;
  }
}
