/** Deeper than any message a provider takes; beyond it nothing is looked at, and a value that holds itself ends here. */
const DEEPEST = 64;

/**
 * A message whose every text can be sent: lone surrogates and NUL become U+FFFD, because the first are not valid UTF-8
 * and the second is refused by more than one provider's parser. The same reference when there was nothing to mend.
 */
export function sendableText<T>(value: T): T {
  return mend(value, 0) as T;
}

export function isSendable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function mend(value: unknown, depth: number): unknown {
  if (typeof value === "string") return isSendable(value) ? value : value.toWellFormed().replaceAll("\0", "\uFFFD");
  if (typeof value !== "object" || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return mendList(value, depth);
  // Bytes, URLs and other instances are the host's own; only plain data is looked into.
  return Object.getPrototypeOf(value) === Object.prototype
    ? mendFields(value as Record<string, unknown>, depth)
    : value;
}

function mendList(values: readonly unknown[], depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < values.length; at += 1) {
    const after = mend(values[at], depth + 1);
    if (after !== values[at]) (copy ??= values.slice())[at] = after;
  }
  return copy ?? values;
}

function mendFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const after = mend(fields[key], depth + 1);
    if (after !== fields[key]) (copy ??= { ...fields })[key] = after;
  }
  return copy ?? fields;
}
