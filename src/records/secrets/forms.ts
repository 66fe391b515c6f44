import { assignedSecret } from "./assigned.ts";
import { type Candidate, type Found, type Hidden, leadFrom } from "./candidate.ts";
import { COLON, PERCENT } from "./letters.ts";
import { formEnd, isMixed, RUN, type Scan } from "./scan.ts";

const USER_INFO = /:\/\/[^\s/?#@:"'<>\\]{0,256}:([^\s/?#@"'<>\\]{1,512})@/y;
/** As in an address itself, no slash stands in it: so the next address ends the look at this one. */
const USER_INFO_ESCAPED = /%3A%2F%2F[\w.~-]{0,256}%3A((?:[\w.~!*'()-]|%(?!40|2F|3F|23)[0-9A-F]{2}){1,512})%40/y;
/** What stands where a password would. */
const NO_PASSWORD = /^(?:\$|<|\{|%7B|\*+$|x+$|password$|pass$)|\[redacted:/i;

/** What has no alphabet of its own, but a form. */
export const SPECIALS: readonly Candidate[] = [
  special("json-web-token", "eyJ", jsonWebToken),
  special("private-key", "-----BEGIN", privateKey),
  special("url-password", "://", urlPassword(USER_INFO, 1)),
  special("url-password", "%3A%2F%2F", urlPassword(USER_INFO_ESCAPED, 3)),
  ...["%3D", "%3A"].map((head) =>
    special("assigned-secret", head, (scan, at) => assignedSecret(scan, at, head.length)),
  ),
  ...["Bearer ", "bearer ", "BEARER ", "Bearer%20"].map((head) => special("bearer-token", head, bearerOf(head))),
  ...["Basic ", "basic ", "Basic%20"].map((head) => special("basic-credentials", head, basicOf(head))),
];

function special(name: string, head: string, find: Candidate["find"]): Candidate {
  return { head, name, needsDigit: false, startsWord: false, find };
}

/** Two parts that are JSON, and perhaps a signature. */
function jsonWebToken(scan: Scan, at: number): Found | undefined {
  const { text } = scan;
  const head = scan.runEnd(RUN.word, at);
  if (head - at < 12 || !text.startsWith(".eyJ", head)) return undefined;
  const body = scan.runEnd(RUN.word, head + 1);
  if (body - head < 8) return undefined;
  return { from: at, to: text[body] === "." ? scan.runEnd(RUN.word, body + 1) : body };
}

const KEY_BEGINS =
  /-----BEGIN(?: |%20|\+)(?:[A-Z0-9]{1,12}(?: |%20|\+)){0,4}PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----/y;
const KEY_ENDS = /-----END[A-Z0-9 %+]{0,60}-----/y;
const LONGEST_KEY = 32 * 1024;

/** Up to its end, or, when that was cut off, as far as it looks like one. */
function privateKey(scan: Scan, at: number): Found | undefined {
  const { text } = scan;
  const begun = formEnd(KEY_BEGINS, text, at);
  if (begun === at) return undefined;
  const end = scan.keyEnd(begun);
  if (end !== -1 && end - begun <= LONGEST_KEY) return { from: at, to: formEnd(KEY_ENDS, text, end) };
  let to = Math.min(scan.runEnd(RUN.key, begun), begun + LONGEST_KEY);
  while (text[to - 1] === "\\") to -= 1; // it may escape what comes next
  return { from: at, to };
}

/** `scheme://user:password@host`: the password alone. */
function urlPassword(form: RegExp, width: number) {
  return ({ text }: Scan, at: number): Found | undefined => {
    form.lastIndex = at;
    const password = form.exec(text)?.[1];
    if (password === undefined || NO_PASSWORD.test(password)) return undefined;
    const to = form.lastIndex - width;
    return { from: to - password.length, to };
  };
}

function bearerOf(head: string) {
  return (scan: Scan, at: number): Found | undefined => {
    const from = at + head.length;
    const to = scan.runEnd(RUN.dotted, from);
    const whole = Math.max(to, scan.runEnd(RUN.base64, from));
    return whole - from >= 16 && isMixed(scan, from, whole, false) ? { from, to: whole } : undefined;
  };
}

/** A name and a password, as headers carry them. */
function basicOf(head: string) {
  return (scan: Scan, at: number): Found | undefined => {
    const from = at + head.length;
    const to = scan.runEnd(RUN.base64, from);
    return to - from >= 8 && saysNameAndPassword(scan, from, to) ? { from, to } : undefined;
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

const DISCORD = /\.[\w-]{6}\.[\w-]{27,40}/y;
const BEFORE_DISCORD = /(?<=([MNO][\w-]{22,27}))/y;

/** Told by its dots: it has no head of its own. */
export function discordToken(scan: Scan, at: number): Hidden | undefined {
  const to = formEnd(DISCORD, scan.text, at);
  const from = to === at ? undefined : leadFrom(BEFORE_DISCORD, scan, at);
  if (from === undefined || !isMixed(scan, from, to, true)) return undefined;
  return { from, to, name: "discord-bot-token" };
}
