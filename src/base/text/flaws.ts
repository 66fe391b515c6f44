import { stringEnd } from "./scan.ts";

/** Characters that are valid in a file and still break whoever reads or sends it. */
export type TextFlaw = "line-separator" | "unsendable-text";

// oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
const SEPARATORS = /[\u2028\u2029]/;
const MAYBE_ESCAPED = /\\u(?:[dD][89a-fA-F]|0000)/;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/gs;

export function textFlaws(json: string): readonly TextFlaw[] {
  const flaws: TextFlaw[] = [];
  if (SEPARATORS.test(json)) flaws.push("line-separator");
  if (MAYBE_ESCAPED.test(json) && replaceUnsendable(json) !== json) flaws.push("unsendable-text");
  return flaws;
}

/**
 * The same JSON with line separators escaped (some readers split lines at them) and with what no provider takes, lone
 * surrogates and NUL, replaced by U+FFFD.
 */
export function mendText(json: string): string {
  const separated = json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return MAYBE_ESCAPED.test(separated) ? replaceUnsendable(separated) : separated;
}

function replaceUnsendable(json: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let quote = json.indexOf('"'); quote !== -1; quote = json.indexOf('"', at)) {
    const end = stringEnd(json, quote);
    if (end === -1) break;
    parts.push(json.slice(at, quote), mendString(json.slice(quote, end)));
    at = end;
  }
  return parts.join("") + json.slice(at);
}

/** Reads the escapes of one string in pairs: half a pair is a surrogate that stands alone. */
function mendString(text: string): string {
  if (!MAYBE_ESCAPED.test(text)) return text;
  let high: number | undefined;
  const bad: number[] = [];
  for (const match of text.matchAll(ESCAPE)) {
    const unit = match[1] === undefined ? -1 : Number.parseInt(match[1], 16);
    const pairs = high !== undefined && high + 6 === match.index && unit >= 0xdc00 && unit <= 0xdfff;
    if (high !== undefined && !pairs) bad.push(high);
    if (unit === 0 || (unit >= 0xdc00 && unit <= 0xdfff && !pairs)) bad.push(match.index);
    high = unit >= 0xd800 && unit <= 0xdbff ? match.index : undefined;
  }
  if (high !== undefined) bad.push(high);
  const parts: string[] = [];
  let from = 0;
  for (const at of bad) {
    parts.push(text.slice(from, at), "\\ufffd");
    from = at + 6;
  }
  return parts.join("") + text.slice(from);
}
