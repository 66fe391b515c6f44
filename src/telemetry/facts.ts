import type { Json, JsonObject } from "../base/json.ts";

/** A fact that is a word; nothing when it is none. */
export function wordIn(facts: JsonObject, name: string): string {
  const value = facts[name];
  return typeof value === "string" ? value : "";
}

export function numberIn(facts: Json | undefined, name: string): number | undefined {
  const value = (facts as JsonObject | null | undefined)?.[name];
  return typeof value === "number" ? value : undefined;
}
