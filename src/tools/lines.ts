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

/** Every place where a text occurs, without overlaps. */
export function placesOf(text: string, find: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + find.length)) places.push(at);
  return places;
}

/** The line break that a text uses throughout, so that a model, which never sees it, need not write it. */
export function lineBreakOf(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n";
}

/** `12, 40 and 77`; of many, the first few. */
export function numbersWords(numbers: readonly number[], most = 8): string {
  if (numbers.length > most) return `${numbers.slice(0, most).join(", ")} and ${numbers.length - most} more`;
  return [numbers.slice(0, -1).join(", "), String(numbers.at(-1) ?? "")].filter((part) => part !== "").join(" and ");
}
