import { derivedHex } from "../derive.ts";
import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { readEntry } from "./read.ts";
import { answer } from "./write.ts";

/** pi session: v1 a plain list, from v2 on a tree by `id` and `parentId`; what is sent is the path from leaf to root. */
export const piSession: Format = {
  id: "pi-session",
  title: "pi session",
  profile: "anthropic",
  threads: () => [],
  isRecord,
  reader: () => readEntry,
  answer,
  links: { id: "id", parent: "parentId", outputs: "chain", derive: derivedHex },
  positions: ["firstKeptEntryIndex"],
};

const ROLES = new Set(["user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary"]);
const KINDS = new Set(["thinking_level_change", "model_change", "compaction", "branch_summary", "custom", "label"]);

function isRecord(record: Fields): boolean {
  const { type, message } = record;
  if ("uuid" in record || "payload" in record || "sessionId" in record) return false;
  if (type === "session") return "cwd" in record || "version" in record;
  if (type === "message") return isFields(message) && typeof message["role"] === "string" && ROLES.has(message["role"]);
  return typeof type === "string" && KINDS.has(type) && "timestamp" in record;
}
