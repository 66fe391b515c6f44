import type { ScriptedAnswer } from "../../src/records/script.ts";
import { type Dialect, listIn, type ServerEvent } from "../../src/testing/provider-server/dialect.ts";
import { openaiCompatibleDialect as chat } from "../../src/testing/provider-server/openai-chat.ts";
import { isSealed, seal } from "../../src/testing/provider-server/seal.ts";

/**
 * Chat as Google's server speaks it: what it thought is sealed on the first call of an answer, and where there is none
 * on an empty piece behind the text. A seal that comes back changed is refused.
 */
export const sealingChat: Dialect = {
  ...chat,
  whole: (answer, telling) => {
    const whole = chat.whole(answer, telling) as Whole;
    const [{ message, ...choice }] = whole.choices;
    const [first, ...others] = message.tool_calls ?? [];
    const sealed = first === undefined ? beside(answer) : { tool_calls: [{ ...first, ...beside(answer) }, ...others] };
    return { ...whole, choices: [{ ...choice, message: { ...message, ...sealed } }] };
  },
  events: (answer, telling) => {
    const events = chat.events(answer, telling);
    const opening = events.findIndex((event) => callsIn(event).length > 0);
    if (opening >= 0) return events.map((event, at) => (at === opening ? withSeal(event, answer) : event));
    const end = events.findIndex((event) => event.end === true);
    return events.toSpliced(end, 0, emptyPiece(events[0] as ServerEvent, answer));
  },
  refuseBody: (body) => chat.refuseBody(body) ?? sealFault(listIn(body["messages"])),
};

interface Delta {
  readonly tool_calls?: readonly object[];
}
interface Whole {
  readonly choices: readonly [{ readonly message: Delta }];
}
interface Chunk {
  readonly choices: readonly [{ readonly delta: Delta }];
}

function beside({ reasoning, calls = [] }: ScriptedAnswer): object {
  if (reasoning === undefined && calls.length === 0) return {};
  return { extra_content: { google: { thought_signature: seal(`google ${reasoning ?? ""}`), over: reasoning ?? "" } } };
}

function callsIn({ data }: ServerEvent): readonly object[] {
  return typeof data === "string" ? [] : ((data as Chunk).choices[0]?.delta.tool_calls ?? []);
}

function withSeal({ data }: ServerEvent, answer: ScriptedAnswer): ServerEvent {
  const chunk = data as Chunk;
  const [choice] = chunk.choices;
  const tool_calls = (choice.delta.tool_calls ?? []).map((call) => ({ ...call, ...beside(answer) }));
  return { data: { ...chunk, choices: [{ ...choice, delta: { tool_calls } }] } };
}

function emptyPiece({ data }: ServerEvent, answer: ScriptedAnswer): ServerEvent {
  const chunk = data as Chunk;
  return { data: { ...chunk, choices: [{ ...chunk.choices[0], delta: { content: "", ...beside(answer) } }] } };
}

function sealFault(messages: readonly object[]): string | undefined {
  const places = messages.flatMap((message) => [message, ...((message as Delta).tool_calls ?? [])]);
  const broken = places.some((place) => {
    const { google } = (place as { readonly extra_content?: { readonly google?: Seal } }).extra_content ?? {};
    return google !== undefined && !isSealed(`google ${google.over}`, google.thought_signature);
  });
  return broken ? "Thought signature is not valid." : undefined;
}

interface Seal {
  readonly thought_signature: string;
  readonly over: string;
}
