import type { Format } from "../format.ts";
import { isFields } from "../../base/fields.ts";
import { at, mostly } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** AI SDK `UIMessage[]`: a tool part is a little state machine that ends in an output; version 4 kept `toolInvocations`. */
export const aiSdkUi: Format = {
  id: "ai-sdk-ui",
  title: "AI SDK UI messages",
  profile: "ai-sdk",
  threads: (document) => {
    if (isMessages(document)) return [{ path: [] }];
    if (!isFields(document)) return [];
    return isMessages(document["messages"]) ? [{ path: ["messages"] }] : [];
  },
  reader: () => readMessage,
  answer,
};

const ROLES = new Set(["system", "user", "assistant", "data"]);

function isMessages(value: unknown): boolean {
  if (!mostly(value, isMessage)) return false;
  return value.some((message) => hasParts(message));
}

function isMessage(message: unknown): boolean {
  const text = typeof at(message, "content") === "string";
  return ROLES.has(String(at(message, "role"))) && (text || hasParts(message));
}

function hasParts(message: unknown): boolean {
  return Array.isArray(at(message, "parts")) || Array.isArray(at(message, "toolInvocations"));
}
