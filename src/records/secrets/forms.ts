import {
  escapedUrlPassword,
  escapedUrlSignature,
  escapedUrlToken,
  URL_PASSWORD,
  URL_SIGNATURE,
  URL_TOKEN,
  urlPassword,
  urlToken,
} from "./addresses.ts";
import { assignedInAddress } from "./assigned.ts";
import { ELEMENT_HEADS, elementSecret } from "./beside.ts";
import type { Candidate } from "./candidate.ts";
import { COOKIE, cookieInAddress } from "./cookies.ts";
import { COLON, DOT, escapedHeads, oneOf, PERCENT } from "./letters.ts";
import { ASSIGNED_SECRET, Mark } from "./mark.ts";
import { formEnd, isIn, isMixed, RUN, type Scan } from "./scan.ts";

const BEARER_TOKEN = new Mark("bearer-token");
const BASIC_CREDENTIALS = new Mark("basic-credentials");
/** What has no alphabet of its own, but a form. */
export const SPECIALS: readonly Candidate[] = [
  special(new Mark("json-web-token"), "eyJ", jsonWebToken),
  special(new Mark("private-key"), "-----BEGIN", privateKey),
  special(URL_PASSWORD, "://", urlPassword),
  ...inAddress(":", URL_PASSWORD, escapedUrlPassword),
  special(URL_TOKEN, "://", urlToken),
  ...inAddress(":", URL_TOKEN, escapedUrlToken),
  ...inAddress("=", URL_SIGNATURE, escapedUrlSignature),
  ...ELEMENT_HEADS.map((head) => special(ASSIGNED_SECRET, head, (scan, at) => elementSecret(scan, at, head.length))),
  ...["=", ":"].flatMap((sign) => inAddress(sign, ASSIGNED_SECRET, assignedInAddress)),
  ...inAddress(":", COOKIE, cookieInAddress),
  ...["Bearer ", "bearer ", "BEARER ", "Bearer%20", ...authorized("token Token TOKEN ApiKey apikey Api-Key")].map(
    (head) => special(BEARER_TOKEN, head, bearerOf(head)),
  ),
  // As headers carry them, and as a package manager and a container engine keep them in files.
  ...["Basic ", "basic ", "Basic%20", "_auth=", "_auth = ", 'auth":"', 'auth": "'].map((head) =>
    special(BASIC_CREDENTIALS, head, basicOf(head)),
  ),
];

/** Schemes that say much else, too, where no header stands before them: in its own form, and as a field of an object. */
function authorized(schemes: string): readonly string[] {
  return schemes
    .split(" ")
    .flatMap((scheme) => ["uthorization: ", 'uthorization": "', "uthorization': '"].map((name) => `${name}${scheme} `));
}

/** Marked by a sign that an address escapes. */
function inAddress(sign: string, mark: Mark, find: Candidate["find"]): readonly Candidate[] {
  return escapedHeads(sign).map((head) => special(mark, head, find));
}

function special(mark: Mark, head: string, find: Candidate["find"]): Candidate {
  return { head, mark, needsDigit: false, startsWord: false, find };
}

/** Two parts that are JSON, and perhaps a signature. */
function jsonWebToken(scan: Scan, at: number): boolean {
  const { text } = scan;
  const head = scan.runEnd(RUN.word, at);
  if (head - at < 12 || !text.startsWith(".eyJ", head)) return false;
  const body = scan.runEnd(RUN.word, head + 1);
  if (body - head < 8) return false;
  return scan.tell(at, text[body] === "." ? scan.runEnd(RUN.word, body + 1) : body);
}

const KEY_BEGINS =
  /-----BEGIN(?: |%20|\+)(?:[A-Z0-9]{1,12}(?: |%20|\+)){0,4}PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----/y;
const KEY_ENDS = /-----END[A-Z0-9 %+]{0,60}-----/y;
const LONGEST_KEY = 32 * 1024;

/** Up to its end, or, when that was cut off, as far as it looks like one. */
function privateKey(scan: Scan, at: number): boolean {
  const { text } = scan;
  const begun = formEnd(KEY_BEGINS, text, at);
  if (begun === at) return false;
  const end = scan.keyEnd(begun);
  if (end !== -1 && end - begun <= LONGEST_KEY) return scan.tell(at, formEnd(KEY_ENDS, text, end));
  let to = Math.min(scan.runEnd(RUN.key, begun), begun + LONGEST_KEY);
  while (text[to - 1] === "\\") to -= 1; // it may escape what comes next
  return scan.tell(at, to);
}

function bearerOf(head: string) {
  return (scan: Scan, at: number): boolean => {
    const from = at + head.length;
    const to = scan.runEnd(RUN.dotted, from);
    const whole = Math.max(to, scan.runEnd(RUN.base64, from));
    return whole - from >= 16 && isMixed(scan, from, whole, false) && scan.tell(from, whole);
  };
}

/** A name and a password, as headers carry them. */
function basicOf(head: string) {
  return (scan: Scan, at: number): boolean => {
    const from = at + head.length;
    const to = scan.runEnd(RUN.base64, from);
    return to - from >= 8 && saysNameAndPassword(scan, from, to) && scan.tell(from, to);
  };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** What every letter stands for in base 64, in either alphabet; -1 for none. */
const BASE64: Int8Array = Int8Array.from({ length: 128 }, (_, code) =>
  DIGITS.indexOf({ "-": "+", _: "/" }[String.fromCharCode(code)] ?? String.fromCharCode(code)),
);

/**
 * Whether a run of base 64 begins printable, with a colon in the middle of that. Read letter by letter: most are told by
 * the first. What comes behind does not count, or a run that is cut off there would be a secret only then.
 */
function saysNameAndPassword({ text, letters }: Scan, from: number, to: number): boolean {
  let [bits, held, said, colon] = [0, 0, 0, -1];
  for (let at = from; at < to; at += 1) {
    let code = letters[at] as number;
    if (code === PERCENT) {
      code = Number.parseInt(text.slice(at + 1, at + 3), 16); // an address writes some of it so
      at += 2;
    }
    const digit = code < 128 ? (BASE64[code] as number) : -1;
    if (digit === -1) break; // its padding
    bits = ((bits << 6) | digit) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const byte = (bits >> held) & 0xff;
    if (byte < 0x20 || byte > 0x7e) break;
    if (byte === COLON && colon === -1) colon = said;
    said += 1;
  }
  return colon > 0 && colon < said - 1;
}

export const DISCORD_TOKEN = new Mark("discord-bot-token");
const DISCORD = /\.[\w-]{6}\.[\w-]{27,40}/y;

/** Told by its dots: it has no head of its own. */
export function discordToken(scan: Scan, at: number): boolean {
  const from = discordFrom(scan.letters, at, scan.hiddenTo);
  const to = from === at ? at : formEnd(DISCORD, scan.text, at);
  if (to === at || !isMixed(scan, from, to, true)) return false;
  scan.mark = DISCORD_TOKEN;
  return scan.tell(from, to);
}

/** Whether there may be one around a dot. */
export function mayBeDiscordToken(letters: Uint8Array, dot: number): boolean {
  return letters[dot + 7] === DOT && discordFrom(letters, dot, 0) < dot;
}

/** The first place where it may begin, so far before its first dot; that dot when there is none. */
function discordFrom(letters: Uint8Array, dot: number, hiddenTo: number): number {
  const first = Math.max(dot - LONGEST_LEAD, hiddenTo);
  let from = dot;
  for (let at = dot - 1; at >= first && isIn(RUN.word, letters[at] as number); at -= 1)
    if (dot - at >= SHORTEST_LEAD && DISCORD_BEGINS[letters[at] as number] === 1) from = at;
  return from;
}

/** What they begin with. */
const DISCORD_BEGINS = oneOf("MNO");
const [SHORTEST_LEAD, LONGEST_LEAD] = [23, 28];
