type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of an object that an earlier one has not, or has with another value. Both are plain data, so that what is
 * found under an equal name is a field and nothing inherited: asking that of each field would cost more than all else.
 */
export function changedFields(before: Fields, after: Fields): readonly string[] {
  const names = Object.keys(after);
  return names.filter((name) => {
    const value = after[name];
    return (
      !Object.is(value, before[name]) || value === undefined || typeof value === "function" || name === "__proto__"
    );
  });
}

/** The fields of the earlier object that the other has not; `changed` are those that it has otherwise. */
export function goneFields(before: Fields, after: Fields, changed: readonly string[]): readonly string[] {
  const names = Object.keys(before);
  const came = changed.filter((name) => !Object.hasOwn(before, name)).length;
  if (Object.keys(after).length - came === names.length) return NONE;
  return names.filter((name) => !Object.hasOwn(after, name));
}

/**
 * The fields of both objects that the later one has further back: where those that changed stay in their places and others come
 * behind all, these must come again to stand as they do there. Numbers stand in front, in their order, in any object.
 */
export function movedFields(before: Fields, after: Fields): readonly string[] {
  const [was, is] = [Object.keys(before), Object.keys(after)];
  if (was.length <= is.length && was.every((name, at) => name === is[at])) return NONE;
  const places = new Map(was.map((name, at) => [name, at]));
  const named = is.filter((name) => !isNumber(name));
  let last = -1;
  const from = named.findIndex((name) => {
    const place = places.get(name) ?? was.length;
    const isBehind = place < last;
    last = place;
    return isBehind;
  });
  return from === -1 ? NONE : named.slice(from).filter((name) => places.has(name));
}

function isNumber(name: string): boolean {
  return String(Math.trunc(Number(name))) === name && Number(name) < 2 ** 32 - 1 && Number(name) >= 0;
}

const NONE: readonly string[] = [];
