import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { at, mostly } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** Gemini CLI chat: results lie inside their calls. One document, or (newer) a line for each message and each update. */
export const geminiCliChat: Format = {
  id: "gemini-cli-chat",
  title: "Gemini CLI chat",
  profile: "gemini",
  threads: (document) =>
    isFields(document) && "sessionId" in document && isChat(document["messages"]) ? [{ path: ["messages"] }] : [],
  isRecord,
  reader: () => readMessage,
  answer,
};

const TYPES = new Set(["user", "gemini", "info", "error", "warning"]);

function isChat(messages: unknown): boolean {
  return mostly(messages, (message) => TYPES.has(String(at(message, "type"))));
}

function isRecord(record: Fields): boolean {
  if ("sessionId" in record && "projectHash" in record) return !("messages" in record);
  if ("$set" in record || "$rewindTo" in record) return true;
  const { type } = record;
  if (type === "gemini") return "content" in record;
  return typeof type === "string" && TYPES.has(type) && "id" in record && "content" in record && !("message" in record);
}
