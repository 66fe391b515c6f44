import { asList, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, linksOf, returned, user, whole } from "../skeleton.ts";

export function readEntry(entry: Fields, at: number): Reading | undefined {
  const links = entry["type"] === "session" ? {} : linksOf(entry, "id", "parentId"); // the header's id is the session's
  const { message } = entry;
  if (entry["type"] !== "message" || !isFields(message))
    return { message: false, pieces: [], ...links, ...position(entry) };
  return { message: true, ...readMessage(message, `#${at}`), ...links };
}

/** Compactions of v1 say which entry was kept by its place; later ones by its id. */
function position(entry: Fields): Pick<Reading, "position"> {
  return "firstKeptEntryIndex" in entry ? { position: true } : {};
}

function readMessage(message: Fields, step: string): Omit<Reading, "message"> {
  const { role, content } = message;
  if (role === "assistant") return readAnswer(message, step);
  if (role === "toolResult") {
    const item = returned({
      id: message["toolCallId"],
      name: message["toolName"],
      failed: message["isError"] === true,
    });
    return { pieces: [{ item, path: [], ids: [["message", "toolCallId"]], name: ["message", "toolName"] }] };
  }
  // What the user ran in the shell, and what extensions say, reaches the model as a message of the user's.
  return { speaks: "user", pieces: [whole(user(content ?? message["command"]))] };
}

function readAnswer(message: Fields, step: string): Omit<Reading, "message"> {
  const blocks = asList(message["content"]);
  const pieces = blocks.flatMap((block, nth): readonly Piece[] => {
    const fields = fieldsOf(block);
    const path = ["message", "content", nth];
    if (fields["type"] === "thinking") return [];
    if (fields["type"] !== "toolCall") return [{ item: assistant([block], step), path, ids: [] }];
    const { id, name, arguments: input } = fields;
    // The rest of a stream that was cut: the arguments beside it are what could be guessed from it.
    const partial = typeof fields["partialJson"] === "string" && isCut(message);
    return [{ item: called({ id, name, input, step, partial }), path, ids: [[...path, "id"]] }];
  });
  return { speaks: "assistant", turn: step, pieces, blocks: blocks.length };
}

function isCut(message: Fields): boolean {
  return message["stopReason"] === "aborted" || message["stopReason"] === "error";
}
