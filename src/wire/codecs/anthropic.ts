import {
  type CallItem,
  type Item,
  type MediaSource,
  type OutputItem,
  type Part,
  resultParts,
  resultText,
  spokenText,
  textOf,
  toolCallId,
} from "../item.ts";
import {
  type Bundle,
  bundles,
  type Codec,
  type Encoded,
  type Encoding,
  hasPlace,
  pristine,
  roleWithoutTool,
  shellOf,
} from "./codec.ts";
import { decodeWith } from "./decode.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import {
  asJson,
  FORMLESS,
  inlineText,
  inputObject,
  ownPiece,
  ownPieces,
  mediaSource,
  type Read,
  readRuns,
  textPart,
} from "./read.ts";
import { isResultFormed, isSilentFailure, looseResult } from "./result-form.ts";

const FORMAT = "anthropic";

type Step = number | string;

/** Anthropic messages: blocks. Calls in an assistant message, all their results first in the next user message. */
export const anthropic: Codec = {
  decode: (messages) => decodeWith(FORMAT, messages, readMessage),
  encode,
};

function readMessage(message: Fields, at: number): readonly Read[] | string {
  const { role, content } = message;
  // Hosts that store an answer in pieces give each piece the id of the whole: they are one batch.
  const step = asText(message["id"]) ?? at;
  if (role !== "user" && role !== "assistant" && role !== "system") return `unknown role ${JSON.stringify(role)}`;
  if (typeof content === "string" || content === undefined || content === null) {
    return [plain(role, step, content === undefined || content === null ? [] : [content as string])];
  }
  if (!Array.isArray(content)) return FORMLESS;
  const read = readRuns(
    content,
    (block) => readBlock(block, step),
    (run) => plain(role, step, run),
  );
  return read.length === 0 ? [plain(role, step, [])] : read;
}

/** Neighbouring blocks of text and media: one item of whoever speaks. */
function plain(role: "user" | "assistant" | "system", step: Step, pieces: readonly unknown[]): Read {
  const parts = pieces.map(readPart);
  if (role === "assistant") return { item: { kind: "assistant", step, parts }, pieces };
  if (role === "system") return { item: { kind: "system", role: "system", parts }, pieces };
  return { item: { kind: "user", parts }, pieces };
}

/** A block that is an item of its own, or nothing when it is text or media. */
function readBlock(block: Fields, step: Step): Item | undefined {
  const type = asText(block["type"]) ?? "";
  if (type === "thinking") {
    return {
      kind: "reasoning",
      step,
      text: asText(block["thinking"]) ?? "",
      signature: asText(block["signature"]) ?? "",
    };
  }
  if (type === "redacted_thinking") {
    return { kind: "reasoning", step, text: "", signature: asText(block["data"]) ?? "" };
  }
  if (type === "tool_use") return readCall(block, step, false);
  if (type.endsWith("_tool_use")) return readCall(block, step, true); // server_tool_use, mcp_tool_use
  if (type === "tool_result") return readOutput(block, false);
  if (type.endsWith("_tool_result")) return { ...readOutput(block, true), step }; // web_search_tool_result, …
  return undefined;
}

function readCall(block: Fields, step: Step, server: boolean): CallItem {
  const { input } = block;
  const id = asText(block["id"]);
  return {
    kind: "call",
    callKind: "function",
    step,
    name: asText(block["name"]) ?? "",
    ...(id === undefined ? {} : { callId: toolCallId(id) }),
    ...(typeof input === "string" ? { inputText: input } : { input: asJson(input ?? {}) }),
    ...(server ? { server } : {}),
  };
}

function readOutput(block: Fields, server: boolean): OutputItem {
  const { content } = block;
  return {
    kind: "output",
    callKind: "function",
    callId: toolCallId(asText(block["tool_use_id"]) ?? ""),
    status: block["is_error"] === true ? "failed" : "success",
    parts:
      !server && !isResultFormed[FORMAT](block)
        ? looseResult(content)
        : typeof content === "string"
          ? [textPart(content)]
          : asList(content).map(readPart),
    ...(server ? { server } : {}),
  };
}

function readPart(piece: unknown): Part {
  if (typeof piece === "string") return textPart(piece);
  const block = fieldsOf(piece);
  if (block["type"] === "text") return textPart(asText(block["text"]) ?? "", { format: FORMAT, piece });
  if (block["type"] === "image" || block["type"] === "document") {
    const source = fieldsOf(block["source"]);
    const media = readSource(source, asText(block["title"]));
    return { type: block["type"] === "image" ? "image" : "file", media, origin: { format: FORMAT, piece } };
  }
  if (block["type"] === "search_result") return textPart(searchText(block), { format: FORMAT, piece });
  return { type: "other", origin: { format: FORMAT, piece } };
}

/** What a picture or a document holds; of one that holds pictures among words only its name. */
function readSource(source: Fields, title: string | undefined): MediaSource {
  const { type, data, content, url, media_type: mediaType, file_id: fileId } = source;
  const name = title === undefined ? {} : { name: title };
  const text = type === "text" ? asText(data) : type === "content" ? textIn(content) : undefined;
  if (text !== undefined) return { ...inlineText(text), ...name };
  return { ...mediaSource({ url, base64: data, mediaType, fileId }), ...name };
}

function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const texts = asList(content).map((block) => (isFields(block) ? asText(block["text"]) : undefined));
  return texts.includes(undefined) ? undefined : texts.join("\n");
}

function searchText({ title, source, content }: Fields): string {
  return `[${asText(title) ?? ""}, ${asText(source) ?? ""}]\n${textIn(content) ?? ""}`;
}

function encode(items: readonly Item[], how: Encoding): Encoded {
  const omitted: Item[] = [];
  const messages: object[] = [];
  const sent = items.filter((item) => item.kind !== "system" && (hasPlace(item, FORMAT) || !omitted.push(item)));
  const cutting = { joins: () => how.profile.alternates, roleIn: roleWithoutTool };
  for (const bundle of bundles(sent, FORMAT, cutting, how)) {
    messages.push(pristine(bundle, FORMAT, (item) => write(item, how)) ?? rebuild(bundle, how));
  }
  return { messages, instructions: items.flatMap(instruction), omitted };
}

function instruction(item: Item): readonly string[] {
  return item.kind === "system" ? [spokenText(item)] : [];
}

function rebuild(bundle: Bundle, how: Encoding): object {
  return { ...shellOf(bundle, FORMAT), role: bundle.role, content: content(bundle, how) };
}

function content({ items }: Bundle, how: Encoding): readonly unknown[] {
  return items
    .flatMap((item) => write(item, how))
    .map((piece) => (typeof piece === "string" ? textBlock(piece) : piece));
}

function textBlock(text: string): object {
  return { type: "text", text };
}

/** The blocks of one item: as they were read, with the id it is sent under. */
function write(item: Item, how: Encoding): readonly unknown[] {
  const from = ownPieces(item, FORMAT);
  switch (item.kind) {
    case "call":
      return writeCall(item, from, how);
    case "output":
      return writeOutput(item, from, how);
    case "user":
    case "assistant":
      return from ?? item.parts.flatMap(writePart);
    default:
      return from ?? [];
  }
}

function writeCall(call: CallItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  if (call.server === true) return from ?? [];
  const id = how.idOf(call.callId ?? toolCallId(""));
  const piece = from?.[0];
  if (!isFields(piece)) return [{ type: "tool_use", id, name: call.name, input: inputObject(call) }];
  const named = (asText(piece["name"]) ?? "") === call.name;
  if (piece["id"] === id && named && isFields(piece["input"])) return from as readonly unknown[];
  return [{ ...piece, id, name: call.name, input: inputObject(call) }];
}

function writeOutput(output: OutputItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  if (output.server === true) return from ?? [];
  const id = how.idOf(output.callId ?? toolCallId(""));
  const piece = from?.[0];
  if (isFields(piece)) {
    const formed = isResultFormed[FORMAT](piece) && !isSilentFailure(piece, FORMAT);
    if (piece["tool_use_id"] === id && formed) return from as readonly unknown[];
    return [{ ...piece, ...(formed ? {} : { content: textOf(output.parts) }), tool_use_id: id }];
  }
  const parts = resultParts(output);
  const plainText = parts.every((part) => part.type === "text");
  const block = {
    type: "tool_result",
    tool_use_id: id,
    content: plainText ? resultText(parts) : parts.flatMap(writePart),
  };
  return [output.status === "success" ? block : { ...block, is_error: true }];
}

function writePart(part: Part): readonly unknown[] {
  const own = ownPiece(part, FORMAT);
  if (own !== undefined) return [own];
  if (part.type === "text") return [textBlock(part.text)];
  if (part.type === "image" || part.type === "file") {
    const { url, base64, mediaType } = part.media;
    const type = part.type === "image" ? "image" : "document";
    if (url !== undefined) return [{ type, source: { type: "url", url } }];
    const fallback = part.type === "image" ? "image/png" : "application/pdf";
    return [{ type, source: { type: "base64", media_type: mediaType ?? fallback, data: base64 ?? "" } }];
  }
  return [];
}
