import type { Content } from "./content.ts";

/** How much a line says that its neighbours do not: 0 to 9. What tells an ending or a failure weighs most in every text. */
export function weightOf(line: string, content: Content): number {
  if (line.trim() === "") return 0;
  if (looksLikeCall(line)) return -1;
  return Math.max(ENDING.test(line) ? 8 : 0, WEIGHERS[content](line));
}

const ENDING =
  /(error|exception)\b|\b(fail(ed|ure|ures|s)?|panic|fatal|denied|refused|not found|cannot|undefined|assert\w*|exit (code|status)|traceback|timed? ?out|warning)\b/i;

const DECLARATION =
  /^\s*(\d+[\t|→:]\s*)?((export|public|private|protected|static|async|abstract|default|pub(\([a-z]+\))?|unsafe) +)*(function|class|interface|type|enum|namespace|struct|trait|impl|def|func|fn|module|package|const \w+ *= *(async *)?\(|const [A-Z_]{3,})/;

const WEIGHERS: Readonly<Record<Content, (line: string) => number>> = {
  json: () => 3,
  diff: (line) => {
    if (/^(diff --git |\+\+\+ |--- |rename |new file|deleted file)/.test(line)) return 7;
    if (line.startsWith("@@ ")) return 5;
    return /^[+-]/.test(line) ? 3 : 1;
  },
  trace: (line) => {
    if (/^\s*(at |File ")/.test(line)) return /node_modules|node:internal|site-packages|\/lib\//.test(line) ? 1 : 5;
    return 4;
  },
  matches: () => 3,
  table: (line) => (/^\|[\s:|-]+\|\s*$/.test(line) ? 1 : 3),
  code: (line) => {
    if (DECLARATION.test(line)) return 6;
    if (/^\s*(\d+[\t|→:]\s*)?(import|from|use|#include|require)\b/.test(line)) return 2;
    return /^\s*(\d+[\t|→:]\s*)?([)}\]]|\/\/|\*|#)/.test(line) ? 0 : 1;
  },
  log: () => 2,
  text: (line) => (/^(#{1,6} |[A-Z][^.]{0,60}:$|\s*([-*]|\d+\.) )/.test(line) ? 4 : 2),
};

const CALL_LIKE =
  /<\/?(tool_call|tool_use|function_calls?|invoke|parameter|antml:)|<\|[^|]{0,40}\|>|"(tool_use|tool_calls|function_call|tool_call_id|tool_use_id)"|\bto=functions\.|"arguments"\s*:/i;

/** A line that reads like a call of a tool. Shown out of its place it teaches a model to write calls as prose. */
export function looksLikeCall(text: string): boolean {
  return CALL_LIKE.test(text);
}
