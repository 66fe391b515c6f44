import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, returned, user, whole } from "../skeleton.ts";

const ENDED = new Set(["completed", "error"]);

export function readMessage(message: Fields, at: number): Reading | undefined {
  const info = fieldsOf(message["info"]);
  const parts = asList(message["parts"]);
  if (info["role"] === "user") {
    return { message: true, speaks: "user", pieces: [whole(user(parts))] };
  }
  if (info["role"] !== "assistant") return { message: true, pieces: [] };
  const turn = `#${at}`;
  return { message: true, speaks: "assistant", turn, pieces: readParts(parts, turn), blocks: parts.length };
}

/** One message may hold several answers of the model: each `step-start` begins one, with its own calls and results. */
function readParts(parts: readonly unknown[], turn: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let ended: Piece[] = [];
  let step = turn;
  for (const [nth, one] of parts.entries()) {
    const part = fieldsOf(one);
    if (part["type"] === "step-start") {
      pieces.push(...ended);
      ended = [];
      step = `${turn}/${nth}`;
    } else if (part["type"] === "tool") {
      const [asked, answered] = readTool(part, nth, step);
      pieces.push(asked);
      if (answered !== undefined) ended.push(answered);
    } else if (part["type"] === "text") {
      pieces.push({ item: assistant([part], step), path: ["parts", nth], ids: [] });
    }
  }
  return [...pieces, ...ended];
}

function readTool(part: Fields, nth: number, step: string): readonly [Piece, Piece?] {
  const state = fieldsOf(part["state"]);
  const place = { path: ["parts", nth], ids: [["parts", nth, "callID"]], inside: true };
  const id = asText(part["callID"]) ?? "";
  const server = fieldsOf(part["metadata"])["providerExecuted"] === true;
  // A part still `pending` has no input yet: the model was cut while it wrote the arguments.
  const partial = state["status"] === "pending" && Object.keys(fieldsOf(state["input"])).length === 0;
  const asked: Piece = {
    item: called({ id, name: part["tool"], input: state["input"], step, server, partial }),
    ...place,
  };
  if (!ENDED.has(asText(state["status"]) ?? "")) return [asked];
  const output = returned({ id, failed: state["status"] === "error", server });
  return [asked, { item: server ? { ...output, step } : output, ...place }];
}
