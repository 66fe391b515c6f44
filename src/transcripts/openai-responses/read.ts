import type { Fields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";
import { responseItems } from "../response-items.ts";

/** Items as they stand in a request; which of them are one answer is told by what stands between them. */
export function itemReader(): (item: Fields) => Reading | undefined {
  return responseItems();
}
