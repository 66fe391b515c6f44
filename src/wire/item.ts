import type { Json } from "../base/json.ts";
import type { OutputReason, OutputStatus } from "./status.ts";

declare const toolCallIdBrand: unique symbol;

/** The id that joins a call to its output, as the provider wrote it. Providers reuse and rewrite them. */
export type ToolCallId = string & { readonly [toolCallIdBrand]: true };

/** The only maker of a `ToolCallId`. */
export function toolCallId(text: string): ToolCallId {
  return text as ToolCallId;
}

export type WireFormat = (typeof WIRE_FORMATS)[number];

export const WIRE_FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"] as const;

/** The kinds of call a model makes. An id of one kind never answers another. */
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

/** What the host put into the conversation itself: no turn of the user's. */
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

/** Where an item was read from. An untouched item is written back as this very object, so nothing is lost. */
export interface Origin {
  readonly format: WireFormat;
  readonly message: object;
  /** Where the message stood: a host may send one object twice. */
  readonly at: number;
  /** The pieces of the message this item was read from. */
  readonly pieces: readonly unknown[];
  /** Which of the message's items it is, and of how many. */
  readonly nth: number;
  readonly of: number;
  /** The pieces are no longer those of the message. */
  readonly changed?: boolean;
  /** The message is not the one that was given: what stood in it as no part is one here. */
  readonly mended?: boolean;
}

/** The piece a part was read from; written back as it is, in the format it came from. */
export interface PartOrigin {
  readonly format: WireFormat;
  readonly piece: unknown;
}

export type Part =
  | { readonly type: "text"; readonly text: string; readonly notice?: Notice; readonly origin?: PartOrigin }
  | { readonly type: "image" | "audio" | "file"; readonly media: MediaSource; readonly origin?: PartOrigin }
  /** A part this version does not know; carried in the format it came from, told in words in others. */
  | { readonly type: "other"; readonly origin: PartOrigin };

export interface MediaSource {
  readonly mediaType?: string;
  readonly url?: string;
  readonly base64?: string;
  /** The id under which one provider keeps the content. No other can read it. */
  readonly fileId?: string;
  /** Content beside the journal, by name: read when a request is to show it, and not before. */
  readonly blob?: { readonly name: string; readonly size: number };
  /** What a file is called. */
  readonly name?: string;
}

interface ItemBase {
  /** The provider's id of the item (`fc_…`, `msg_…`), not of the call. */
  readonly id?: string;
  /** When it was said, as a label. */
  readonly at?: string;
  /** Which model answer it belongs to. Items of one answer form one batch; formats without messages leave it out. */
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
  /** `commentary`, `final_answer`: texts of different phases are never joined. */
  readonly phase?: string;
  /** The reasoning item this one may not be sent without. */
  readonly reasoningId?: string;
}

export interface ReasoningItem extends ItemBase {
  readonly kind: "reasoning";
  readonly text: string;
  /** The provider's seal over the text. An empty one was lost on the way and makes the item unsendable. */
  readonly signature?: string;
}

export interface CallItem extends ItemBase {
  readonly kind: "call";
  readonly callKind: CallKind;
  /** Absent only where the format allows it: a local shell call without an id cannot be paired. */
  readonly callId?: ToolCallId;
  readonly name: string;
  readonly input?: Json;
  /** The arguments as streamed, where the format sends text; `input` is then left unparsed. */
  readonly inputText?: string;
  /** The stream ended inside the arguments. Nothing ran, so nothing may answer it. */
  readonly partial?: boolean;
  /** Run by the provider itself: it answers, not we. */
  readonly server?: boolean;
  readonly signature?: string;
  readonly reasoningId?: string;
  /** `none`: the tool only reads, so an interrupted call changed nothing. */
  readonly effects?: "none" | "unknown";
}

export interface OutputItem extends ItemBase {
  readonly kind: "output";
  readonly callKind: CallKind;
  /** Absent on a named external event, which stands alone. */
  readonly callId?: ToolCallId;
  readonly name?: string;
  readonly status: OutputStatus;
  /** The word that was stored, when it was none of the four. */
  readonly statusText?: string;
  readonly reason?: OutputReason;
  readonly parts: readonly Part[];
  /** A structured result, where the format has one. */
  readonly value?: Json;
  /** Made by repair, not by a tool. A real output beats it. */
  readonly synthetic?: boolean;
  /** A provider has read this synthetic output: changing it now would rewrite what the model knows. */
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

/** Something this version does not know, kept as it came. */
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

export function isPairable(item: Item): item is PairableHistoryItem {
  return item.kind === "call" || item.kind === "output";
}

export function isBlankText(part: Part): boolean {
  return part.type === "text" && part.text.trim() === "";
}

/** The plain text of a message or an output. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/**
 * What somebody said as one text. Parts of the user's and of instructions are each a thing for itself, a reminder, a number, a
 * rule, and keep their own lines; an answer's are cut anywhere, also within a word.
 */
export function spokenText(item: SystemItem | UserItem | AssistantItem): string {
  if (item.kind === "assistant") return textOf(item.parts);
  let all = "";
  for (const part of item.parts) {
    const text = part.type === "text" ? part.text : "";
    const apart = all === "" || text === "" || all.endsWith("\n") || text.startsWith("\n");
    all += apart ? text : `\n${text}`;
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
