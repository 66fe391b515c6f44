import { COOKIE, cookieValues } from "./cookies.ts";
import { COMMA, DASH, endsWith, exact, lettersOf, oneOf, roughLetters, standsAt } from "./letters.ts";
import { ASSIGNED_SECRET } from "./mark.ts";
import { mayNameSecret, namesSecret } from "./names.ts";
import { ENDLESS, RUN, type Scan } from "./scan.ts";
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
  if (!isSecretFlagAt(letters, at, end)) return false;
  scan.mark = ASSIGNED_SECRET;
  return (
    findValue(scan, from) && mayBeSecret(scan.value) && isSecretValue(scan, from) && scan.tell(from, scan.value.to)
  );
}

/** Whether the next of a list of arguments is the secret. */
export function isSecretFlag(argument: string, next: string): boolean {
  if (!argument.startsWith("--") || argument.length > LONGEST_FLAG) return false;
  if (!isSecretFlagAt(exact(argument, roughLetters(argument)), 0, argument.length)) return false;
  return isArgumentAt(exact(next, roughLetters(next)), 0);
}

function isSecretFlagAt(letters: Uint8Array, at: number, end: number): boolean {
  if (!mayNameSecret(letters[end - 3] as number, letters[end - 2] as number, letters[end - 1] as number)) return false;
  if (WHOLE.some((flag) => isWhole(flag, letters, at, end))) return true;
  return namesSecret(letters, end, at) && !FILES.some((name) => endsWith(name, letters, end));
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
const FILES = ["private-key", "signing-key", "credential", "credentials"].map(lettersOf);
const PLACES = ["id=", "type=", "src=", "env="].map(lettersOf);
