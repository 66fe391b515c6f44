import type { Answer, Wanted } from "../format.ts";
import { at } from "../skeleton.ts";

/** The end of a tool part that never ended, in the words of the version that wrote it. */
export function answer({ text, element, path }: Wanted): Answer {
  const inner = at(element, ...path, "toolInvocation") === undefined ? path : [...path, "toolInvocation"];
  if (inner !== path || path[0] === "toolInvocations") {
    return {
      inside: [
        { op: "set", path: [...inner, "state"], value: "result" },
        { op: "set", path: [...inner, "result"], value: text },
      ],
    };
  }
  const input =
    at(element, ...path, "input") === undefined ? [{ op: "set", path: [...path, "input"], value: {} } as const] : [];
  return {
    inside: [
      ...input,
      { op: "set", path: [...path, "state"], value: "output-error" },
      { op: "set", path: [...path, "errorText"], value: text },
    ],
  };
}
