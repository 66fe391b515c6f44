import type { Answer, Wanted } from "../format.ts";
import { isFields } from "../../base/fields.ts";
import { at } from "../skeleton.ts";

/** A tool message keyed as the file keys its own: calls written flat are answered under `id`. */
export function answer({ call, callId, text, element, path }: Wanted): Answer {
  const flat = !isFields(at(element, ...path, "function")) && !("custom" in Object(at(element, ...path)));
  const key = flat ? { id: callId, role: "tool" } : { role: "tool", tool_call_id: callId };
  const name = call.name === "" || flat ? {} : { name: call.name };
  return { element: { ...key, ...name, content: text, ...(flat ? { requestor: "assistant", error: true } : {}) } };
}
