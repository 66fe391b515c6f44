import type { ScriptedAnswer } from "../../src/records/script.ts";
import { type Dialect, listIn, type ServerEvent, textsIn } from "../../src/testing/provider-server/dialect.ts";
import { openaiCompatibleDialect as chat } from "../../src/testing/provider-server/openai-chat.ts";
import { isSealed, seal } from "../../src/testing/provider-server/seal.ts";

/** Chat as Mistral speaks it: its answers are lists of parts, and what it thought is one of them. */
export const partsChat: Dialect = thinking({
  told: (text) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] }),
  sealed: (text) => ({ content: [{ type: "thinking", thinking: [], signature: seal(text), closed: true }] }),
  whole: ({ reasoning = "", text }) => ({
    content: [
      { type: "thinking", thinking: [{ type: "text", text: reasoning }], signature: seal(reasoning), closed: true },
      ...(text === undefined ? [] : [{ type: "text", text }]),
    ],
  }),
  thoughts: ({ content }) =>
    listIn(content).flatMap(({ type, thinking: said, signature }) =>
      type === "thinking" ? [[textsIn(listIn(said)), signature] as const] : [],
    ),
  without: ({ content, ...message }) => ({
    ...message,
    content: Array.isArray(content) ? spoken(listIn(content)) : content,
  }),
});

/** Chat as OpenRouter speaks it: what was thought comes beside the answer, in details with a seal. */
export const detailsChat: Dialect = thinking({
  told: (text) => ({ reasoning: text, reasoning_details: [{ type: "reasoning.text", text, index: 0 }] }),
  sealed: (text) => ({ reasoning_details: [{ type: "reasoning.text", signature: seal(text), index: 0 }] }),
  whole: ({ reasoning = "" }) => ({
    reasoning,
    reasoning_details: [{ type: "reasoning.text", text: reasoning, signature: seal(reasoning), index: 0 }],
  }),
  thoughts: ({ reasoning_details: details }) =>
    listIn(details).map(({ text, signature }) => [String(text), signature] as const),
  without: ({ reasoning: _reasoning, reasoning_details: _details, ...message }) => message,
});

type Fields = Readonly<Record<string, unknown>>;

/** Where a server puts what it thought, in pieces and whole, and where it looks for it. */
interface Thinking {
  readonly told: (text: string) => Fields;
  readonly sealed: (text: string) => Fields;
  readonly whole: (answer: ScriptedAnswer) => Fields;
  readonly thoughts: (message: Fields) => readonly (readonly [text: string, seal: unknown])[];
  readonly without: (message: Fields) => Fields;
}

function thinking({ told, sealed, whole, thoughts, without }: Thinking): Dialect {
  return {
    ...chat,
    whole: (answer, telling) => {
      const said = chat.whole(answer, telling) as { readonly choices: readonly [{ readonly message: Fields }] };
      if (answer.reasoning === undefined) return said;
      const [{ message, ...choice }] = said.choices;
      const { reasoning_content: _thought, ...rest } = message;
      return { ...said, choices: [{ ...choice, message: { ...rest, ...whole(answer) } }] };
    },
    events: (answer, telling) => {
      const events = chat.events(answer, telling);
      const last = events.findLastIndex((event) => thoughtIn(event) !== undefined);
      return events.flatMap((event, at) => {
        const thought = thoughtIn(event);
        if (thought === undefined) return [event];
        const piece = withDelta(event, told(thought));
        return at === last ? [piece, withDelta(event, sealed(answer.reasoning ?? ""))] : [piece];
      });
    },
    refuseBody: (body) => {
      const messages = listIn(body["messages"]);
      const broken = messages.flatMap(thoughts).some(([text, given]) => !isSealed(text, given));
      if (broken) return "Invalid signature in a thought.";
      return chat.refuseBody({ ...body, messages: messages.map(without) });
    },
  };
}

interface Chunk {
  readonly choices: readonly { readonly delta: Fields }[];
}

function thoughtIn({ data }: ServerEvent): string | undefined {
  const [choice] = typeof data === "string" ? [] : (data as Chunk).choices;
  const thought = choice?.delta["reasoning_content"];
  return typeof thought === "string" ? thought : undefined;
}

function withDelta({ data, ...event }: ServerEvent, delta: Fields): ServerEvent {
  const chunk = data as Chunk;
  return { ...event, data: { ...chunk, choices: [{ ...chunk.choices[0], delta }] } };
}

function spoken(parts: readonly Fields[]): unknown {
  const others = parts.filter(({ type }) => type !== "thinking");
  return others.length === 0 ? null : others;
}
