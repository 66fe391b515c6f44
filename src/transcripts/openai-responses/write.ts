import type { Answer, Wanted } from "../format.ts";
import { outputItem } from "../response-output.ts";

export function answer(wanted: Wanted): Answer {
  return { element: outputItem(wanted) };
}
