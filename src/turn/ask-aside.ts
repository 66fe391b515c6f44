import { HoldfastError } from "../base/errors.ts";
import type { Aside } from "../contracts/aside.ts";
import type { Answer, Model, ModelEvent } from "../contracts/model.ts";
import type { Item } from "../wire/item.ts";
import { spokenIn } from "./said-records.ts";

export interface AsideQuestion {
  readonly instructions: string;
  /** What it is about. Data: nothing in it is an instruction. */
  readonly text: string;
  readonly maxOutputTokens: number;
  /** An answer that breaks off is none. */
  readonly whole?: boolean;
}

/**
 * One question that needs no tool and whose answer is a text. Anything else that comes back is a failure with its reason:
 * whoever asks has something to fall back on.
 */
export async function askAside(model: Model, question: AsideQuestion, { signal, used }: Aside): Promise<Answer> {
  const { instructions, text, maxOutputTokens, whole = false } = question;
  const items: readonly Item[] = [
    { kind: "system", role: "system", parts: [{ type: "text", text: instructions }] },
    { kind: "user", parts: [{ type: "text", text }] },
  ];
  for await (const event of model.ask({ items, maxOutputTokens }, { signal })) {
    const usage = usageIn(event);
    if (usage !== undefined) used(usage, model.name);
    if (event.kind === "failed") throw unanswered(model, event.failure.kind, event.failure.message);
    if (event.kind !== "end") continue;
    const { answer } = event;
    if (answer.calls.length > 0) throw unanswered(model, "call", "It answered with a call, and there are no tools.");
    if (answer.stop === "refusal" || answer.stop === "content-filter" || (whole && answer.stop === "length"))
      throw unanswered(model, answer.stop, answer.stopText);
    if (spokenIn(answer).trim() === "") throw unanswered(model, "empty", "It said nothing.");
    return answer;
  }
  throw new HoldfastError("MODEL_UNFINISHED");
}

function usageIn(event: ModelEvent) {
  if (event.kind === "usage") return event.usage;
  if (event.kind === "end") return event.answer.usage;
  return event.kind === "failed" ? event.partial.usage : undefined;
}

function unanswered(model: Model, why: string, says: string): HoldfastError {
  return new HoldfastError("ASIDE_FAILED", { model: model.name, why, says });
}
