/** The reducers most slices need. `key` tells which element an update means. */
export const reducers = {
  append: <T>(now: readonly T[], element: T): readonly T[] => [...now, element],

  upsertBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => {
      const at = now.findIndex((other) => key(other) === key(element));
      return at === -1 ? [...now, element] : now.with(at, element);
    },

  replaceLatest: <T>(_now: readonly T[], element: T): readonly T[] => [element],

  replaceLatestBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => [...now.filter((other) => key(other) !== key(element)), element],

  /** Append that keeps the newest. It cuts rarely and then by half, so that a long list costs little per append. */
  appendNewest:
    <T>(keep: number) =>
    (now: readonly T[], element: T): readonly T[] =>
      (now.length < 2 * keep ? now : now.slice(-keep)).concat([element]),
} as const;
