import type { Json, JsonObject } from "./json.ts";

/**
 * Freezes a value all the way down, so that whoever changes it in place throws where the mistake is, and does not change
 * everything that shares it. What is frozen already is not walked again, so the cost follows the change.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}

/** Whether nobody can change a value any more, anywhere in it. */
export function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return !ArrayBuffer.isView(value) && Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

/** A copy of plain data that nobody can change, whatever becomes of the original. */
export function frozenCopy<T extends Json | undefined>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((element) => frozenCopy(element as Json))) as unknown as T;
  const fields = Object.entries(value as JsonObject).map(([key, field]) => [key, frozenCopy(field)]);
  return Object.freeze(Object.fromEntries(fields)) as T;
}
