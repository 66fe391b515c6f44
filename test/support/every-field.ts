import type { Json } from "../../src/base/json.ts";

/** Stands for a field that is not there. */
const GONE = Symbol("gone");
const INSTEAD: readonly (Json | typeof GONE)[] = [
  GONE,
  null,
  7,
  "",
  "odd",
  "constructor",
  "toString",
  [],
  [7],
  {},
  true,
];

/** The value once for each of its fields and each thing that could stand there instead. Deep copies, nothing shared. */
export function* everyField<T>(value: T): Generator<{ readonly where: string; readonly odd: T }> {
  for (const path of pathsIn(value, []))
    for (const instead of INSTEAD) {
      const odd = structuredClone(value);
      put(odd as Record<string, unknown>, path, instead);
      yield { where: `${path.join(".")} ${String(instead === GONE ? "gone" : JSON.stringify(instead))}`, odd };
    }
}

function* pathsIn(value: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* pathsIn(inner, [...path, key]);
}

function put(value: Record<string, unknown>, path: readonly string[], instead: Json | typeof GONE): void {
  const last = path.at(-1) ?? "";
  const home = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value);
  if (instead !== GONE) (home as Record<string, unknown>)[last] = instead;
  else if (Array.isArray(home)) home.splice(Number(last), 1);
  else delete (home as Record<string, unknown>)[last];
}
