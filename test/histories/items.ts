import type {
  ApprovalAnswerItem,
  ApprovalRequestItem,
  AssistantItem,
  CallItem,
  Item,
  OutputItem,
  ReasoningItem,
  SystemItem,
  UserItem,
} from "../../src/wire/item.ts";
import { toolCallId } from "../../src/wire/item.ts";

/** Small makers, so that a test shows only what it is about. */

export const user = (text = "hello", more: Partial<UserItem> = {}): UserItem => ({
  kind: "user",
  parts: [{ type: "text", text }],
  ...more,
});

export const system = (text = "be good", more: Partial<SystemItem> = {}): SystemItem => ({
  kind: "system",
  role: "system",
  parts: [{ type: "text", text }],
  ...more,
});

export const say = (text = "well", more: Partial<AssistantItem> = {}): AssistantItem => ({
  kind: "assistant",
  parts: [{ type: "text", text }],
  ...more,
});

export const think = (text = "hm", more: Partial<ReasoningItem> = {}): ReasoningItem => ({
  kind: "reasoning",
  text,
  ...more,
});

export const call = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  kind: "call",
  callKind: "function",
  callId: toolCallId(id),
  name: "read_file",
  input: { path: "a.txt" },
  ...more,
});

export const output = (id: string, more: Partial<OutputItem> = {}): OutputItem => ({
  kind: "output",
  callKind: "function",
  callId: toolCallId(id),
  status: "success",
  parts: [{ type: "text", text: `result of ${id}` }],
  ...more,
});

export const ask = (approvalId: string, callId: string): ApprovalRequestItem => ({
  kind: "approval-request",
  approvalId,
  callId: toolCallId(callId),
});

/** A call that the provider runs once it may: its own request. */
export const askAlone = (approvalId: string): ApprovalRequestItem => ({ kind: "approval-request", approvalId });

export const answer = (approvalId: string, approved = true): ApprovalAnswerItem => ({
  kind: "approval-answer",
  approvalId,
  approved,
});

/** A history as one line a reader can compare: `call c1`, `syn c1`, `output c1`, `user`, … */
export function sketch(items: readonly Item[]): readonly string[] {
  return items.map((item) => {
    if (item.kind === "call") return `call ${item.callId ?? "?"}`;
    if (item.kind === "output") return `${item.synthetic ? "syn" : "output"} ${item.callId ?? "?"}`;
    if (item.kind === "user" && item.notice !== undefined) return `note ${item.notice}`;
    return item.kind;
  });
}
