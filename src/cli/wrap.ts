/** A line cut at spaces so that it fits; what follows is indented by `hang` more than its beginning. */
export function wrapped(line: string, columns: number | undefined, hang = 2): readonly string[] {
  if (columns === undefined || line.length <= columns) return [line];
  const indent = `${/^ */.exec(line)?.[0] ?? ""}${" ".repeat(hang)}`;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(" ", columns);
    // A word that is longer than the line, such as a path, is left whole.
    const cut = space > indent.length ? space : rest.indexOf(" ", columns);
    if (cut === -1) break;
    lines.push(rest.slice(0, cut));
    rest = indent + rest.slice(cut + 1);
  }
  return [...lines, rest];
}
