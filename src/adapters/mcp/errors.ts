import type { McpTool } from "./vendor.ts";

/** Errors of the protocol after which nothing can have happened: the request could not be read, or named no method. */
const NOT_READ: ReadonlySet<unknown> = new Set([-32700, -32601]);
/** The server refused what it was asked with, or the client what it was answered: it says so with the same codes. */
const REFUSED: ReadonlySet<unknown> = new Set([-32600, -32602]);

/**
 * Whether the error says that the tool cannot have run. After any other, a time-out above all, it may have; so it may where
 * the shape of its answer is declared, and the client, or the server itself, refuses an answer of another.
 */
export function didNotRun({ outputSchema }: McpTool, error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code } = error as { readonly code?: unknown };
  return NOT_READ.has(code) || (REFUSED.has(code) && outputSchema === undefined);
}
