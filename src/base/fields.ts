/** What somebody else wrote and JSON calls an object: its fields may hold anything, and any may be missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a value; empty if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The elements of a value; none if it is not a list. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a text. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
