import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, returned, system, user, whole } from "../skeleton.ts";
import type { Path } from "../../base/text/edit.ts";

/** Which states say that an output is there. `partial-call` and `input-streaming`: the arguments were cut. */
const ENDED = new Set(["output-available", "output-error", "output-denied", "result"]);
const CUT = new Set(["input-streaming", "partial-call"]);
const ASKED = new Set(["approval-requested", "approval-responded"]);

export function readMessage(message: Fields, position: number): Reading | undefined {
  const { role } = message;
  const parts = asList(message["parts"]);
  const content = parts.length === 0 ? message["content"] : parts;
  if (role === "user") return { message: true, speaks: role, pieces: [whole(user(content))] };
  if (role === "system") return { message: true, pieces: [whole(system(content))] };
  if (role !== "assistant") return undefined;
  const turn = `#${position}`;
  const tools = toolsOf(message);
  const waits = tools.some(({ tool }) => ASKED.has(String(tool["state"])));
  return {
    message: true,
    speaks: role,
    turn,
    pieces: readParts(message, tools, turn),
    blocks: parts.length,
    ...(waits ? { waits } : {}),
  };
}

interface Tool {
  readonly nth: number;
  readonly tool: Fields;
  /** Where the state stands. */
  readonly path: Path;
  readonly name: unknown;
}

/** Tool parts of either version; the old list beside the parts repeats them and counts only without parts. */
function toolsOf(message: Fields): readonly Tool[] {
  const parts = asList(message["parts"]);
  const list = parts.length > 0 ? parts : asList(message["toolInvocations"]);
  return list.flatMap((part, nth): readonly Tool[] => {
    if (!isFields(part)) return [];
    const type = asText(part["type"]) ?? "";
    if (parts.length === 0) return [{ nth, tool: part, path: ["toolInvocations", nth], name: part["toolName"] }];
    const inner = part["toolInvocation"];
    if (type === "tool-invocation" && isFields(inner)) {
      return [{ nth, tool: inner, path: ["parts", nth, "toolInvocation"], name: inner["toolName"] }];
    }
    if (!type.startsWith("tool-") && type !== "dynamic-tool") return [];
    return [{ nth, tool: part, path: ["parts", nth], name: part["toolName"] ?? type.slice("tool-".length) }];
  });
}

/** Every `step-start` begins an answer of the model: its texts and calls, then all their outputs. */
function readParts(message: Fields, tools: readonly Tool[], turn: string): readonly Piece[] {
  const parts = asList(message["parts"]);
  const pieces: Piece[] = [];
  let ended: Piece[] = [];
  let step = turn;
  const add = (tool: Tool) => {
    const [asked, answered] = readTool(tool, step);
    pieces.push(asked);
    if (answered !== undefined) ended.push(answered);
  };
  for (const [nth, one] of parts.entries()) {
    const part = fieldsOf(one);
    const tool = tools.find((other) => other.nth === nth);
    if (part["type"] === "step-start") {
      pieces.push(...ended);
      ended = [];
      step = `${turn}/${nth}`;
    } else if (tool !== undefined) add(tool);
    else if (part["type"] === "text") pieces.push({ item: assistant([part], step), path: ["parts", nth], ids: [] });
  }
  if (parts.length === 0) {
    pieces.push(whole(assistant(message["content"], step)));
    for (const tool of tools) add(tool);
  }
  return [...pieces, ...ended];
}

function readTool({ tool, path, name }: Tool, step: string): readonly [Piece, Piece?] {
  const state = String(tool["state"]);
  const { toolCallId: id } = tool;
  const server = tool["providerExecuted"] === true;
  const part = path.at(-1) === "toolInvocation" ? path.slice(0, -1) : path;
  const place = { path: part, ids: [[...path, "toolCallId"]], inside: true };
  const asked: Piece = { item: called({ id, name, step, server, partial: CUT.has(state) }), ...place };
  if (!ENDED.has(state)) return [asked];
  const output = returned({ id: id ?? "", failed: state === "output-error", server });
  return [asked, { item: server ? { ...output, step } : output, ...place }];
}
