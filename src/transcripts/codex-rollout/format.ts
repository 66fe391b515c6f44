import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { itemOf, recordReader } from "./read.ts";
import { answer } from "./write.ts";

/** Codex CLI rollout: `{timestamp, type, payload}` a line; before late 2025 the items stood bare. */
export const codexRollout: Format = {
  id: "codex-rollout",
  title: "Codex rollout",
  profile: "openai-responses",
  threads: () => [],
  isRecord,
  reader: recordReader,
  answer,
};

const KINDS = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"]);

function isRecord(record: Fields): boolean {
  const { type, payload } = record;
  if (typeof type === "string" && KINDS.has(type)) return isFields(payload);
  const bareHead = "instructions" in record && "timestamp" in record && "id" in record;
  return bareHead || record["record_type"] === "state" || (type !== "message" && itemOf(record) !== undefined);
}
