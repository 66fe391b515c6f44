import type { Json } from "../base/json.ts";
import { OUTPUT_TYPES } from "../wire/codecs/responses-types.ts";
import { BLANK_SCREEN } from "../history/synthetic.ts";
import type { Wanted } from "./format.ts";

/** The Responses item that answers a call. */
export function outputItem({ call, callId, text }: Wanted): Readonly<Record<string, Json>> {
  const type = OUTPUT_TYPES[call.callKind];
  if (call.callKind === "search") return { type, call_id: callId, status: "completed", execution: "client", tools: [] };
  const head = { type, call_id: callId };
  if (call.callKind === "computer")
    return { ...head, output: { type: "computer_screenshot", image_url: BLANK_SCREEN } };
  if (call.callKind === "patch") return { ...head, status: "failed", output: text };
  if (call.callKind !== "commands") return { ...head, output: text };
  return { ...head, output: [{ stdout: "", stderr: text, outcome: { type: "timeout" } }] };
}
