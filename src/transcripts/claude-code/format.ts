import { derivedUuid } from "../derive.ts";
import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { readRecord } from "./read.ts";
import { answer } from "./write.ts";

/** Claude Code session log: one record a line, a tree by `uuid` and `parentUuid`; the web export keeps a list. */
export const claudeCode: Format = {
  id: "claude-code",
  title: "Claude Code session",
  profile: "anthropic",
  threads: (document) => (isFields(document) && Array.isArray(document["loglines"]) ? [{ path: ["loglines"] }] : []),
  isRecord,
  reader: () => readRecord,
  answer,
  links: { id: "uuid", parent: "parentUuid", outputs: "siblings", derive: derivedUuid },
  outputFields: ["toolUseResult", "sourceToolAssistantUUID"],
  partsMixed: true,
};

/** Kinds of record that no other log has. */
const OWN = new Set(["file-history-snapshot", "file-history-delta", "queue-operation", "summary", "last-prompt"]);

function isRecord(record: Fields): boolean {
  const { type } = record;
  if (typeof type !== "string") return false;
  if (OWN.has(type)) return "leafUuid" in record || "messageId" in record || "sessionId" in record;
  if (type === "user" || type === "assistant") return isFields(record["message"]) && !("data" in record);
  return "sessionId" in record && ("uuid" in record || "parentUuid" in record);
}
