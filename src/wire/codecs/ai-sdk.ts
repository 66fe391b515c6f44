import { deniedWords } from "../denial.ts";
import {
  type ApprovalAnswerItem,
  type CallItem,
  type Item,
  type OutputItem,
  type Part,
  resultParts,
  resultText,
  spokenText,
  type SystemItem,
  toolCallId,
} from "../item.ts";
import { readMedia } from "./ai-sdk-media.ts";
import { typeOf } from "../media.ts";
import {
  type Bundle,
  bundles,
  type Codec,
  type Encoded,
  type Encoding,
  pristine,
  type Role,
  roleOf,
  shellOf,
} from "./codec.ts";
import { decodeWith } from "./decode.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import { asJson, inputObject, mediaUrl, ownPiece, ownPieces, type Read, readRuns, textPart } from "./read.ts";
import { isResultFormed, isSilentFailure, looseResult } from "./result-form.ts";

const FORMAT = "ai-sdk";

/** AI SDK model messages: parts; results and approval answers in `tool` messages. */
export const aiSdk: Codec = {
  decode: (messages) => decodeWith(FORMAT, messages, readMessage),
  encode,
};

type Speaker = "system" | "user" | "assistant";

function readMessage(message: Fields, step: number): readonly Read[] | string {
  const { role, content } = message;
  if (role === "system" || role === "user" || role === "assistant") {
    if (typeof content === "string") return [plain(role, step, [content])];
  } else if (role !== "tool") return `unknown role ${JSON.stringify(role)}`;
  if (!Array.isArray(content)) return "content is neither text nor a list";
  const own = ownCalls(content);
  const read = readRuns(
    content,
    (part) => readPart(part, step, role === "assistant" && !own.has(part["toolCallId"])),
    (run) => (role === "tool" ? opaque(run) : plain(role, step, run)),
  );
  if (read.length > 0) return read;
  return role === "tool" ? "a tool message without parts" : [plain(role, step, [])];
}

/** The calls of a message that the host runs: a result of one, also when it was kept beside its call, is the host's. */
function ownCalls(content: readonly unknown[]): ReadonlySet<unknown> {
  const calls = content.filter(isFields).filter((part) => part["type"] === "tool-call");
  return new Set(calls.flatMap((call) => (call["providerExecuted"] === true ? [] : [call["toolCallId"]])));
}

function plain(role: Speaker, step: number, pieces: readonly unknown[]): Read {
  const parts = pieces.map(readPlain);
  if (role === "assistant") return { item: { kind: "assistant", step, parts }, pieces };
  if (role === "system") return { item: { kind: "system", role, parts }, pieces };
  return { item: { kind: "user", parts }, pieces };
}

function opaque(pieces: readonly unknown[]): Read {
  return { item: { kind: "other", by: "host" }, pieces };
}

function readPart(part: Fields, step: number, byModel: boolean): Item | undefined {
  switch (part["type"]) {
    case "tool-call":
      return readCall(part, step);
    case "tool-result":
      return readOutput(part, byModel ? step : undefined);
    case "reasoning":
      return { kind: "reasoning", step, text: asText(part["text"]) ?? "" };
    case "tool-approval-request":
      return {
        kind: "approval-request",
        step,
        approvalId: asText(part["approvalId"]) ?? "",
        callId: toolCallId(asText(part["toolCallId"]) ?? ""),
      };
    case "tool-approval-response":
      return {
        kind: "approval-answer",
        approvalId: asText(part["approvalId"]) ?? "",
        approved: part["approved"] === true,
        ...reasonOf(part),
      };
    default:
      return undefined;
  }
}

function reasonOf({ reason }: Fields): { readonly reason?: string } {
  return typeof reason === "string" ? { reason } : {};
}

function readCall(part: Fields, step: number): CallItem {
  const id = asText(part["toolCallId"]);
  const input = part["input"] ?? part["args"]; // its name in older messages
  return {
    kind: "call",
    callKind: "function",
    step,
    name: asText(part["toolName"]) ?? "",
    ...(id === undefined ? {} : { callId: toolCallId(id) }),
    ...(typeof input === "string" ? { inputText: input } : { input: asJson(input ?? {}) }),
    ...(part["providerExecuted"] === true ? { server: true } : {}),
  };
}

/** A result inside an assistant message was run by the provider. */
function readOutput(part: Fields, step: number | undefined): OutputItem {
  const name = asText(part["toolName"]);
  const output = fieldsOf(part["output"]);
  const type = asText(output["type"]) ?? "";
  const value = type === "execution-denied" ? deniedWords(asText(output["reason"])) : output["value"];
  return {
    kind: "output",
    callKind: "function",
    callId: toolCallId(asText(part["toolCallId"]) ?? ""),
    ...(name === undefined ? {} : { name }),
    status: type === "execution-denied" ? "canceled" : type.startsWith("error") ? "failed" : "success",
    ...(type === "execution-denied" ? { reason: "denied" } : {}),
    parts: !isResultFormed[FORMAT](part)
      ? looseResult(part["output"] ?? part["result"])
      : typeof value === "string"
        ? [textPart(value)]
        : type === "content"
          ? asList(value).map(readPlain)
          : [],
    ...(value === undefined || typeof value === "string" || type === "content" ? {} : { value: asJson(value) }),
    ...(step === undefined ? {} : { server: true, step }),
  };
}

function readPlain(piece: unknown): Part {
  if (typeof piece === "string") return textPart(piece);
  const part = fieldsOf(piece);
  const origin = { format: FORMAT, piece } as const;
  if (part["type"] === "text") return textPart(asText(part["text"]) ?? "", origin);
  return readMedia(part, origin) ?? { type: "other", origin };
}

function encode(items: readonly Item[], how: Encoding): Encoded {
  const omitted: Item[] = [];
  const messages: object[] = [];
  const sent = items.filter((item) => isSendable(item) || !omitted.push(item));
  const joins = (role: Role) => how.profile.alternates && role !== "system";
  for (const bundle of bundles(sent, FORMAT, { joins, roleIn }, how)) {
    messages.push(pristine(bundle, FORMAT, (item) => write(item, how)) ?? rebuild(bundle, how));
  }
  return { messages, instructions: [], omitted };
}

/** Something unknown that was read from a tool message goes back into one. */
function roleIn(item: Item): Role {
  const read = item.origin?.format === FORMAT ? (item.origin.message as Fields)["role"] : undefined;
  return item.kind === "other" && read === "tool" ? "tool" : roleOf(item);
}

function isSendable(item: Item): boolean {
  if (item.origin?.format === FORMAT || item.kind === "reasoning") return true;
  if (item.kind === "call" || item.kind === "output") return item.server !== true && item.callId !== undefined;
  return item.kind !== "other";
}

function rebuild(bundle: Bundle, how: Encoding): object {
  const { role } = bundle;
  if (role === "system")
    return { role, content: bundle.items.map((item) => spokenText(item as SystemItem)).join("\n") };
  const content = bundle.items.flatMap((item) => write(item, how));
  return {
    ...shellOf(bundle, FORMAT),
    role,
    content: content.map((piece) => (typeof piece === "string" ? { type: "text", text: piece } : piece)),
  };
}

function write(item: Item, how: Encoding): readonly unknown[] {
  const from = ownPieces(item, FORMAT);
  switch (item.kind) {
    case "call":
      return writeCall(item, from, how);
    case "output":
      return writeOutput(item, from, how);
    case "user":
    case "assistant":
    case "system":
      return from ?? item.parts.flatMap(writePlain);
    case "reasoning":
      return from ?? [{ type: "reasoning", text: item.text }];
    case "approval-request":
      return writeRequest(item.approvalId, item.callId === undefined ? "" : how.idOf(item.callId), from);
    case "approval-answer":
      return from ?? [writeConsent(item)];
    default:
      return from ?? [];
  }
}

function writeConsent({ approvalId, approved, reason }: ApprovalAnswerItem): object {
  return { type: "tool-approval-response", approvalId, approved, ...(reason === undefined ? {} : { reason }) };
}

function writeRequest(
  approvalId: string,
  toolCallId: string,
  from: readonly unknown[] | undefined,
): readonly unknown[] {
  const piece = from?.[0];
  if (isFields(piece) && piece["toolCallId"] === toolCallId) return from as readonly unknown[];
  return [{ type: "tool-approval-request", approvalId, toolCallId }];
}

function writeCall(call: CallItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  const id = how.idOf(call.callId ?? toolCallId(""));
  const piece = from?.[0];
  if (!isFields(piece)) return [{ type: "tool-call", toolCallId: id, toolName: call.name, input: inputObject(call) }];
  if (piece["toolCallId"] === id && "input" in piece && (asText(piece["toolName"]) ?? "") === call.name)
    return from as readonly unknown[];
  const { args: _args, ...rest } = piece;
  return [
    { ...rest, toolCallId: id, toolName: call.name, input: "input" in piece ? piece["input"] : inputObject(call) },
  ];
}

function writeOutput(output: OutputItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  const id = how.idOf(output.callId ?? toolCallId(""));
  const piece = from?.[0];
  const toolName = output.name ?? "";
  if (!isFields(piece)) return [{ type: "tool-result", toolCallId: id, toolName, output: resultOf(output) }];
  const formed = isResultFormed[FORMAT](piece) && !isSilentFailure(piece, FORMAT);
  if (piece["toolCallId"] === id && piece["toolName"] === output.name && formed) return from as readonly unknown[];
  if (formed) return [{ ...piece, toolCallId: id, toolName }];
  const { result: _result, ...rest } = piece;
  return [{ ...rest, toolCallId: id, toolName, output: resultOf(output) }];
}

function resultOf(output: OutputItem): object {
  if (output.reason === "denied") return { type: "execution-denied", reason: resultText(output.parts) };
  if (output.value !== undefined)
    return { type: output.status === "success" ? "json" : "error-json", value: output.value };
  const parts = resultParts(output);
  if (parts.every((part) => part.type === "text")) {
    return { type: output.status === "success" ? "text" : "error-text", value: resultText(parts) };
  }
  return { type: "content", value: parts.flatMap(writePlain) };
}

function writePlain(part: Part): readonly unknown[] {
  const own = ownPiece(part, FORMAT);
  if (own !== undefined) return [own];
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "other") return [];
  const { base64, name } = part.media;
  const mediaType = typeOf(part);
  const named = name === undefined ? {} : { filename: name };
  return [{ type: "file", mediaType, data: base64 ?? mediaUrl(part.media, mediaType), ...named }];
}
