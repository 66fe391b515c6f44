import { COOKIE, cookieValues } from "./cookies.ts";
import { COMMA, DASH, endsWith, exact, lettersOf, oneOf, roughLetters, standsAt } from "./letters.ts";
import { ASSIGNED_SECRET } from "./mark.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { ENDLESS, holdsAt, RUN, type Scan } from "./scan.ts";
import { findValue, isEscape, isSecretValue, mayBeSecret } from "./values.ts";

/**
 * Where the next flag with a name begins. Searched for as a text: dashes stand beside so many letters that asking for them
 * all along would take longer than all other questions together.
 */
export function nextFlag({ text, letters }: FlagText, from: number): number {
  for (let at = text.indexOf("--", from); at !== -1; ) {
    let end = at;
    while (letters[end] === DASH) end += 1;
    if (end - at === 2 && FLAG_BEGINS[letters[end] as number] === 1) return at;
    at = text.indexOf("--", end);
  }
  return ENDLESS;
}

type FlagText = Pick<Scan, "text" | "letters">;
const FLAG_BEGINS = oneOf("abcdefghijklmnopqrstuvwxyz");

/** `--token x`, `--token=x`, `"--token", "x"`: what a command is given. */
export function flagSecret(scan: Scan, at: number): boolean {
  const { letters } = scan;
  if (!scan.wordStarts(at)) return false;
  const end = scan.runEnd(RUN.word, at);
  const from = argumentFrom(letters, end);
  if (from === end || !isArgumentAt(letters, from)) return false;
  scan.mark = COOKIE;
  if (isWhole(COOKIE_FLAG, letters, at, end)) return cookieValues(scan, from, "asked");
  const flag = secretFlagAt(letters, at, end);
  if (flag === undefined || !findValue(scan, from)) return false;
  if (flag === "of a key or its file" && !holdsAt(KEY, scan.text, from)) return false;
  scan.mark = ASSIGNED_SECRET;
  return mayBeSecret(scan.value) && isSecretValue(scan, from) && scan.tell(from, scan.value.to);
}

/** Whether the next of a list of arguments is the secret. */
export function isSecretFlag(argument: string, next: string): boolean {
  if (!argument.startsWith("--") || argument.length > LONGEST_FLAG) return false;
  const flag = secretFlagAt(exact(argument, roughLetters(argument)), 0, argument.length);
  if (flag === undefined || (flag === "of a key or its file" && !holdsAt(KEY, next, 0))) return false;
  return isArgumentAt(exact(next, roughLetters(next)), 0);
}

/** What a flag is given, by its name, if that says it is secret. */
function secretFlagAt(
  letters: Uint8Array,
  at: number,
  end: number,
): "of a secret" | "of a key or its file" | undefined {
  if (!mayNameSecret(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number))
    return undefined;
  if (WHOLE.some((flag) => isWhole(flag, letters, at, end))) return "of a secret";
  if (endsWith(PRIVATE_KEY, letters, end)) return "of a key or its file";
  return namesSecret(letters, end, at) && !FILES.some((name) => endsWith(name, letters, end))
    ? "of a secret"
    : undefined;
}

function isWhole(flag: Uint8Array, letters: Uint8Array, at: number, end: number): boolean {
  return end - at === flag.length && standsAt(flag, letters, at);
}

/** Behind a `=`, or blanks, or a comma between quotes; the same place where none of them is. */
function argumentFrom(letters: Uint8Array, end: number): number {
  let from = end;
  let hasComma = false;
  for (; from - end < LONGEST_JOINT && JOINT[letters[from] as number] === 1; from += 1)
    hasComma ||= letters[from] === COMMA;
  // A flag in quotes without another argument is only spoken of, and so is one before a comma of prose.
  return hasComma === (QUOTE[letters[end] as number] === 1) && !isEscape(letters, from) ? from : end;
}

/** What is no flag, and no place to look for the secret. */
function isArgumentAt(letters: Uint8Array, at: number): boolean {
  return letters[at] !== DASH && !PLACES.some((place) => standsAt(place, letters, at));
}

const LONGEST_FLAG = 64;
const LONGEST_JOINT = 12;
const JOINT = oneOf(" \t\\\"'`,=");
const QUOTE = oneOf("\"'`\\");
const COOKIE_FLAG = lettersOf("--cookie");
/** They say this much only by themselves: `--next-token` is a place in a list. */
const WHOLE = ["--token", "--pass"].map(lettersOf);
/** These are given files. */
const FILES = ["signing-key", "credential", "credentials"].map(lettersOf);
const PRIVATE_KEY = lettersOf("private-key");
/** As no file is called: 32 bytes in base 16, base 64 with its padding, or so much of it in a row. */
const KEY = /(?:(?:0x)?[0-9A-Fa-f]{64}|[A-Za-z0-9+/]{40,}={1,2}|[A-Za-z0-9+]{60,})(?![\w+/=.-])/y;
const PLACES = ["id=", "type=", "src=", "env="].map(lettersOf);
