import { picked } from "../derive.ts";
import type { Answer, Wanted } from "../format.ts";
import { outputItem } from "../response-output.ts";

/** The item that answers a call, bare or wrapped as its call is. */
export function answer(wanted: Wanted): Answer {
  const item = outputItem(wanted);
  if (!("payload" in wanted.element)) return { element: item };
  return { element: { ...picked(wanted.element, ["timestamp"]), type: "response_item", payload: item } };
}
