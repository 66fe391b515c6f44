import { fieldsOf } from "../../base/fields.ts";
import type { McpTool } from "./vendor.ts";

/**
 * Whether the error says that the tool cannot have run. After any other, a time-out above all, it may have. A code alone says
 * little: a tool that is running may be refused what it asks of its client, an answer may be refused for its shape, and the
 * codes of both come through. So of those that refuse a request only one counts that names the tool, and no result.
 */
export function didNotRun({ name, outputSchema }: McpTool, error: unknown): boolean {
  if (error instanceof Error && error.message === "Not connected") return true; // said by the client, before it has sent
  const { code, message } = fieldsOf(error);
  if (code === NOT_READ) return true;
  if (!REFUSED.has(code) || outputSchema !== undefined || typeof message !== "string") return false;
  return message.includes(name) && !/\bresult\b/i.test(message);
}

/** The server could not parse the request. */
const NOT_READ = -32700;
/** It refused what it was asked with. */
const REFUSED: ReadonlySet<unknown> = new Set([-32600, -32602]);
