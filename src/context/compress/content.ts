/** The kind of a text, judged by its form. */
export type Content = "json" | "diff" | "trace" | "matches" | "table" | "code" | "log" | "text";

const SAMPLE = 400;

const SIGNS: readonly { readonly content: Content; readonly sign: RegExp; readonly share: number }[] = [
  { content: "diff", sign: /^(diff --git |@@ -\d|[+-]{3} |[+-](?![+-]))/, share: 0.1 },
  { content: "trace", sign: /^\s*(at .+[:(]\d|File ".+", line \d|Traceback |Caused by: )/, share: 0.15 },
  {
    content: "log",
    sign: /^(\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\s*(\[?(debug|info|warn|warning|error|trace)\]?)\b|\[\w+\] )/i,
    share: 0.4,
  },
  { content: "matches", sign: /^[^\s:]*[./][^\s:]*:\d+[:-]/, share: 0.6 },
  { content: "table", sign: /^(\|.*\|\s*$|[^\t]*\t[^\t]*\t|[-dl][rwx-]{9}[ .@+])/, share: 0.6 },
  {
    content: "code",
    sign: /^\s*(\d+[\t|→:]\s*)?(import |export |from .+ import |const |let |function |class |interface |type |def |func |fn |pub |struct |package |use |#include|return\b|if ?\(|for ?\(|[)}\]]+[;,]?\s*$|\/\/|\/\*| \* )/,
    share: 0.3,
  },
];

/** By its first lines: the form of a tool's output does not change on its way. */
export function contentOf(text: string): Content {
  const start = text.trimStart().charAt(0);
  if (start === "{" || start === "[") {
    if (isJson(text)) return "json";
  }
  const lines = text
    .slice(0, 40_000)
    .split("\n", SAMPLE)
    .filter((line) => line.trim() !== "");
  for (const { content, sign, share } of SIGNS) {
    const seen = lines.reduce((sum, line) => sum + (sign.test(line.slice(0, 300)) ? 1 : 0), 0);
    if (seen >= 3 && seen >= lines.length * share) return content;
  }
  return "text";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // not an error: most texts that begin with a bracket are none
  }
}
