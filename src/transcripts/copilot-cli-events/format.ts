import { derivedUuid } from "../derive.ts";
import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { readEvent } from "./read.ts";
import { answer } from "./write.ts";

/** Copilot CLI `events.jsonl`: what happened, not what was sent; calls and outputs lie in different kinds of event. */
export const copilotCliEvents: Format = {
  id: "copilot-cli-events",
  title: "Copilot CLI events",
  profile: "openai-chat",
  threads: () => [],
  isRecord,
  reader: () => readEvent,
  answer,
  links: { id: "id", parent: "parentId", outputs: "chain", derive: derivedUuid },
};

function isRecord(record: Fields): boolean {
  const { type } = record;
  if (typeof type !== "string" || !isFields(record["data"]) || "payload" in record) return false;
  return /^(session|user|assistant|tool|system|hook|permission|subagent|skill)\.|^abort$/.test(type);
}
