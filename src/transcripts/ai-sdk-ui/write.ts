import { syntheticOutput } from "../../history/synthetic.ts";
import { textOf } from "../../wire/item.ts";
import type { Answer, Wanted } from "../format.ts";
import { at } from "../skeleton.ts";

/** The end of a tool part that never ended, in the words of the version that wrote it. */
export function answer(wanted: Wanted): Answer {
  const { text, element, path } = wanted;
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
  const state = (value: string) => ({ op: "set", path: [...path, "state"], value }) as const;
  // Denied, the part holds who said so and why.
  if (at(element, ...path, "approval", "approved") === false) return { inside: [...input, state("output-denied")] };
  return {
    inside: [...input, state("output-error"), { op: "set", path: [...path, "errorText"], value: wordsFor(wanted) }],
  };
}

/** One that still waited to be approved when the conversation went on has not run. */
function wordsFor({ call, text, element, path }: Wanted): string {
  if (at(element, ...path, "state") !== "approval-requested") return text;
  return textOf(syntheticOutput(call, { status: "canceled", reason: "approval-unanswered" }).parts);
}
