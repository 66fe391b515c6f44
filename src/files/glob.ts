import { HoldfastError } from "../base/errors.ts";

/** A pattern, read once: alternatives of name patterns. */
export interface Glob {
  matches(names: readonly string[]): boolean;
  /** False when nothing below this folder can match: it need not be walked. */
  reaches(folder: readonly string[]): boolean;
}

const MOST_ALTERNATIVES = 256;
const LONGEST_PATTERN = 4_096; // as the longest path
const ANY_DEPTH = "**";

/** `*` and `?` inside a name, `**` over any number of folders, `[a-z]` one of, `{a,b}` either. */
export function globOf(pattern: string): Glob {
  if (pattern.length > LONGEST_PATTERN) throw tooMuch(pattern);
  const alternatives = expanded(pattern).map((one) => one.split("/").filter((name) => name !== "" && name !== "."));
  return {
    matches: (names) => alternatives.some((parts) => matchesAll(parts, names)),
    reaches: (folder) => alternatives.some((parts) => matchesBeginning(parts, folder)),
  };
}

function matchesAll(parts: readonly string[], names: readonly string[]): boolean {
  // One row of "the first i parts match the first j names" at a time: no pattern takes more than parts × names.
  let row = Array.from({ length: names.length + 1 }, (): boolean => false);
  row[0] = true;
  for (const part of parts) {
    const next = Array.from({ length: names.length + 1 }, (): boolean => false);
    if (part === ANY_DEPTH) {
      let seen = false;
      for (const [at, before] of row.entries()) {
        seen ||= before;
        next[at] = seen;
      }
    } else for (const [at, name] of names.entries()) next[at + 1] = row[at] === true && matchesName(part, name);
    row = next;
  }
  return row[names.length] === true;
}

function matchesBeginning(parts: readonly string[], folder: readonly string[]): boolean {
  for (const [at, name] of folder.entries()) {
    const part = parts[at];
    if (part === undefined) return false;
    if (part === ANY_DEPTH) return true;
    if (!matchesName(part, name)) return false;
  }
  return parts.length > folder.length;
}

/** Wildcards with one step back: linear but for the retries of the last `*`, and never exponential. */
function matchesName(pattern: string, name: string): boolean {
  const [letters, wanted] = [Array.from(name), tokensOf(pattern)];
  let [at, token, star, retry] = [0, 0, -1, 0];
  while (at < letters.length) {
    const now = wanted[token];
    if (now === "*") [star, retry, token] = [token, at, token + 1];
    else if (now !== undefined && fits(now, letters[at] ?? "")) [at, token] = [at + 1, token + 1];
    else if (star >= 0) [token, retry, at] = [star + 1, retry + 1, retry + 1];
    else return false;
  }
  while (wanted[token] === "*") token += 1;
  return token === wanted.length;
}

/** `*`, `?`, a set `[...]`, or one letter. */
function tokensOf(pattern: string): readonly string[] {
  const tokens: string[] = [];
  const letters = Array.from(pattern);
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    const end = letter === "[" ? letters.indexOf("]", at + 2) : -1;
    if (end > 0) {
      tokens.push(letters.slice(at, end + 1).join(""));
      at = end;
    } else if (letter === "\\" && at + 1 < letters.length) {
      at += 1;
      tokens.push(`\\${letters[at] ?? ""}`);
    } else if (letter !== "*" || tokens.at(-1) !== "*") tokens.push(letter);
  }
  return tokens;
}

function fits(token: string, letter: string): boolean {
  if (token === "?") return true;
  if (token.length > 1 && token.startsWith("\\")) return token.slice(1) === letter;
  if (token.length < 3 || !token.startsWith("[")) return token === letter;
  const not = token[1] === "!" || token[1] === "^";
  const members = Array.from(token.slice(not ? 2 : 1, -1));
  let found = false;
  for (let at = 0; at < members.length; at += 1) {
    const [low = "", dash, high] = members.slice(at, at + 3);
    const isRange = dash === "-" && high !== undefined;
    found ||= isRange ? letter >= low && letter <= high : letter === low;
    if (isRange) at += 2;
  }
  return found !== not;
}

/** `a{b,c{d,e}}` written out. A pattern that would become hundreds is refused: it is a mistake or an attack. */
function expanded(pattern: string): readonly string[] {
  const open = unescaped(pattern, "{");
  const close = open < 0 ? -1 : closing(pattern, open);
  if (open < 0 || close < 0) return [pattern];
  const [head, tail] = [pattern.slice(0, open), pattern.slice(close + 1)];
  const made = choices(pattern.slice(open + 1, close)).flatMap((choice) => expanded(`${head}${choice}${tail}`));
  if (made.length > MOST_ALTERNATIVES) throw tooMuch(pattern);
  return made;
}

function tooMuch(pattern: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option: "pattern", value: pattern.slice(0, 80) });
}

/** Where a letter stands that no backslash makes a mere letter. */
function unescaped(text: string, letter: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === letter) return at;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (depth === 0) return at;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

function choices(text: string): readonly string[] {
  const found: string[] = [""];
  let depth = 0;
  for (const [letter] of text.matchAll(/\\?[^]/gu)) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    if (letter === "," && depth === 0) found.push("");
    else found.push(`${found.pop() ?? ""}${letter}`);
  }
  return found;
}
