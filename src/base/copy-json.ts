import type { Json } from "./json.ts";

/** Checked data in objects of its own. Every call has its arguments copied, twice: `structuredClone` takes seven times as long. */
export function copyJson<T extends Json>(value: T): T {
  return copied(value) as T;
}

function copied(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) copy[key] = copied((value as Record<string, Json>)[key] as Json);
  return copy;
}
