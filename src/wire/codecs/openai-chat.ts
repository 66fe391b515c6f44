import {
  type AssistantItem,
  type CallItem,
  type Item,
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
  type Role,
  roleOf,
  shellOf,
} from "./codec.ts";
import { decodeWith } from "./decode.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import {
  FORMLESS,
  inputText,
  isContent,
  ownPiece,
  ownPieces,
  mediaSource,
  mediaUrl,
  type Read,
  readFile,
  readSound,
  textPart,
  writtenFile,
  writtenSound,
} from "./read.ts";
import { holds, isThinking, isThought, THOUGHT_FIELDS, thinkingIn } from "./chat-thoughts.ts";
import { isResultFormed, looseResult } from "./result-form.ts";

const FORMAT = "openai-chat";

/** OpenAI chat completions: `tool_calls` on an assistant message, then one `tool` message for each. */
export const openaiChat: Codec = {
  decode: (messages) => {
    const custom = new Set<string>();
    return decodeWith(FORMAT, messages, (message, at) => readMessage(message, at, custom));
  },
  encode,
};

function readMessage(message: Fields, at: number, custom: Set<string>): readonly Read[] | string {
  const whole = [message];
  const { role, content } = message;
  const calls = asList(message["tool_calls"]);
  const mayMiss = (role !== "user" && role !== "system" && role !== "developer") || calls.length > 0;
  const missing = content === undefined || content === null;
  if (role !== "tool" && !isContent(content) && !(mayMiss && missing)) return FORMLESS;
  switch (role) {
    case "system":
    case "developer":
      return [
        ...(missing ? [] : [{ item: { kind: "system", role, parts: readParts(content) } as const, pieces: whole }]),
        ...readCalls(calls, at, custom),
      ];
    case "user":
      return [
        ...(missing ? [] : [{ item: { kind: "user", parts: readParts(content) } as const, pieces: whole }]),
        ...readCalls(calls, at, custom),
      ];
    case "assistant":
      return readAssistant(message, at, custom);
    case "tool":
      return [{ item: readOutput(message, custom), pieces: whole }];
    case "function": // the older form of a result: still taken, and bound to its call by place alone
      return [{ item: { kind: "other", by: "host" }, pieces: whole }];
    default:
      return `unknown role ${JSON.stringify(role)}`;
  }
}

function readAssistant(message: Fields, step: number, custom: Set<string>): readonly Read[] {
  const calls = asList(message["tool_calls"]);
  const parts = readParts(spokenIn(message["content"]));
  const read: Read[] = [];
  if (calls.length === 0 && textOf(parts).trim() === "" && speaksBeside(message))
    return [{ item: { kind: "other", by: "model", step }, pieces: [message] }];
  if (calls.length === 0 || parts.length > 0)
    read.push({ item: { kind: "assistant", step, parts }, pieces: [message] });
  return [...read, ...readCalls(calls, step, custom)];
}

function readCalls(calls: readonly unknown[], step: number, custom: Set<string>): readonly Read[] {
  return calls.map((call) => {
    const item = readCall(fieldsOf(call), step);
    if (item.callKind === "custom" && item.callId !== undefined) custom.add(item.callId);
    return { item, pieces: [call] };
  });
}

/** Where an answer may stand instead of its content: a refusal, a recording, the older form of a call, a thought. */
const BESIDE: readonly string[] = ["refusal", "audio", "function_call", ...THOUGHT_FIELDS];

function speaksBeside(message: Fields): boolean {
  return BESIDE.some((field) => holds(message[field])) || isThought(message);
}

/** Thinking stands beside what is said, though it came in one list with it: to another provider it would be words. */
function spokenIn(content: unknown): unknown {
  return Array.isArray(content) && content.some(isThinking) ? content.filter((part) => !isThinking(part)) : content;
}

function readCall(call: Fields, step: number): CallItem {
  const custom = call["type"] === "custom";
  const body = call[custom ? "custom" : "function"];
  const fields = fieldsOf(body);
  const text = fields[custom ? "input" : "arguments"];
  const id = asText(call["id"]);
  return {
    kind: "call",
    callKind: custom ? "custom" : "function",
    step,
    name: asText(fields["name"]) ?? "",
    ...(id === undefined ? {} : { callId: toolCallId(id) }),
    ...(typeof text === "string" ? { inputText: text } : { input: (text ?? {}) as never }),
  };
}

/** Chat has one kind of tool message for both kinds of call: only the id says which it answers. */
function readOutput(message: Fields, custom: ReadonlySet<string>): OutputItem {
  const id = asText(message["tool_call_id"]) ?? "";
  const name = asText(message["name"]);
  return {
    kind: "output",
    callKind: custom.has(id) ? "custom" : "function",
    status: "success",
    callId: toolCallId(id),
    ...(name === undefined ? {} : { name }),
    parts: isResultFormed[FORMAT](message) ? readParts(message["content"]) : looseResult(message["content"]),
  };
}

function readParts(content: unknown): readonly Part[] {
  if (typeof content === "string") return [textPart(content)];
  return asList(content).map((piece): Part => {
    const part = fieldsOf(piece);
    if (part["type"] === "text") return textPart(asText(part["text"]) ?? "", { format: FORMAT, piece });
    if (part["type"] === "refusal") return textPart(asText(part["refusal"]) ?? "", { format: FORMAT, piece });
    const origin = { format: FORMAT, piece } as const;
    if (part["type"] === "image_url") return readPicture(part);
    if (part["type"] === "input_audio")
      return { type: "audio", media: readSound(fieldsOf(part["input_audio"])), origin };
    if (part["type"] === "file") return { type: "file", media: readFile(fieldsOf(part["file"])), origin };
    return { type: "other", origin };
  });
}

/** Hosts write its address alone, which is refused: it is read as the picture that they meant. */
function readPicture(part: Fields): Part {
  const { image_url: shown } = part;
  const piece = typeof shown === "string" ? { ...part, image_url: { url: shown } } : part;
  return {
    type: "image",
    media: mediaSource({ url: fieldsOf(piece["image_url"])["url"] }),
    origin: { format: FORMAT, piece },
  };
}

function encode(items: readonly Item[], how: Encoding): Encoded {
  const omitted: Item[] = [];
  const messages: object[] = [];
  const joins = (role: Role) => how.profile.alternates && (role === "user" || role === "assistant");
  const sent = items.filter((item) => hasPlace(item, FORMAT) || !omitted.push(item));
  for (const bundle of bundles(sent, FORMAT, { joins, roleIn }, how)) {
    const same = pristine(bundle, FORMAT, (item) => write(item, how));
    messages.push(...(same === undefined ? rebuild(bundle, how) : [same]));
  }
  return { messages, instructions: [], omitted };
}

/** An older result is nobody's to join: to the user's words it would be theirs. */
function roleIn(item: Item): Role {
  const read = item.origin?.format === FORMAT ? (item.origin.message as Fields)["role"] : undefined;
  return item.kind === "other" && read === "function" ? "tool" : roleOf(item);
}

function rebuild(bundle: Bundle, how: Encoding): readonly object[] {
  const [first] = bundle.items as [Item];
  switch (first.kind) {
    case "system":
      return bundle.items.map((item) => ({ role: (item as { role: string }).role, content: content([item]) }));
    case "output":
      return bundle.items.map((item) => write(item, how)[0] as object);
    case "user":
      return [user(bundle)];
    default:
      return assistant(bundle, how);
  }
}

function user(bundle: Bundle): object {
  const { tool_calls: _calls, ...shell } = shellOf(bundle, FORMAT); // not the user's: they stand in an answer of their own
  return { ...shell, role: "user", content: content(bundle.items) };
}

function assistant(bundle: Bundle, how: Encoding): readonly object[] {
  const texts = bundle.items.filter((item) => item.kind === "assistant");
  const calls = bundle.items.filter((item) => item.kind === "call");
  const { tool_calls: _calls, content: _content, ...shell } = shellsOf(bundle);
  const thoughts = messagesOf(bundle).flatMap((message) => thinkingIn(message["content"]));
  const silent = texts.length === 0 && thoughts.length === 0;
  const message = { ...shell, role: "assistant", content: silent ? null : content(texts, thoughts) };
  return [calls.length === 0 ? message : { ...message, tool_calls: calls.flatMap((call) => write(call, how)) }];
}

/** The fields of all messages that became one: a second thought is kept below the first, not instead of it. */
function shellsOf(bundle: Bundle): Fields {
  const fields: Record<string, unknown> = {};
  for (const shell of messagesOf(bundle)) {
    for (const [key, value] of Object.entries(shell)) {
      const before = fields[key];
      if (before === undefined || before === null || before === "") fields[key] = value;
      else if (BESIDE.includes(key) && typeof before === "string" && typeof value === "string" && value !== "") {
        fields[key] = `${before}\n${value}`;
      } else if (BESIDE.includes(key) && Array.isArray(before) && Array.isArray(value)) {
        fields[key] = [...(before as unknown[]), ...(value as unknown[])];
      }
    }
  }
  return fields;
}

function messagesOf({ items }: Bundle): readonly Fields[] {
  return [...new Set(items.flatMap(({ origin }) => (origin?.format === FORMAT ? [origin.message as Fields] : [])))];
}

/** Text as a string where text is all there is; texts that must stay apart, and anything else, as parts. */
function content(items: readonly Item[], thoughts: readonly Fields[] = []): string | readonly unknown[] {
  const parts = items.flatMap((item) => (item as AssistantItem).parts);
  const phases = new Set(items.map((item) => (item as AssistantItem).phase));
  if (parts.every((part) => part.type === "text") && phases.size < 2 && thoughts.length === 0) {
    return items.map((item) => spokenText(item as AssistantItem)).join("\n");
  }
  return [...thoughts, ...parts.flatMap(writePart)];
}

function writePart(part: Part): readonly unknown[] {
  const own = ownPiece(part, FORMAT);
  if (own !== undefined) return [own];
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type === "image") return [{ type: "image_url", image_url: { url: mediaUrl(part.media, "image/png") } }];
  if (part.type === "audio") return [{ type: "input_audio", input_audio: writtenSound(part.media) }];
  if (part.type === "file") return [{ type: "file", file: writtenFile(part.media) }];
  return [];
}

/** The pieces of one item: as they were read, with the id and the name it is sent under. */
function write(item: Item, how: Encoding): readonly unknown[] {
  const from = ownPieces(item, FORMAT);
  if (item.kind === "call") return writeCall(item, from, how);
  if (item.kind === "output") return writeOutput(item, from, how);
  return from ?? [];
}

function writeCall(call: CallItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  const id = how.idOf(call.callId ?? toolCallId(""));
  const piece = from?.[0];
  const { name } = call;
  const kind = call.callKind === "custom" ? "custom" : "function";
  const body = fieldsOf(fieldsOf(piece)[kind]);
  if (isFields(piece) && call.inputText !== undefined) {
    const named = (asText(body["name"]) ?? "") === name;
    if (piece["id"] === id && named) return from as readonly unknown[];
    return [{ ...piece, id, ...(named ? {} : { [kind]: { ...body, name } }) }];
  }
  return call.callKind === "custom"
    ? [{ id, type: "custom", custom: { name, input: inputText(call) } }]
    : [{ id, type: "function", function: { name, arguments: inputText(call) } }];
}

function writeOutput(output: OutputItem, from: readonly unknown[] | undefined, how: Encoding): readonly unknown[] {
  const id = how.idOf(output.callId ?? toolCallId(""));
  const piece = from?.[0];
  if (!isFields(piece)) {
    const parts = resultParts(output);
    const text = parts.every((part) => part.type === "text") ? resultText(parts) : parts.flatMap(writePart);
    return [{ role: "tool", tool_call_id: id, content: text }];
  }
  const formed = isResultFormed[FORMAT](piece);
  if (piece["tool_call_id"] === id && asText(piece["name"]) === output.name && formed)
    return from as readonly unknown[];
  const text = formed ? {} : { content: textOf(output.parts) };
  return [{ ...piece, ...text, tool_call_id: id, ...(output.name === undefined ? {} : { name: output.name }) }];
}
