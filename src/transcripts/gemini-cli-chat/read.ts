import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, returned, user, whole } from "../skeleton.ts";

export function readMessage(message: Fields, at: number): Reading | undefined {
  const id = asText(message["id"]);
  const replaces = id === undefined ? {} : { replaces: id };
  const step = `#${at}`;
  if (message["type"] === "user") {
    return { message: true, speaks: "user", ...replaces, pieces: [whole(user(message["content"]))] };
  }
  if (message["type"] === "gemini") {
    return { message: true, speaks: "assistant", turn: step, ...replaces, ...readAnswer(message, step) };
  }
  return message["type"] === undefined ? undefined : { message: true, ...replaces, pieces: [] };
}

/** All calls of an answer, then all their results: as the API sees them. */
function readAnswer(message: Fields, step: string): Pick<Reading, "pieces" | "blocks"> {
  const calls = asList(message["toolCalls"]);
  const text = message["content"];
  const asked: Piece[] = calls.length === 0 || text ? [whole(assistant(text, step))] : [];
  const answered: Piece[] = [];
  for (const [nth, call] of calls.entries()) {
    if (!isFields(call)) continue;
    const { id, name, args: input } = call;
    const path = ["toolCalls", nth];
    const results = asList(call["result"]);
    const ids = [[...path, "id"], ...results.flatMap((result, at) => responseId(result, [...path, "result", at]))];
    asked.push({ item: called({ id, name, input, step }), path, ids, inside: true });
    if (results.length === 0) continue;
    const item = returned({ id: id ?? "", failed: call["status"] !== "success" });
    answered.push({ item, path, ids, inside: true });
  }
  return { pieces: [...asked, ...answered], blocks: calls.length };
}

function responseId(result: unknown, path: Piece["path"]): readonly Piece["path"][] {
  const response = fieldsOf(fieldsOf(result)["functionResponse"]);
  return "id" in response ? [[...path, "functionResponse", "id"]] : [];
}
