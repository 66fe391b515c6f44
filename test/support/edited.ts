import type { Json, JsonObject } from "../../src/base/json.ts";

/** A value with something else at a place that numbers lead to, or without it. It shares the rest, as reducers do. */
export function edited(value: Json, path: readonly number[], to: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return to;
  if (Array.isArray(value)) {
    if (value.length === 0 || step === 5) return [...value, to];
    const at = step % value.length;
    if (step === 3) return [...value.slice(at), to];
    return step === 4 ? value.toSpliced(at, 1) : value.with(at, edited(value[at] as Json, rest, to));
  }
  if (typeof value !== "object" || value === null) return to;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)] ?? "new";
  if (step === 4)
    return Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => name !== key)) as Json;
  return { ...(value as JsonObject), [key]: edited((value as JsonObject)[key] ?? null, rest, to) };
}
