const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", f: "\f", v: "\v" };

/**
 * Git writes a name with letters that are not ASCII in quotes, and the bytes of such letters as octal numbers. The tools here
 * show a name with control characters as JSON writes it.
 */
export function unquoted(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  const bytes = name
    .slice(1, -1)
    .replaceAll(/\\(u[0-9a-fA-F]{4}|[0-7]{3}|.)|[^\0-\x7f]/g, (whole, escaped: string | undefined) => {
      if (escaped === undefined) return bytesOf(whole);
      if (escaped.length === 5) return bytesOf(String.fromCharCode(Number.parseInt(escaped.slice(1), 16)));
      return escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : (ESCAPES[escaped] ?? escaped);
    });
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Where a name may stand in quotes of its own, it is only read as quoted when it has to be. */
export function unquotedIfEscaped(name: string): string {
  return name.includes("\\") ? unquoted(name) : name;
}

function bytesOf(letter: string): string {
  return Buffer.from(letter).toString("latin1");
}
