import type { CallKind } from "../../wire/item.ts";
import { inAnswers } from "../answer-steps.ts";
import { asText, type Fields } from "../../base/fields.ts";
import type { Reading } from "../format.ts";
import { called, reasoning, returned, spoken, whole } from "../skeleton.ts";

/** Each kind of call has its kind of result; ids of different kinds never meet. */
const CALLS: ReadonlyMap<string, CallKind> = new Map<string, CallKind>(
  Object.entries({
    function_call: "function",
    computer_call: "computer",
    shell_call: "commands",
    apply_patch_call: "patch",
  } as const),
);
const RESULTS: ReadonlyMap<string, CallKind> = new Map<string, CallKind>(
  Object.entries({
    function_call_result: "function",
    computer_call_result: "computer",
    shell_call_output: "commands",
    apply_patch_call_output: "patch",
  } as const),
);

export function itemReader(): (item: Fields) => Reading | undefined {
  return inAnswers(readItem);
}

function readItem(item: Fields): Reading | undefined {
  const type = asText(item["type"]) ?? "message";
  const ids = [["callId"]];
  const { callId: id, name } = item;
  const kind = CALLS.get(type);
  if (kind !== undefined) {
    const partial = item["status"] === "incomplete";
    const call = called({ id, name: name ?? type, input: item["arguments"], kind, partial });
    return { message: true, pieces: [{ item: call, path: [], ids }] };
  }
  const answers = RESULTS.get(type);
  if (answers !== undefined) {
    const output = returned({ id, name: type === "function_call_result" ? name : undefined, kind: answers });
    return { message: true, pieces: [{ item: output, path: [], ids, name: ["name"] }] };
  }
  if (type === "reasoning") return { message: false, pieces: [whole(reasoning())] };
  if (type !== "message") return { message: false, pieces: [whole({ kind: "other", by: "model" })] };
  return spoken(item);
}
