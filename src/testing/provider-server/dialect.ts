import { asList, fieldsOf } from "../../base/fields.ts";
import type { ModelRequest } from "../../contracts/model.ts";
import type { ProfileChoice, ProfileId } from "../../index.ts";
import type { ScriptedAnswer, ScriptedFault } from "../../records/script.ts";

/** How a provider speaks: which paths it answers, what it demands, how it answers and how it refuses. */
export interface Dialect {
  /** The paths that it answers, without the query. */
  readonly path: RegExp;
  /** The profile that the conversations must meet. */
  readonly profile: ProfileChoice;
  /** Checks the headers. The first one that is missing or wrong decides. */
  readonly refuseCaller: (headers: Headers, apiKey: string | undefined) => Refusal | undefined;
  /**
   * Checks everything in the body except the conversation, which the wire rules check. Returns the words of a refusal.
   */
  readonly refuseBody: (body: Body) => string | undefined;
  /** The messages in a body. */
  readonly messagesOf: (body: Body) => readonly unknown[];
  /** What the request asked for besides the conversation. */
  readonly asked: (body: Body) => Asked;
  /** Whether the answer is to be streamed. */
  readonly streams: (body: Body, path: string) => boolean;
  /** The answer as one body. */
  readonly whole: (answer: ScriptedAnswer, telling: Telling) => object;
  /** The same answer as server-sent events. */
  readonly events: (answer: ScriptedAnswer, telling: Telling) => readonly ServerEvent[];
  /** The answer that reports a refusal of a kind. */
  readonly refusal: (kind: RefusalKind, message: string | undefined) => Refusal;
  /** An error in a stream that has already begun. */
  readonly broken: (refusal: Refusal) => ServerEvent;
}

/** What a provider was asked for, in Holdfast's terms, so that a law can compare it with what it requested. */
export interface Asked extends Pick<ModelRequest, "toolChoice" | "maxOutputTokens" | "temperature"> {
  /** The instructions before the conversation, as one text. */
  readonly instructions: string;
  /** How hard to think, in the provider's own terms. It must differ between efforts that differ. */
  readonly effort?: unknown;
}

export type Body = Readonly<Record<string, unknown>>;
export type RefusalKind = Exclude<ScriptedFault["fault"], "silent" | "hang-up" | "unreadable">;

/** What an answer needs besides its content. */
export interface Telling {
  readonly profile: ProfileId;
  /** How many answers came before this one; used for ids that do not repeat. */
  readonly nth: number;
  readonly model: string;
  readonly body: Body;
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface ServerEvent {
  /** The name of the event; OpenAI's chat has none. */
  readonly event?: string;
  readonly data: object | string;
  /** Part of the end of the answer: without it the answer is unfinished. */
  readonly end?: true;
}

export function frame({ event, data }: ServerEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return event === undefined ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`;
}

/** What stands behind `asked` when nobody asked: fields that are no value are left out. */
export function askedFor(asked: { readonly [Field in keyof Asked]: unknown }): Asked {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as unknown as Asked;
}

/**
 * Cuts a text into pieces of a few characters, so that words, escapes and surrogate pairs are split as streams split
 * them.
 */
export function pieces(text: string): readonly string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

export function argumentsText(call: { readonly input?: unknown; readonly inputText?: string }): string {
  return call.inputText ?? JSON.stringify(call.input ?? {});
}

/** A name, or nothing that matches one. */
export function nameIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listIn(value: unknown): readonly Body[] {
  return asList(value).map(fieldsOf);
}

/** What the messages say that come from neither side. */
export function instructionsIn(messages: readonly Body[]): string {
  const told = messages.filter(({ role }) => role === "system" || role === "developer");
  return told.map(({ content }) => (typeof content === "string" ? content : textsIn(listIn(content)))).join("\n");
}

export function textsIn(parts: readonly Body[]): string {
  return parts.map(({ text }) => nameIn(text)).join("\n");
}

export const USAGE = { input: 12, output: 34 } as const;
