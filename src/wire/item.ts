import type { Json } from "../base/json.ts";
import type { OutputReason, OutputStatus } from "./status.ts";

declare const toolCallIdBrand: unique symbol;

/** The id that joins a call to its output, as the provider wrote it. Providers reuse and rewrite these ids. */
export type ToolCallId = string & { readonly [toolCallIdBrand]: true };

/** Makes a `ToolCallId` from text. Nothing else does. */
export function toolCallId(text: string): ToolCallId {
  return text as ToolCallId;
}

/** The message formats that can be read and written. */
export type WireFormat = (typeof WIRE_FORMATS)[number];

export const WIRE_FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"] as const;

/**
 * The kinds of call that a model makes. An output of one kind never answers a call of another kind, even under the same
 * id.
 */
export type CallKind = (typeof CALL_KINDS)[number];

/** `shell` is the local shell of old; `commands` and `patch` are the tools that run commands and change files. */
export const CALL_KINDS = ["function", "custom", "shell", "search", "computer", "commands", "patch"] as const;

/**
 * The id space in which a call is answered. A local shell call is answered by a function output, so the two share one.
 * Comparisons, not a table: it is asked for every call and output of a history.
 */
export function spaceOf(kind: CallKind): 0 | 1 | 2 | 3 | 4 | 5 {
  if (kind === "function" || kind === "shell") return 0;
  if (kind === "custom") return 1;
  if (kind === "search") return 2;
  if (kind === "computer") return 3;
  return kind === "commands" ? 4 : 5;
}

/** What kind of text the host added to the conversation. Such text does not begin a turn of the user. */
export type Notice =
  | "environment"
  | "instructions"
  | "shell-command"
  | "subagent"
  | "context-update"
  | "aborted"
  | "continuation"
  | "late-result"
  | "tool-gone"
  | "result-media"
  | "summary";

/** Where an item was read from. An untouched item is written back as the very same object, so nothing is lost. */
export interface Origin {
  readonly format: WireFormat;
  readonly message: object;
  /** Index of the message in its list: a host may send the same object twice. */
  readonly at: number;
  /** The pieces of the message this item was read from. */
  readonly pieces: readonly unknown[];
  /** Which of the items read from the message this is; `of` says how many there are. */
  readonly nth: number;
  readonly of: number;
  /** True when `pieces` differ from those of the message. */
  readonly changed?: boolean;
  /**
   * True when `message` is a corrected copy of the one that was given: elements of its list that were not parts are
   * parts in the copy.
   */
  readonly mended?: boolean;
}

/** The piece a part was read from; written back as it is, in the format it came from. */
export interface PartOrigin {
  readonly format: WireFormat;
  readonly piece: unknown;
}

/**
 * One piece of a message or a result: text, a picture, a recording, a file, or something this version does not know.
 */
export type Part =
  | { readonly type: "text"; readonly text: string; readonly notice?: Notice; readonly origin?: PartOrigin }
  | { readonly type: "image" | "audio" | "file"; readonly media: MediaSource; readonly origin?: PartOrigin }
  /**
   * A part that this version does not know: sent back unchanged in the format it came from, described in words in
   * others.
   */
  | { readonly type: "other"; readonly origin: PartOrigin };

/** Where the content of a picture, recording or file is: at an address, inline, kept by a provider, or in a blob. */
export interface MediaSource {
  readonly mediaType?: string;
  readonly url?: string;
  readonly base64?: string;
  /** The id under which one provider keeps the content. No other provider can read it. */
  readonly fileId?: string;
  /** A blob that holds the content. It is read only when a request shows it. */
  readonly blob?: { readonly name: string; readonly size: number };
  /** The name of the file. */
  readonly name?: string;
}

interface ItemBase {
  /** The provider's id of the item (`fc_…`, `msg_…`); not the id of the call. */
  readonly id?: string;
  /** When it was said; for display only. */
  readonly at?: string;
  /**
   * Which answer of the model the item belongs to. The items of one answer form one batch. Absent in formats that do
   * not say.
   */
  readonly step?: number | string;
  readonly origin?: Origin;
}

export interface SystemItem extends ItemBase {
  readonly kind: "system";
  readonly role: "system" | "developer";
  readonly parts: readonly Part[];
  readonly notice?: Notice;
}

export interface UserItem extends ItemBase {
  readonly kind: "user";
  readonly parts: readonly Part[];
  readonly notice?: Notice;
}

export interface AssistantItem extends ItemBase {
  readonly kind: "assistant";
  readonly parts: readonly Part[];
  /** `commentary` or `final_answer`: texts of different phases are never joined. */
  readonly phase?: string;
  /** The id of the reasoning item without which this one must not be sent. */
  readonly reasoningId?: string;
}

export interface ReasoningItem extends ItemBase {
  readonly kind: "reasoning";
  readonly text: string;
  /** The provider's seal over the text. An empty seal was lost on the way, and the item cannot be sent. */
  readonly signature?: string;
}

export interface CallItem extends ItemBase {
  readonly kind: "call";
  readonly callKind: CallKind;
  /** Absent only where the format allows it, as for a local shell call. A call without an id cannot be paired. */
  readonly callId?: ToolCallId;
  readonly name: string;
  readonly input?: Json;
  /** The arguments as the text that was streamed, for formats that send text; `input` is then not set. */
  readonly inputText?: string;
  /** True when the stream ended in the middle of the arguments. Nothing ran, so nothing may answer the call. */
  readonly partial?: boolean;
  /** True when the provider runs the call itself, and answers it. */
  readonly server?: boolean;
  readonly signature?: string;
  readonly reasoningId?: string;
  /** `none` when the tool only reads: an interrupted call has then changed nothing. */
  readonly effects?: "none" | "unknown";
}

export interface OutputItem extends ItemBase {
  readonly kind: "output";
  readonly callKind: CallKind;
  /** Absent on a named external event, which answers no call. */
  readonly callId?: ToolCallId;
  readonly name?: string;
  readonly status: OutputStatus;
  /** The status as it was stored, if it was not one of the four known ones. */
  readonly statusText?: string;
  readonly reason?: OutputReason;
  readonly parts: readonly Part[];
  /** The structured result, in formats that have one. */
  readonly value?: Json;
  /** True when repair made the output, not a tool. A real output replaces it. */
  readonly synthetic?: boolean;
  /**
   * True when a provider has already read this synthetic output. It then stays as it is: a change would rewrite what
   * the model knows.
   */
  readonly frozen?: boolean;
  readonly server?: boolean;
}

export interface ApprovalRequestItem extends ItemBase {
  readonly kind: "approval-request";
  readonly approvalId: string;
  readonly callId?: ToolCallId;
}

export interface ApprovalAnswerItem extends ItemBase {
  readonly kind: "approval-answer";
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string;
}

/** Something that this version does not know, kept as it came. */
export interface OtherItem extends ItemBase {
  readonly kind: "other";
  readonly by: "model" | "host";
}

/** One element of the conversation as a model sees it. */
export type Item =
  | SystemItem
  | UserItem
  | AssistantItem
  | ReasoningItem
  | CallItem
  | OutputItem
  | ApprovalRequestItem
  | ApprovalAnswerItem
  | OtherItem;

/** The items that take part in call/output pairing. */
export type PairableHistoryItem = CallItem | OutputItem;

/** Whether an item is a call or an output. */
export function isPairable(item: Item): item is PairableHistoryItem {
  return item.kind === "call" || item.kind === "output";
}

export function isBlankText(part: Part): boolean {
  return part.type === "text" && part.text.trim() === "";
}

/** The text parts of a message or an output, as one text. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/**
 * What somebody said as one text. Parts of the user's and of instructions are each a thing for itself, a reminder, a number, a
 * rule, and keep their own lines; an answer's are cut anywhere, also within a word.
 */
export function spokenText(item: SystemItem | UserItem | AssistantItem): string {
  if (item.kind === "assistant") return textOf(item.parts);
  return apart(item.parts.map((part) => (part.type === "text" ? part.text : "")));
}

/** Each text on lines of its own. */
export function apart(texts: readonly string[]): string {
  let all = "";
  for (const text of texts) {
    const isApart = all === "" || text === "" || all.endsWith("\n") || text.startsWith("\n");
    all += isApart ? text : `\n${text}`;
  }
  return all;
}

/** What a tool returned, as parts: a structured result has a text for formats that know only text. */
export function resultParts(output: OutputItem): readonly Part[] {
  if (output.parts.length > 0 || output.value === undefined) return output.parts;
  return [{ type: "text", text: typeof output.value === "string" ? output.value : JSON.stringify(output.value) }];
}

/** The texts of a result as one. Each keeps its own line: without a break `10` and `20` would become `1020`. */
export function resultText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : [])).join("\n");
}
