import type { ProfileId } from "../../index.ts";
import type { ScriptedAnswer, ScriptedFault } from "../../records/script.ts";

/** A provider's way of speaking: where it listens, what it demands, how it answers and how it refuses. */
export interface Dialect {
  readonly path: string;
  readonly profile: ProfileId;
  /** Headers without which nothing is read. The first that is missing or wrong decides. */
  readonly refuseCaller: (headers: Headers, apiKey: string | undefined) => Refusal | undefined;
  /** Demands on the body beyond the conversation; those are the wire rules'. */
  readonly refuseBody: (body: Body) => string | undefined;
  readonly messagesOf: (body: Body) => readonly unknown[];
  readonly whole: (answer: ScriptedAnswer, telling: Telling) => object;
  /** The same answer as server-sent events. */
  readonly events: (answer: ScriptedAnswer, telling: Telling) => readonly ServerEvent[];
  readonly refusal: (kind: RefusalKind, message: string | undefined) => Refusal;
  /** An error told inside a stream that had begun. */
  readonly broken: (refusal: Refusal) => ServerEvent;
}

export type Body = Readonly<Record<string, unknown>>;
export type RefusalKind = Exclude<ScriptedFault["fault"], "silent" | "hang-up" | "unreadable">;

/** What an answer needs to know besides what it says. */
export interface Telling {
  readonly profile: ProfileId;
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

export const USAGE = { input: 12, output: 34 } as const;
