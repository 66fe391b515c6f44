import { isChat } from "../chat-messages.ts";
import type { Format, Thread } from "../format.ts";
import { asList, isFields } from "../../base/fields.ts";
import { at } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** OpenAI chat completions: a list of messages, a request with or without its response, or a benchmark's dump of many. */
export const openaiChat: Format = {
  id: "openai-chat",
  title: "OpenAI chat messages",
  profile: "openai-chat",
  threads,
  reader: () => readMessage,
  answer,
};

/** Under which key each known dump keeps a conversation. */
const KEYS = ["messages", "traj", "conversation", "history"] as const;

function threads(document: unknown): readonly Thread[] {
  if (isChat(document)) return [{ path: [] }];
  if (Array.isArray(document)) return document.flatMap((one, nth) => within(one, [nth]));
  const own = within(document, []);
  if (own.length > 0) return own;
  return asList(at(document, "simulations")).flatMap((one, nth) => within(one, ["simulations", nth]));
}

function within(value: unknown, path: Thread["path"]): readonly Thread[] {
  if (!isFields(value)) return [];
  const key = KEYS.find((name) => isChat(value[name]));
  if (key === undefined) return [];
  const answered = ["response", "choices", 0, "message"];
  const response = isFields(at(value, ...answered)) ? { response: [...path, ...answered] } : {};
  return [{ path: [...path, key], ...response }];
}
