import type { SchemaResult, StandardSchema } from "../contracts/schema.ts";

/** A check of our own in the form that `defineTool` takes. */
export function checkedBy<T>(validate: (value: unknown) => SchemaResult<T>): StandardSchema<T> {
  return { "~standard": { version: 1, vendor: "holdfast", validate } };
}
