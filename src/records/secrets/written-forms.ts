/**
 * The forms in which a value turns up in texts: as it is, inside JSON and inside JSON in JSON, in addresses, in markup, and
 * as headers and configuration carry it, in base 64 and base 16. Every line of a long one stands for itself.
 */
export function formsOf(value: string): ReadonlySet<string> {
  const lines = value.split(/\r?\n/).filter((line) => line.trim().length >= LONG_LINE);
  const values = [value, value.trim(), ...(lines.length > 1 ? lines.map((line) => line.trim()) : [])];
  const forms = new Set(values);
  for (const one of values) {
    const bytes = Buffer.from(one, "utf8");
    for (const form of inJson(one)) forms.add(form).add(JSON.stringify(form).slice(1, -1));
    for (const form of [...inAddress(one), ...inMarkup(one)]) forms.add(form);
    for (const form of [bytes.toString("hex"), bytes.toString("hex").toUpperCase(), ...inBase64(bytes)])
      forms.add(form);
  }
  return forms;
}

const LONG_LINE = 16;
/** Shorter ones may be anything. */
const SHORTEST_BASE64 = 8;

/** Letters that writers of JSON give by their numbers: those beyond ASCII, those that markup would take for its own, or both. */
const NUMBERED = [/[^\x20-\x7e]/g, /[<>&]/g, /[<>&'=]/g, /[^\x20-\x7e]|[<>&'+`]/g] as const;

function inJson(value: string): readonly string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const numbered = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const written = NUMBERED.map((letters) => plain.replace(letters, numbered));
  return [plain, ...written, ...written.map((text) => text.replace(/\\u[0-9a-f]{4}/g, capitals))];
}

function capitals(escape: string): string {
  return escape.slice(0, 2) + escape.slice(2).toUpperCase();
}

/** Forms escape more than addresses must, and write a space as a plus. */
function inAddress(value: string): readonly string[] {
  const least = encodeURIComponent(value);
  const most = least.replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const written = [encodeURI(value), least, most, ...[least, most].map((text) => text.replaceAll("%20", "+"))];
  return [...written, ...written.map((text) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()))];
}

/** Some leave quotes as they are, and others have four ways to write the single one. */
function inMarkup(value: string): readonly string[] {
  const least = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = least.replaceAll('"', "&quot;");
  return [least, quoted, ...["&#39;", "&#039;", "&#x27;", "&apos;"].map((sign) => quoted.replaceAll("'", sign))];
}

/** However it is aligned: what stands before and after it changes only the letters at its ends. */
function inBase64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((lead) => {
    const text = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const skipped = Math.ceil((lead * 8) / 6);
    const whole = Math.floor(((lead + bytes.length) * 8) / 6);
    const inner = text.slice(skipped, whole);
    if (inner.length < SHORTEST_BASE64) return [];
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
