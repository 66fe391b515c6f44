import type { StopReason } from "../../contracts/model.ts";
import type { ScriptedAnswer, ScriptedCall } from "../../records/script.ts";
import { type CallItem, type Item, toolCallId } from "../../wire/item.ts";

/** What a script says, as items. Nobody's format stands behind them, so they have no origin. */
export function itemsOf({ reasoning, text, refusal, calls = [] }: ScriptedAnswer, answerId: string): readonly Item[] {
  const said = refusal ?? text;
  return [
    ...(reasoning === undefined ? [] : [{ kind: "reasoning", text: reasoning } as const]),
    ...(said === undefined ? [] : [{ kind: "assistant", parts: [{ type: "text", text: said }] } as const]),
    ...calls.map((call, index) => callItem(call, `call_${answerId}_${index + 1}`)),
  ];
}

function callItem({ name, input, inputText, id }: ScriptedCall, derived: string): CallItem {
  const given = inputText === undefined ? { input: input ?? {} } : { inputText };
  return { kind: "call", callKind: "function", callId: toolCallId(id ?? derived), name, ...given };
}

export function stopOf({ stop, refusal, calls = [] }: ScriptedAnswer): StopReason {
  if (stop !== undefined) return stop;
  if (refusal !== undefined) return "refusal";
  return calls.length > 0 ? "tool-calls" : "stop";
}
