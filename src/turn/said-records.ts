import type { Json } from "../base/json.ts";
import type { Model, PartialAnswer } from "../contracts/model.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Item, type MediaSource, type Part, spokenText, textOf } from "../wire/item.ts";
import { keepItems } from "../wire/keep.ts";
import type { Unanswered } from "./ask.ts";
import type { Ground } from "./ground.ts";

/** What the user says: text, or parts with text, pictures and files. */
export type UserInput = string | readonly Part[];

/** What the journal keeps of it. Pictures and files lie beside it, once, and are read when a request shows them. */
export async function userSaid(
  input: UserInput,
  stage: Ground["stage"],
): Promise<{ readonly draft: RecordDraft; readonly contents: readonly NewBlob[] }> {
  if (typeof input === "string") return { draft: { kind: "user-said", text: input }, contents: [] };
  const contents: NewBlob[] = [];
  const parts: Part[] = [];
  for (const part of input) {
    const bytes = "media" in part ? bytesIn(part.media) : undefined;
    if (bytes === undefined || !("media" in part)) {
      parts.push(part);
      continue;
    }
    const { base64: _base64, ...media } = part.media;
    const content = await stage(bytes, media.mediaType);
    contents.push(content);
    parts.push({ type: part.type, media: { ...media, blob: content.ref } });
  }
  const blobs = contents.length === 0 ? {} : { blobs: contents.map(({ ref }) => ref) };
  const draft: RecordDraft = {
    kind: "user-said",
    text: spokenText({ kind: "user", parts: input }),
    parts: parts as unknown as readonly Json[],
    ...blobs,
  };
  return { draft, contents };
}

/** The bytes of a part that brings them. What is no base 64 stays as it was given: only its provider knows what it means. */
function bytesIn({ base64 }: MediaSource): Buffer | undefined {
  return base64 !== undefined && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
    ? Buffer.from(base64, "base64")
    : undefined;
}

/** Who was asked, and whether the request said how programs read the history, where it offered any. */
export interface Question {
  readonly model: Model;
  readonly historyGuidance?: boolean;
}

export function modelSaid(question: Question, answer: PartialAnswer, stop: string): RecordDraft {
  return { kind: "model-said", ...aboutOf(question, answer), items: kept(answer.items), stop };
}

export function modelFailed(question: Question, { failure, partial, attempt }: Unanswered): RecordDraft {
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
