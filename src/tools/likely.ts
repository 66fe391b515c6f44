const MOST_LIKELY = 3;
const LONGEST_SHOWN = 160;

/**
 * Where a text that does not stand in a file may have been meant: its first telling line, compared without white space.
 * Said in words only: nothing is ever changed at a place that is merely likely.
 */
export function likelyPlaces(text: string, find: string): string {
  const wanted = bare(find.split("\n").find((line) => bare(line).length > 2) ?? "");
  if (wanted === "") return "";
  const near = text
    .split("\n")
    .map((line, at) => ({ line: line.replace(/\r$/, ""), number: at + 1 }))
    .filter(({ line }) => bare(line).includes(wanted))
    .slice(0, MOST_LIKELY);
  if (near.length === 0) return " Nothing in the file is like it; read the file again.";
  const shown = near.map(({ line, number }) => `${number}: ${line.slice(0, LONGEST_SHOWN)}`).join("\n");
  return ` It begins like these lines, but differs in white space or further down:\n${shown}`;
}

function bare(line: string): string {
  return line.replace(/\s+/g, "");
}
