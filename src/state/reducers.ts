/** The reducers that most slices need. `key` says which element an update is about. */
export const reducers = {
  /** Adds an element at the end. */
  append: <T>(now: readonly T[], element: T): readonly T[] => [...now, element],

  /** Replaces the element with the same key, or adds it at the end. */
  upsertBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => {
      const at = now.findIndex((other) => key(other) === key(element));
      return at === -1 ? [...now, element] : now.with(at, element);
    },

  /** Keeps only the newest element. */
  replaceLatest: <T>(_now: readonly T[], element: T): readonly T[] => [element],

  /** Keeps only the newest element of each key, at the end. */
  replaceLatestBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => [...now.filter((other) => key(other) !== key(element)), element],

  /**
   * Adds at the end and keeps at least the newest `keep`. It cuts rarely and then by half, so appending stays cheap.
   */
  appendNewest:
    <T>(keep: number) =>
    (now: readonly T[], element: T): readonly T[] =>
      (now.length < 2 * keep ? now : now.slice(-keep)).concat([element]),
} as const;
