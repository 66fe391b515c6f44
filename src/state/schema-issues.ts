import type { SchemaIssue } from "../contracts/schema.ts";

/** What a schema found wrong, each thing with its place in the value: `steps.1.title: must be a text`. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ message, path }) => {
      const place = (path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}
