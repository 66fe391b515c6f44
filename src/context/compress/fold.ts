export interface FoldedLine {
  readonly text: string;
  /** How many lines of the source it stands for. */
  readonly times: number;
}

/** How many other lines may lie between two of the same form: beyond that the order says something. */
const REACH = 24;

/** Lines of one form, apart only in numbers, times and ids, become one with a count; with `exact`, only equal ones. */
export function foldLines(lines: readonly string[], exact: boolean): readonly FoldedLine[] {
  const folded: { text: string; times: number; at: number }[] = [];
  const byForm = new Map<string, { text: string; times: number; at: number }>();
  for (const [at, text] of lines.entries()) {
    const form = exact ? text.trim() : formOf(text);
    const known = form === "" ? undefined : byForm.get(form);
    if (known !== undefined && at - known.at <= REACH) {
      known.times += 1;
      known.at = at;
      continue;
    }
    const fresh = { text, times: 1, at };
    folded.push(fresh);
    byForm.set(form, fresh);
  }
  return folded;
}

function formOf(line: string): string {
  return line
    .slice(0, 200)
    .replace(/\[[0-9;]*m/g, "") // colours
    .replace(/0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+/gi, "0")
    .trim();
}
