import type { Item } from "../wire/item.ts";

/** What a page is. Each page has one kind, which decides how far it may be lowered. */
export type PageKind = "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation";

/** How much of a page the model sees, from all of it down to a handle. */
export type ResidencyLevel = "full" | "compressed" | "structured" | "pointer";

export const PAGE_KINDS: readonly PageKind[] = [
  "bootstrap",
  "constraint",
  "plan",
  "preference",
  "evidence",
  "conversation",
];

const ALL_FOUR: readonly ResidencyLevel[] = ["full", "compressed", "structured", "pointer"];
const NO_LOWER: readonly ResidencyLevel[] = ["full", "structured"];

const PATHS: Readonly<Record<PageKind, readonly ResidencyLevel[]>> = {
  bootstrap: NO_LOWER,
  constraint: NO_LOWER,
  plan: ["full", "structured", "pointer"],
  preference: ALL_FOUR,
  evidence: ALL_FOUR,
  conversation: ALL_FOUR,
};

const FLOORS: Readonly<Record<PageKind, ResidencyLevel>> = {
  bootstrap: "structured",
  constraint: "structured",
  plan: "pointer",
  preference: "pointer",
  evidence: "pointer",
  conversation: "pointer",
};

const FIDELITY: Readonly<Record<ResidencyLevel, number>> = { pointer: 0, structured: 1, compressed: 2, full: 3 };

/** The lowest level that a kind may have. Anything lower is refused. */
export function minFidelity(kind: PageKind): ResidencyLevel {
  return FLOORS[kind];
}

/** The levels that a kind may have, from `full` down to its floor. */
export function degradationPath(kind: PageKind): readonly ResidencyLevel[] {
  return PATHS[kind];
}

export function isBelow(level: ResidencyLevel, floor: ResidencyLevel): boolean {
  return FIDELITY[level] < FIDELITY[floor];
}

/** A message in any format: a role, and content that may consist of typed parts. */
export interface RoleMessage {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
}

const TOOL_RESULT = /^(tool[-_]?result|function_call_output|custom_tool_call_output|local_shell_call_output)$/i;

/**
 * The kind of an item, or of a message in any format, judged by its form alone. Constraints, plans and preferences are
 * made only by their own functions, so no text, and least of all a tool's output, can turn itself into one.
 */
export function classify(message: Item | RoleMessage): PageKind {
  if ("kind" in message) {
    if (message.kind === "system") return "bootstrap";
    return message.kind === "output" ? "evidence" : "conversation";
  }
  const { role, type, content } = message;
  if (role === "system" || role === "developer") return "bootstrap";
  if (role === "tool" || role === "toolResult" || role === "function" || TOOL_RESULT.test(type ?? ""))
    return "evidence";
  const holdsResult = Array.isArray(content) && content.some((part: unknown) => isToolResult(part));
  return holdsResult ? "evidence" : "conversation";
}

/** The kind of each message, in order. */
export function classifyAll(messages: readonly (Item | RoleMessage)[]): readonly PageKind[] {
  return messages.map(classify);
}

function isToolResult(part: unknown): boolean {
  if (typeof part !== "object" || part === null || !("type" in part)) return false;
  return typeof part.type === "string" && TOOL_RESULT.test(part.type);
}
