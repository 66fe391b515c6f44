type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of an object that an earlier one has not, or has with another value. Both are plain data, so that what is
 * found under an equal name is a field and nothing inherited: asking that of each field would cost more than all else.
 */
export function changedFields(before: Fields, after: Fields): readonly string[] {
  const names = Object.keys(after);
  return names.filter((name) => {
    const value = after[name];
    return value !== before[name] || value === undefined || typeof value === "function" || name === "__proto__";
  });
}

/** The fields of the earlier object that the other has not; `changed` are those that it has otherwise. */
export function goneFields(before: Fields, after: Fields, changed: readonly string[]): readonly string[] {
  const names = Object.keys(before);
  const came = changed.filter((name) => !Object.hasOwn(before, name)).length;
  if (Object.keys(after).length - came === names.length) return NONE;
  return names.filter((name) => !Object.hasOwn(after, name));
}

const NONE: readonly string[] = [];
