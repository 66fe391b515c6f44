import { asList, asText, type Fields, fieldsOf, isFields } from "../../../base/fields.ts";
import { countOf, wordOf } from "../../fields.ts";

/** Where a part of a list has its words, by its type. Only such a part goes on in the next. */
const WORDS: Readonly<Record<string, string>> = {
  text: "text",
  thinking: "thinking",
  "reasoning.text": "text",
  "reasoning.summary": "summary",
};

/** What a piece of a list added. */
export interface Grown {
  readonly part: Fields;
  readonly words: string;
  /** It begins a part of its own. */
  readonly opens: boolean;
}

/** A list whose parts arrive in pieces: content, and details of reasoning. */
export class GrowingList {
  readonly parts: Fields[] = [];

  add(given: Fields): Grown {
    const piece = withoutEmptySeal(given);
    const at = this.#goesOn(piece);
    const words = wordsOf(piece);
    const part = this.parts[at];
    if (part === undefined) this.parts.push(piece);
    else this.parts[at] = joined(part, piece);
    return { part: piece, words, opens: part === undefined };
  }

  /** The part that a piece continues, or -1: the last of its kind under its number, or the last one of all. */
  #goesOn(piece: Fields): number {
    const type = asText(piece["type"]) ?? "";
    const number = countOf(piece["index"]);
    const at = number === undefined ? this.parts.length - 1 : this.parts.findLastIndex(isOf(type, number));
    const part = this.parts[at];
    if (part === undefined || part["type"] !== type || !Object.hasOwn(WORDS, type)) return -1;
    const another = [wordOf(part["id"]), wordOf(piece["id"])];
    if (!another.includes(undefined) && another[0] !== another[1]) return -1;
    // A seal is over what came before it: more under the same seal would break it.
    return wordOf(part["signature"]) !== undefined && wordsOf(piece) !== "" ? -1 : at;
  }
}

/** An empty one would stand for a seal that was lost, and take the place of one that came before. */
function withoutEmptySeal(piece: Fields): Fields {
  const { signature, ...rest } = piece;
  return signature === "" ? rest : piece;
}

function isOf(type: string, number: number): (part: Fields) => boolean {
  return (part) => part["type"] === type && part["index"] === number;
}

/** The words of a part: a text, or a list of texts. */
function wordsOf(part: Fields): string {
  const said = part[fieldOf(part)];
  return (
    asText(said) ??
    asList(said)
      .map((one) => asText(fieldsOf(one)["text"]) ?? "")
      .join("")
  );
}

function fieldOf({ type }: Fields): string {
  return typeof type === "string" && Object.hasOwn(WORDS, type) ? (WORDS[type] as string) : "";
}

function joined(part: Fields, piece: Fields): Fields {
  const field = fieldOf(part);
  const told = Object.entries(piece).filter(([, value]) => value !== null); // a seal that is not there yet, or no more
  return { ...part, ...Object.fromEntries(told), [field]: joinedWords(part[field], piece[field]) };
}

function joinedWords(before: unknown, after: unknown): unknown {
  if (!Array.isArray(before) && !Array.isArray(after)) return (asText(before) ?? "") + (asText(after) ?? "");
  const list = new GrowingList();
  for (const one of [...asTexts(before), ...asTexts(after)]) list.add(one);
  return list.parts;
}

function asTexts(said: unknown): readonly Fields[] {
  return typeof said === "string" ? [{ type: "text", text: said }] : asList(said).filter(isFields);
}
