import {
  type CallItem,
  type CallKind,
  type Item,
  type OutputItem,
  type Part,
  resultParts,
  resultText,
  textOf,
  toolCallId,
} from "../item.ts";
import type { Codec, Encoded, Encoding } from "./codec.ts";
import { decodeWith } from "./decode.ts";
import { answeredId, keptElsewhere } from "./responses-kept.ts";
import { OUTPUT_TYPES, RESPONSE_CALLS, RESPONSE_OUTPUTS } from "./responses-types.ts";
import { commandText, commandsStatus } from "./command-outcome.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import {
  asJson,
  FORMLESS,
  inputText,
  isContent,
  ownPiece,
  mediaSource,
  mediaUrl,
  type Read,
  readFile,
  readSound,
  textPart,
  writtenFile,
  writtenSound,
} from "./read.ts";
import { isResultFormed, looseResult } from "./result-form.ts";

const FORMAT = "openai-responses";

/** What a tool is called whose calls do not name it. */
const NAMES: Readonly<Partial<Record<CallKind, string>>> = {
  shell: "local_shell",
  search: "tool_search",
  computer: "computer",
  commands: "shell",
  patch: "apply_patch",
};
/** Items the host sends that are neither messages nor outputs. */
const FROM_HOST: ReadonlySet<string> = new Set(["compaction", "additional_tools"]);

/** OpenAI responses: a flat list of items; no messages hold calls together. */
export const openaiResponses: Codec = {
  decode: (messages, { continues = false } = {}) => {
    const kept = keptElsewhere(messages, continues);
    return decodeWith(FORMAT, messages, (piece, at) => {
      return kept(piece, at) ? [{ item: { kind: "other", by: "model" }, pieces: [piece] }] : readPiece(piece);
    });
  },
  encode,
};

function readPiece(piece: Fields): readonly Read[] | string {
  const type = asText(piece["type"]) ?? (typeof piece["role"] === "string" ? "message" : undefined);
  if (type === undefined) return "neither a type nor a role";
  const item = type === "message" ? readMessage(piece) : readItem(type, piece);
  return typeof item === "string" ? item : [{ item: withId(item, piece), pieces: [piece] }];
}

function withId(item: Item, piece: Fields): Item {
  const id = asText(piece["id"]);
  return id === undefined ? item : { ...item, id };
}

function readMessage(piece: Fields): Item | string {
  const { role, content } = piece;
  if (!isContent(content)) return FORMLESS;
  const parts = typeof content === "string" ? [textPart(content)] : asList(content).map(readPart);
  const phase = asText(piece["phase"]);
  if (role === "user") return { kind: "user", parts };
  if (role === "assistant") return { kind: "assistant", parts, ...(phase === undefined ? {} : { phase }) };
  if (role === "system" || role === "developer") return { kind: "system", role, parts };
  return `unknown role ${JSON.stringify(role)}`;
}

function readItem(type: string, piece: Fields): Item {
  if (type === "reasoning") {
    // Open models show their reasoning as it is, beside a summary or without one.
    const shown = [...asList(piece["summary"]), ...asList(piece["content"])];
    const text = shown.map((part) => (isFields(part) ? (asText(part["text"]) ?? "") : ""));
    const seal = asText(piece["encrypted_content"]);
    return { kind: "reasoning", text: text.join("\n"), ...(seal === undefined ? {} : { signature: seal }) };
  }
  if (type === "mcp_approval_request") return { kind: "approval-request", approvalId: asText(piece["id"]) ?? "" };
  if (type === "mcp_approval_response") {
    return {
      kind: "approval-answer",
      approvalId: asText(piece["approval_request_id"]) ?? "",
      approved: piece["approve"] === true,
      ...(typeof piece["reason"] === "string" ? { reason: piece["reason"] } : {}),
    };
  }
  const called = RESPONSE_CALLS.get(type);
  if (called !== undefined) return readCall(called, piece);
  const answers = RESPONSE_OUTPUTS.get(type);
  if (answers !== undefined) return readOutput(answers, piece);
  return { kind: "other", by: FROM_HOST.has(type) || type.endsWith("_output") ? "host" : "model" };
}

function readCall(callKind: CallKind, piece: Fields): CallItem {
  const id = asText(piece["call_id"]);
  const text = piece[callKind === "custom" ? "input" : "arguments"] ?? piece["action"] ?? piece["operation"];
  const status = piece["status"];
  const server = callKind === "search" && piece["execution"] === "server";
  return {
    kind: "call",
    callKind,
    name: asText(piece["name"]) ?? NAMES[callKind] ?? "",
    ...(id === undefined ? {} : { callId: toolCallId(id) }),
    ...(typeof text === "string" ? { inputText: text } : { input: asJson(text ?? {}) }),
    ...(status === "incomplete" ? { partial: true } : {}),
    ...(server ? { server } : {}),
  };
}

function readOutput(callKind: CallKind, piece: Fields): OutputItem {
  const id = answeredId(piece);
  const name = asText(piece["name"]);
  const { output } = piece;
  return {
    kind: "output",
    callKind,
    ...(id === undefined ? (name === undefined ? { callId: toolCallId("") } : {}) : { callId: toolCallId(id) }),
    ...(name === undefined ? {} : { name }),
    status: callKind === "commands" ? commandsStatus(output) : patchStatus(callKind, piece),
    parts: isResultFormed[FORMAT](piece) ? readResult(callKind, output) : looseResult(output),
    ...(piece["execution"] === "server" ? { server: true } : {}),
  };
}

function patchStatus(callKind: CallKind, { status }: Fields): "failed" | "success" {
  return callKind === "patch" && status === "failed" ? "failed" : "success";
}

function readResult(callKind: CallKind, output: unknown): readonly Part[] {
  if (typeof output === "string") return [textPart(output)];
  if (callKind === "computer") {
    const { image_url: url, file_id: fileId } = fieldsOf(output);
    return [{ type: "image", media: mediaSource({ url, fileId }), origin: { format: FORMAT, piece: output } }];
  }
  if (callKind !== "commands") return asList(output).map(readPart);
  return asList(output).map((ran) => textPart(commandText(ran)));
}

function readPart(piece: unknown): Part {
  const part = fieldsOf(piece);
  const type = part["type"];
  if (type === "input_text" || type === "output_text" || type === "text")
    return textPart(asText(part["text"]) ?? "", { format: FORMAT, piece });
  if (type === "refusal") return textPart(asText(part["refusal"]) ?? "", { format: FORMAT, piece });
  const origin = { format: FORMAT, piece } as const;
  if (type === "input_image") {
    const { image_url: url, file_id: fileId } = part;
    return { type: "image", media: mediaSource({ url, fileId }), origin };
  }
  if (type === "input_audio") {
    const sound = part["input_audio"];
    return { type: "audio", media: readSound(fieldsOf(sound)), origin };
  }
  if (type === "input_file") return { type: "file", media: readFile(part), origin };
  return { type: "other", origin: { format: FORMAT, piece } };
}

function encode(items: readonly Item[], how: Encoding): Encoded {
  const omitted: Item[] = [];
  const messages: object[] = [];
  const ids = new Set<unknown>();
  for (const item of items) {
    const piece = write(item, how) as Fields | undefined;
    const again = piece !== undefined && isIdentified(piece) && ids.has(piece["id"]);
    if (again) how.unnamed(messages.length);
    const sent = again ? withoutId(piece) : piece;
    if (sent === undefined) omitted.push(item);
    else messages.push(sent);
    if (piece !== undefined) ids.add(piece["id"]);
  }
  return { messages, instructions: [], omitted };
}

/** Whether an item is known by its own id. A reference, and a shell's output, name another item by it. */
function isIdentified({ id, type }: Fields): boolean {
  return typeof id === "string" && type !== "item_reference" && type !== "local_shell_call_output";
}

/**
 * An item whose id an earlier one has: refused as it stands, taken as new without the id. Reasoning that is not sealed
 * is nothing but its id, and goes.
 */
function withoutId({ id: _id, ...piece }: Fields): Fields | undefined {
  return piece["type"] === "reasoning" && typeof piece["encrypted_content"] !== "string" ? undefined : piece;
}

function write(item: Item, how: Encoding): object | undefined {
  const from = item.origin?.format === FORMAT ? (item.origin.message as Fields) : undefined;
  if (from !== undefined) return patched(from, item, how);
  switch (item.kind) {
    case "user":
      return { type: "message", role: "user", content: item.parts.flatMap((part) => writePart(part, "input_text")) };
    case "system":
      return { type: "message", role: item.role, content: item.parts.flatMap((part) => writePart(part, "input_text")) };
    case "assistant":
      return {
        type: "message",
        role: "assistant",
        content: item.parts.flatMap((part) => writePart(part, "output_text")),
      };
    case "call":
      return item.server === true ? undefined : writeCall(item, how);
    case "output":
      return item.server === true ? undefined : writeOutput(item, how);
    default:
      return undefined;
  }
}

/** As it was read, with the ids it is sent under. An item cut loose from its reasoning loses the id it was known by. */
function patched(from: Fields, item: Item, how: Encoding): Fields {
  let piece = from;
  if (item.id === undefined && typeof from["id"] === "string") {
    const { id: _id, ...free } = from;
    piece = free;
  }
  if ((item.kind !== "call" && item.kind !== "output") || item.callId === undefined || item.server === true)
    return piece;
  const id = how.idOf(item.callId);
  const carried = item.kind === "output" ? answeredId(piece) : piece["call_id"];
  let renamed = carried === id ? piece : { ...piece, call_id: id };
  if (item.kind === "call" && item.inputText === undefined && isNamed(item)) {
    renamed = { ...renamed, [item.callKind === "custom" ? "input" : "arguments"]: inputText(item) };
  }
  const inName = item.kind === "output" ? item.name !== undefined : isNamed(item);
  const misnamed = inName && (asText(piece["name"]) ?? "") !== item.name;
  if (item.kind === "output" && !isResultFormed[FORMAT](piece)) renamed = { ...renamed, output: textOf(item.parts) };
  return misnamed ? { ...renamed, name: item.name } : renamed;
}

/** A shell and a search are not named in their calls. */
function isNamed({ callKind }: CallItem): boolean {
  return callKind === "function" || callKind === "custom";
}

function writeCall(call: CallItem, how: Encoding): object {
  const shared = { call_id: how.idOf(call.callId ?? toolCallId("")) };
  switch (call.callKind) {
    case "custom":
      return { type: "custom_tool_call", ...shared, name: call.name, input: inputText(call) };
    case "search":
      return { type: "tool_search_call", ...shared, execution: "client", arguments: call.input ?? {} };
    case "computer":
      return {
        type: "computer_call",
        ...shared,
        action: call.input ?? {},
        pending_safety_checks: [],
        status: "completed",
      };
    case "commands":
      return { type: "shell_call", ...shared, action: call.input ?? {}, status: "completed" };
    case "patch":
      return { type: "apply_patch_call", ...shared, operation: call.input ?? {}, status: "completed" };
    default:
      return { type: "function_call", ...shared, name: call.name, arguments: inputText(call) };
  }
}

function writeOutput(output: OutputItem, how: Encoding): object {
  const type = OUTPUT_TYPES[output.callKind];
  const id = output.callId === undefined ? {} : { call_id: how.idOf(output.callId) };
  if (output.callKind === "search")
    return { type, ...id, execution: "client", status: "completed", tools: output.value ?? [] };
  const parts = resultParts(output);
  const own = ownResult(output, parts);
  if (own !== undefined) return { type, ...id, ...own };
  const plain = parts.every((part) => part.type === "text");
  const named = output.callId === undefined && output.name !== undefined ? { name: output.name } : {};
  return {
    type,
    ...(output.id === undefined ? {} : { id: output.id }),
    ...id,
    ...named,
    output: plain ? resultText(parts) : parts.flatMap((part) => writePart(part, "input_text")),
  };
}

/** Kinds whose results have fields of their own. A screen is a picture, whatever else was said. */
function ownResult({ callKind, status }: OutputItem, parts: readonly Part[]): object | undefined {
  const text = resultText(parts);
  const ok = status === "success";
  if (callKind === "patch") return { status: ok ? "completed" : "failed", output: text };
  if (callKind === "commands") {
    const outcome = ok || status === "failed" ? { type: "exit", exit_code: ok ? 0 : 1 } : { type: "timeout" };
    return { output: [{ stdout: ok ? text : "", stderr: ok ? "" : text, outcome }] };
  }
  if (callKind !== "computer") return undefined;
  const picture = parts.find(isPicture);
  if (picture === undefined) return { output: { type: "computer_screenshot" } };
  return {
    output: ownPiece(picture, FORMAT) ?? {
      type: "computer_screenshot",
      image_url: mediaUrl(picture.media, "image/png"),
    },
  };
}

function isPicture(part: Part): part is Extract<Part, { readonly media: unknown }> {
  return part.type === "image";
}

function writePart(part: Part, text: "input_text" | "output_text"): readonly unknown[] {
  const own = ownPiece(part, FORMAT);
  if (own !== undefined) return [own];
  if (part.type === "text") return [{ type: text, text: part.text }];
  if (part.type === "image")
    return [{ type: "input_image", image_url: mediaUrl(part.media, "image/png"), detail: "auto" }];
  if (part.type === "audio") return [{ type: "input_audio", input_audio: writtenSound(part.media) }];
  if (part.type === "file") {
    const { url } = part.media;
    return [{ type: "input_file", ...(url === undefined ? writtenFile(part.media) : { file_url: url }) }];
  }
  return [];
}
