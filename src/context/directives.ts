/**
 * Instructions with what is no rule taken out: examples in fences, blank lines, lines that were said before. Every other
 * line stays verbatim, headings included, because no form tells a rule from a remark.
 */
export function directiveLines(text: string): string {
  const kept: string[] = [];
  const said = new Set<string>();
  let fence: string | undefined;
  let held: string[] = [];
  for (const line of text.split("\n")) {
    const mark = /^\s*(```|~~~)/.exec(line)?.[1];
    if (fence !== undefined) {
      held.push(line);
      if (mark === fence && line.trim() === fence) {
        fence = undefined;
        held = [];
        kept.push("[an example is left out here]");
      }
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      held = [line];
      continue;
    }
    if (line.trim() === "" || said.has(line)) continue;
    said.add(line);
    kept.push(line);
  }
  return [...kept, ...held].join("\n"); // a fence that nobody closed is no example
}
