import { asList, type Fields, isFields } from "../../base/fields.ts";
import type { Format, Thread } from "../format.ts";
import { at } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** goose: provider recordings (`{hash: {input, output}}`), exported sessions, and session logs of one message a line. */
export const gooseRecording: Format = {
  id: "goose-recording",
  title: "goose session or recording",
  profile: "openai-chat",
  threads: (document) => [...recordings(document), ...session(document)],
  isRecord,
  reader: () => readMessage,
  answer,
};

function recordings(document: unknown): readonly Thread[] {
  if (!isFields(document)) return [];
  return Object.keys(document).flatMap((hash): readonly Thread[] => {
    if (!Array.isArray(at(document, hash, "input", "messages"))) return [];
    if (!isFields(at(document, hash, "output", "message"))) return [];
    return [{ path: [hash, "input", "messages"], response: [hash, "output", "message"] }];
  });
}

function session(document: unknown): readonly Thread[] {
  if (!isFields(document) || !("working_dir" in document)) return [];
  for (const path of [["conversation"], ["conversation", "messages"], ["messages"]]) {
    if (Array.isArray(at(document, ...path))) return [{ path }];
  }
  return [];
}

function isRecord(record: Fields): boolean {
  if ("working_dir" in record) return true;
  if (typeof record["role"] !== "string" || !("created" in record) || !Array.isArray(record["content"])) return false;
  return asList(record["content"]).every((block) => isFields(block) && typeof block["type"] === "string");
}
