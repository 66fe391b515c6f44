import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, linksOf, returned, system, user, whole } from "../skeleton.ts";

type Read = (data: Fields, step: string) => Omit<Reading, "message">;

/** Kinds of event that are part of the conversation. Requests to run and hooks repeat what these say. */
const READERS: ReadonlyMap<string, Read> = new Map<string, Read>(
  Object.entries({
    "user.message": (data: Fields) => ({ speaks: "user", pieces: [whole(user(data["content"]))] }),
    "system.message": (data: Fields) => ({ pieces: [whole(system(data["content"]))] }),
    "assistant.message": assistantMessage,
    "tool.execution_complete": (data: Fields) => ({
      pieces: [
        {
          item: returned({ id: data["toolCallId"], failed: data["success"] === false }),
          path: [],
          ids: [["data", "toolCallId"]],
        },
      ],
    }),
  }),
);

export function readEvent(event: Fields, at: number): Reading | undefined {
  const data = fieldsOf(event["data"]);
  const links = linksOf(event, "id", "parentId");
  const read = READERS.get(asText(event["type"]) ?? "");
  if (read === undefined) return { message: false, pieces: [], ...links };
  const strand = asText(data["parentToolCallId"]);
  return { message: true, ...read(data, `#${at}`), ...(strand === undefined ? {} : { strand }), ...links };
}

function assistantMessage(data: Fields, step: string): Omit<Reading, "message"> {
  const requests = asList(data["toolRequests"]);
  const text = data["content"];
  const pieces: Piece[] = requests.length === 0 || text ? [whole(assistant(text, step))] : [];
  for (const [nth, request] of requests.entries()) {
    if (!isFields(request)) continue;
    const { toolCallId: id, name, arguments: input } = request;
    const path = ["data", "toolRequests", nth];
    pieces.push({ item: called({ id, name, input, step }), path, ids: [[...path, "toolCallId"]] });
  }
  return { speaks: "assistant", turn: step, pieces, blocks: requests.length };
}
