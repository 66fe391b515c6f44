/** Of those that have one name, the last. */
export function onceEach<T>(all: readonly T[], nameOf: (one: T) => string): readonly T[] {
  return all.length < 2 ? all : [...new Map(all.map((one) => [nameOf(one), one])).values()];
}
