import type { SchemaResult, StandardSchema } from "../contracts/schema.ts";

/** A check of our own in the form that `defineTool` takes. */
export function checkedBy<T>(validate: (value: unknown) => SchemaResult<T>): StandardSchema<T> {
  return { "~standard": { version: 1, vendor: "holdfast", validate } };
}

/** Arguments by name, as they came. */
export type Fields = Readonly<Record<string, unknown>>;

/** The same of an object with these fields and no others: dropped without a word, a misspelt one would be lost. */
export function checkedFields<T>(
  known: readonly string[],
  validate: (fields: Fields) => SchemaResult<T>,
): StandardSchema<T> {
  return checkedBy((value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { issues: [{ message: "must be an object" }] };
    const unknown = Object.keys(value).filter((name) => !known.includes(name));
    if (unknown.length === 0) return validate(value as Fields);
    const message = `there is no argument ${unknown.join(", ")}; there are: ${known.join(", ")}`;
    return { issues: [{ message }] };
  });
}

/** What is wrong with one argument. */
export function wrong(field: string, message: string): SchemaResult<never> {
  return { issues: [{ message, path: [field] }] };
}
