import type { Item } from "../../index.ts";
import { textOf } from "../../index.ts";
import type { Json } from "../../base/json.ts";
import type { ScriptedAnswer, ScriptedCall } from "../../records/script.ts";

/**
 * Turns a past conversation into a script: what the model said between two turns of anybody else becomes one answer.
 */
export function replayScript(items: readonly Item[]): readonly ScriptedAnswer[] {
  const answers: ScriptedAnswer[] = [];
  let run: Item[] = [];
  for (const item of [...items, undefined]) {
    if (item !== undefined && isModels(item) && isSameStep(run.at(-1), item)) run.push(item);
    else {
      if (run.length > 0) answers.push(answerOf(run));
      run = item !== undefined && isModels(item) ? [item] : [];
    }
  }
  return answers;
}

function isModels(item: Item): boolean {
  if (item.kind === "call") return item.partial !== true && item.server !== true;
  return item.kind === "assistant" || item.kind === "reasoning";
}

function isSameStep(before: Item | undefined, item: Item): boolean {
  return before === undefined || before.step === item.step;
}

function answerOf(run: readonly Item[]): ScriptedAnswer {
  const texts = run.flatMap((item) => (item.kind === "assistant" ? [textOf(item.parts)] : []));
  const thoughts = run.flatMap((item) => (item.kind === "reasoning" && item.text !== "" ? [item.text] : []));
  const calls = run.flatMap((item): readonly ScriptedCall[] => {
    if (item.kind !== "call") return [];
    const { name, input, inputText, callId } = item;
    const given = inputText === undefined ? { input: (input ?? {}) as Json } : { inputText };
    return [{ name, ...given, ...(callId === undefined ? {} : { id: callId }) }];
  });
  return {
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n") }),
    ...(texts.length === 0 ? {} : { text: texts.join("\n") }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}
