import type { Json } from "../../base/json.ts";
import type { Answer, Wanted } from "../format.ts";
import { at } from "../skeleton.ts";
import { fieldsOf } from "../../base/fields.ts";

/** The state of a tool that was stopped, in the words OpenCode itself uses for one. */
export function answer({ text, element, path }: Wanted): Answer {
  const state = fieldsOf(at(element, ...path, "state"));
  const created = at(element, "info", "time", "created") ?? 0;
  const start = (at(state, "time", "start") ?? created) as Json;
  const value = {
    status: "error",
    input: (state["input"] ?? {}) as Json,
    error: text,
    metadata: (state["metadata"] ?? {}) as Json,
    time: { start, end: start },
  };
  return { inside: [{ op: "set", path: [...path, "state"], value }] };
}
