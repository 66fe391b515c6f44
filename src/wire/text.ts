/** Stands where a provider wants words and none were said. */
export const NO_TEXT = "[no text]";

/** Deeper than any message a provider takes; beyond it nothing is looked at. */
const DEEPEST = 64;

/** Below this depth every object is looked at once only: a value that holds itself twice would take for ever. */
const SHALLOW = 4;

/** Made when it is first needed: nearly every message is shallow. */
interface Seen {
  made?: Map<object, unknown>;
}

/**
 * A message whose every text can be sent: lone surrogates and NUL become U+FFFD, because the first are not valid UTF-8
 * and the second is refused by more than one provider's parser. The same reference when there was nothing to mend.
 */
export function sendableText<T>(value: T): T {
  return mend(value, 0, {}) as T;
}

export function isSendable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function mend(value: unknown, depth: number, seen: Seen): unknown {
  if (typeof value === "string") return isSendable(value) ? value : value.toWellFormed().replaceAll("\0", "\uFFFD");
  if (typeof value !== "object" || value === null || depth > DEEPEST) return value;
  if (depth > SHALLOW) {
    seen.made ??= new Map();
    if (seen.made.has(value)) return seen.made.get(value);
    seen.made.set(value, value);
  }
  const mended = Array.isArray(value) ? mendList(value, depth, seen) : mendFields(value, depth, seen);
  if (mended !== value && depth > SHALLOW) seen.made?.set(value, mended);
  return mended;
}

function mendList(values: readonly unknown[], depth: number, seen: Seen): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < values.length; at += 1) {
    const after = mend(values[at], depth + 1, seen);
    if (after !== values[at]) (copy ??= values.slice())[at] = after;
  }
  return copy ?? values;
}

/** Bytes, URLs and other instances are the host's own; only plain data is looked into. */
function mendFields(value: object, depth: number, seen: Seen): object {
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const after = mend(fields[key], depth + 1, seen);
    if (after !== fields[key]) (copy ??= { ...fields })[key] = after;
  }
  return copy ?? fields;
}
