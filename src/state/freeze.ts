/**
 * Freezes a value all the way down. A reducer that changes its input in place would change every snapshot that shares
 * it; frozen, it throws where the mistake is. What is frozen already is not walked again, so the cost follows the change.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}
