import type { Format } from "../format.ts";
import { at, isFields, listOf } from "../skeleton.ts";
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
  const messages = listOf(value);
  if (messages.length === 0) return false;
  const known = messages.slice(0, 50).every((message) => {
    const role = String(at(message, "role"));
    return (
      ROLES.has(role) &&
      (Array.isArray(at(message, "parts")) || Array.isArray(at(message, "toolInvocations")) || hasText(message))
    );
  });
  return (
    known &&
    messages.some((message) => Array.isArray(at(message, "parts")) || Array.isArray(at(message, "toolInvocations")))
  );
}

function hasText(message: unknown): boolean {
  return typeof at(message, "content") === "string";
}
