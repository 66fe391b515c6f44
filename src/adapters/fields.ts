import { type Fields, isFields } from "../base/fields.ts";

/** Nothing that a provider sends is certain: what is not there reads as empty. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A text that says something. */
export function wordOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** How many. Some servers say -1 where they do not know. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
