import type { SchemaResult, StandardSchema } from "../contracts/schema.ts";

/** Says what there is instead of a field that is not known: dropped without a word, a misspelt one would be lost. */
export function unknownField(value: unknown, known: readonly string[]): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  return unknown.length === 0
    ? undefined
    : `there is no argument ${unknown.join(", ")}; there are: ${known.join(", ")}`;
}

/** A check of our own in the form that `defineTool` takes. */
export function checkedBy<T>(validate: (value: unknown) => SchemaResult<T>): StandardSchema<T> {
  return { "~standard": { version: 1, vendor: "holdfast", validate } };
}
