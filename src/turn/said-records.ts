import type { Json } from "../base/json.ts";
import type { Model, ModelFailure, PartialAnswer } from "../contracts/model.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Item, type Part, textOf } from "../wire/item.ts";
import { keepItems } from "../wire/keep.ts";

/** What the user says: words, or words with pictures and files. */
export type UserInput = string | readonly Part[];

export function userSaid(input: UserInput): RecordDraft {
  if (typeof input === "string") return { kind: "user-said", text: input };
  return { kind: "user-said", text: textOf(input), parts: input as unknown as readonly Json[] };
}

/** Who was asked, and whether the request said how programs read the history, where it offered any. */
export interface Question {
  readonly model: Model;
  readonly historyGuidance?: boolean;
}

export function modelSaid(question: Question, answer: PartialAnswer, stop: string): RecordDraft {
  return { kind: "model-said", ...aboutOf(question, answer), items: kept(answer.items), stop };
}

export function modelFailed(
  question: Question,
  failure: ModelFailure,
  partial: PartialAnswer,
  attempt: number,
): RecordDraft {
  const said = partial.items.length === 0 ? {} : { items: kept(partial.items) };
  return { kind: "model-failed", failure: { ...failure }, attempt, ...aboutOf(question, partial), ...said };
}

function aboutOf({ model: { name }, historyGuidance }: Question, { model = name, usage }: PartialAnswer) {
  return {
    model,
    ...(usage === undefined ? {} : { usage: { ...usage } }),
    ...(historyGuidance === undefined ? {} : { historyGuidance }),
  };
}

function kept(items: readonly Item[]): Json {
  return keepItems(items) as unknown as Json;
}

export function spokenIn({ items }: PartialAnswer): string {
  return items.map((item) => (item.kind === "assistant" ? textOf(item.parts) : "")).join("");
}
