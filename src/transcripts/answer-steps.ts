import type { Item } from "../wire/item.ts";
import type { Piece } from "./format.ts";

/**
 * Which answer of the model an item belongs to, in formats that are a flat list. An answer says something and then calls;
 * what the model says after calls, or after anybody else, begins the next one.
 */
export class AnswerSteps {
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
