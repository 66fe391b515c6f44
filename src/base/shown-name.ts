import type { Json } from "./json.ts";

// oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
const NOT_SHOWN = /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;
// oxlint-disable-next-line no-control-regex -- and these of them JSON leaves as they are
const LEFT_BY_JSON = /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A name as it can be shown in one line. A file may be called `a\nb`, which would be two in a list, or bring what a terminal
 * obeys. Such a name is quoted as in JSON, which is what a model writes it in; any other is as it is.
 */
export function shownName(name: string): string {
  if (!NOT_SHOWN.test(name) && !name.startsWith('"')) return name;
  return shownJson(name);
}

/** Data in one line, with nothing in it that a terminal obeys. */
export function shownJson(value: Json): string {
  return JSON.stringify(value).replaceAll(LEFT_BY_JSON, (letter) => {
    return `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}
