import type { Answer, Wanted } from "../format.ts";

/** The result goes into its call, as a cancelled tool leaves it. */
export function answer({ call, callId, text, path }: Wanted): Answer {
  const result = [{ functionResponse: { id: callId, name: call.name, response: { error: text } } }];
  return {
    inside: [
      { op: "set", path: [...path, "result"], value: result },
      { op: "set", path: [...path, "status"], value: "cancelled" },
    ],
  };
}
