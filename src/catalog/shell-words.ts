/** One word of a simple command, as the shell will pass it on. */
export interface ShellWord {
  readonly text: string;
  /** Where an unquoted `*`, `?` or `[` stands; the shell may put any file name there. */
  readonly globAt: number | undefined;
}

export type ShellCommand = readonly ShellWord[];

export type ShellReading =
  | { readonly ok: true; readonly commands: readonly ShellCommand[] }
  | { readonly ok: false; readonly why: string };

/** What may stand between two commands. Everything else that is not a plain word or a quote is refused. */
const SEPARATORS = ["&&", "||", "|", ";", "\n"] as const;

const FORBIDDEN: Readonly<Record<string, string>> = {
  ">": "it redirects output (>)",
  "<": "it redirects input (<)",
  "`": "it runs a command inside another (`)",
  $: "it uses an expansion ($)",
  "(": "it uses a subshell or a function (()",
  ")": "it uses a subshell or a function ())",
  "{": "it uses a group or an expansion ({)",
  "}": "it uses a group or an expansion (})",
  "&": "it runs something in the background (&)",
};

interface Scan {
  readonly source: string;
  at: number;
  readonly commands: ShellWord[][];
  text: string | undefined;
  globAt: number | undefined;
}

class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/**
 * Reads a command line of a POSIX shell that consists of simple commands with plain or quoted words. It understands less
 * than a shell and refuses the rest: what it takes, every shell reads the same way.
 */
export function readShell(source: string): ShellReading {
  const scan: Scan = { source, at: 0, commands: [[]], text: undefined, globAt: undefined };
  try {
    while (scan.at < source.length) step(scan);
    endWord(scan);
    return { ok: true, commands: scan.commands.filter((command) => command.length > 0) };
  } catch (stopped) {
    if (stopped instanceof Unreadable) return { ok: false, why: stopped.why };
    throw stopped;
  }
}

function step(scan: Scan): void {
  const { source, at } = scan;
  const char = source[at] as string;
  if (char === "'") return quoteSingle(scan);
  if (char === '"') return quoteDouble(scan);
  if (char === "\\") return escape(scan);
  if (char === " " || char === "\t") return space(scan);
  const separator = SEPARATORS.find((one) => source.startsWith(one, at));
  if (separator !== undefined) return separate(scan, separator);
  if (Object.hasOwn(FORBIDDEN, char)) throw new Unreadable(FORBIDDEN[char] as string);
  // In the middle of a word it is a letter; at its start it hides the rest of the line from the shell, not from us.
  if (char === "#" && scan.text === undefined) throw new Unreadable("it holds a comment (#)");
  if (/[\p{Cc}\p{White_Space}]/u.test(char)) throw new Unreadable("it holds an invisible character");
  if ("*?[".includes(char)) scan.globAt ??= scan.text?.length ?? 0;
  add(scan, char);
}

function quoteSingle(scan: Scan): void {
  const end = scan.source.indexOf("'", scan.at + 1);
  if (end === -1) throw new Unreadable("a quote is not closed (')");
  const inside = scan.source.slice(scan.at + 1, end);
  if (inside.includes("\0")) throw new Unreadable("it holds an invisible character");
  scan.text = (scan.text ?? "") + inside;
  scan.at = end + 1;
}

function quoteDouble(scan: Scan): void {
  let text = "";
  for (let at = scan.at + 1; at < scan.source.length; at += 1) {
    const char = scan.source[at] as string;
    const next = scan.source[at + 1];
    if (char === '"') {
      scan.text = (scan.text ?? "") + text;
      scan.at = at + 1;
      return;
    }
    if (char === "`") throw new Unreadable(FORBIDDEN["`"] as string);
    // A dollar that ends a pattern is only a dollar.
    if (char === "$" && !(next === '"' || next === " " || next === "|" || next === ")"))
      throw new Unreadable(FORBIDDEN["$"] as string);
    if (char === "\0") throw new Unreadable("it holds an invisible character");
    if (char === "\\" && next !== undefined && '"\\$`\n'.includes(next)) {
      if (next !== "\n") text += next;
      at += 1;
    } else text += char;
  }
  throw new Unreadable('a quote is not closed (")');
}

function escape(scan: Scan): void {
  const next = scan.source[scan.at + 1];
  if (next === undefined) throw new Unreadable("it ends in a backslash");
  if (next === "\n") {
    scan.at += 2; // the line goes on
    return;
  }
  scan.text = (scan.text ?? "") + next;
  scan.at += 2;
}

function space(scan: Scan): void {
  endWord(scan);
  scan.at += 1;
}

function separate(scan: Scan, separator: string): void {
  endWord(scan);
  scan.commands.push([]);
  scan.at += separator.length;
}

function add(scan: Scan, char: string): void {
  scan.text = (scan.text ?? "") + char;
  scan.at += 1;
}

function endWord(scan: Scan): void {
  if (scan.text !== undefined) scan.commands.at(-1)?.push({ text: scan.text, globAt: scan.globAt });
  scan.text = undefined;
  scan.globAt = undefined;
}
