/**
 * The forms in which a value turns up in texts: as it is, inside JSON and inside JSON in JSON, in addresses, in markup, and
 * as headers and configuration carry it, in base 64 and base 16. Every line of a long one stands for itself.
 */
export function formsOf(value: string): ReadonlySet<string> {
  const lines = value.split(/\r?\n/).filter((line) => line.trim().length >= LONG_LINE);
  const values = [value, value.trim(), ...(lines.length > 1 ? lines.map((line) => line.trim()) : [])];
  const forms = new Set(values);
  for (const one of values) {
    const inJson = JSON.stringify(one).slice(1, -1);
    const inUrl = encodeURIComponent(one);
    const bytes = Buffer.from(one, "utf8");
    for (const form of [
      inJson,
      JSON.stringify(inJson).slice(1, -1),
      inUrl,
      inUrl.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
      one.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      ...inBase64(bytes),
    ])
      forms.add(form);
  }
  return forms;
}

const LONG_LINE = 16;
/** Shorter ones may be anything. */
const SHORTEST_BASE64 = 8;

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
