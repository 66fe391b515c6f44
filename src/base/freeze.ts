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
