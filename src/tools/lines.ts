import { firstWhere } from "../base/first-where.ts";

/** Lines as people count them: a last line break ends a line and begins none. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** The numbers, from 1, of the lines in which rising places of a text lie. One pass: a common word stands in many places. */
export function linesAt(text: string, places: readonly number[]): readonly number[] {
  let line = 1;
  let next = text.indexOf("\n");
  return places.map((place) => {
    for (; next !== -1 && next < place; next = text.indexOf("\n", next + 1)) line += 1;
    return line;
  });
}

/** Every place where a text occurs: those that can all be replaced, or, with `overlapping`, all that may be meant. */
export function placesOf(text: string, find: string, { overlapping = false } = {}): readonly number[] {
  const step = overlapping ? 1 : find.length;
  const places: number[] = [];
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + step)) places.push(at);
  return places;
}

/** A line without its line break, which is the usual one where it is not said. */
export interface Line {
  readonly text: string;
  readonly end?: "\n" | "\r\n";
}

export interface Lines {
  /** What some editors begin a file with. Nobody sees it, so no patch writes it. */
  readonly mark: "" | "\uFEFF";
  /** After the last line break there is one more, mostly empty. */
  readonly lines: readonly Line[];
  readonly usual: "\n" | "\r\n";
}

/** A text as models see it: they never see how its lines end, and need not write it. */
export function linesIn(text: string): Lines {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const raw = text.slice(mark.length).split("\n");
  const last = raw.length - 1;
  const lines = raw.map((line, at): Line => {
    if (at === last) return { text: line };
    return line.endsWith("\r") ? { text: line.slice(0, -1), end: "\r\n" } : { text: line, end: "\n" };
  });
  const long = lines.reduce((count, { end }) => count + (end === "\r\n" ? 1 : 0), 0);
  return { mark, lines, usual: long * 2 > last ? "\r\n" : "\n" };
}

/** The same as one text, and where a place of it lies in the text that is kept. */
export function asSeen(text: string) {
  const { mark, lines, usual } = linesIn(text);
  const long: number[] = []; // where in what is seen the longer line breaks stand
  let place = 0;
  for (const line of lines) {
    place += line.text.length;
    if (line.end === "\r\n") long.push(place);
    place += 1;
  }
  const inText = (at: number) => mark.length + at + firstWhere(long.length, (nth) => (long[nth] as number) >= at);
  return { seen: lines.map((line) => line.text).join("\n"), usual, inText };
}

export function joinedLines(lines: readonly Line[], usual: string): string {
  return lines.map(({ text, end = usual }, at) => (at === lines.length - 1 ? text : text + end)).join("");
}

/** `12, 40 and 77`; of many, the first few. */
export function numbersWords(numbers: readonly number[], most = 8): string {
  if (numbers.length > most) return `${numbers.slice(0, most).join(", ")} and ${numbers.length - most} more`;
  return [numbers.slice(0, -1).join(", "), String(numbers.at(-1) ?? "")].filter((part) => part !== "").join(" and ");
}
