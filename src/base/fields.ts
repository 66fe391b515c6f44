/** What somebody else wrote and JSON calls an object: its fields may hold anything, and any may be missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
