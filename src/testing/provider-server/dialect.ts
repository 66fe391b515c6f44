import type { ModelRequest } from "../../contracts/model.ts";
import type { ProfileChoice, ProfileId } from "../../index.ts";
import type { ScriptedAnswer, ScriptedFault } from "../../records/script.ts";

/** A provider's way of speaking: where it listens, what it demands, how it answers and how it refuses. */
export interface Dialect {
  /** Paths it answers; without the query. */
  readonly path: RegExp;
  /** Whose conversations it takes. */
  readonly profile: ProfileChoice;
  /** Headers without which nothing is read. The first that is missing or wrong decides. */
  readonly refuseCaller: (headers: Headers, apiKey: string | undefined) => Refusal | undefined;
  /** Demands on the body beyond the conversation; those are the wire rules'. */
  readonly refuseBody: (body: Body) => string | undefined;
  readonly messagesOf: (body: Body) => readonly unknown[];
  /** What it makes of a body besides the conversation. */
  readonly asked: (body: Body) => Asked;
  /** Whether an answer is to come in pieces. */
  readonly streams: (body: Body, path: string) => boolean;
  readonly whole: (answer: ScriptedAnswer, telling: Telling) => object;
  /** The same answer as server-sent events. */
  readonly events: (answer: ScriptedAnswer, telling: Telling) => readonly ServerEvent[];
  readonly refusal: (kind: RefusalKind, message: string | undefined) => Refusal;
  /** An error told inside a stream that had begun. */
  readonly broken: (refusal: Refusal) => ServerEvent;
}

/** What a provider was asked for, in our words and not its own: for a law to compare with what it asked. */
export interface Asked extends Pick<ModelRequest, "toolChoice" | "maxOutputTokens" | "temperature"> {
  /** What it is told before the conversation, as one text. */
  readonly instructions: string;
  /** How hard to think, in the provider's own words: they must differ where the effort does. */
  readonly effort?: unknown;
}

export type Body = Readonly<Record<string, unknown>>;
export type RefusalKind = Exclude<ScriptedFault["fault"], "silent" | "hang-up" | "unreadable">;

/** What an answer needs to know besides what it says. */
export interface Telling {
  readonly profile: ProfileId;
  /** How many answers came before: for ids that do not repeat. */
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
  /** OpenAI's chat sends data alone. */
  readonly event?: string;
  readonly data: object | string;
  /** Belongs to the end of the answer: what comes before it is unfinished. */
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

/** Pieces of a few letters, so that words, escapes and characters of two units are cut as streams cut them. */
export function pieces(text: string): readonly string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

export function argumentsText(call: { readonly input?: unknown; readonly inputText?: string }): string {
  return call.inputText ?? JSON.stringify(call.input ?? {});
}

export function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A name, or nothing that matches one. */
export function nameIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listIn(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.map((one: unknown) => (isBody(one) ? one : {})) : [];
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
