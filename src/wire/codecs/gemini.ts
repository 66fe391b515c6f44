import {
  type CallItem,
  type Item,
  type OutputItem,
  type Part,
  resultParts,
  resultText,
  spokenText,
  type ToolCallId,
  toolCallId,
} from "../item.ts";
import { typeOf } from "../media.ts";
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
import { UnnamedCalls } from "./gemini-ids.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import { asJson, inputObject, mediaSource, ownPiece, ownPieces, type Read, readRuns, textPart } from "./read.ts";
import { isResultFormed } from "./result-form.ts";

const FORMAT = "gemini";

/** Gemini contents: parts. Calls often carry no id; they are then matched by name and order, as the API does. */
export const gemini: Codec = {
  decode: (messages) => {
    const unnamed = new UnnamedCalls();
    return decodeWith(FORMAT, messages, (message, at) => readContent(message, at, unnamed));
  },
  encode,
};

function readContent(message: Fields, step: number, unnamed: UnnamedCalls): readonly Read[] | string {
  const role = message["role"] ?? "user";
  if (role !== "user" && role !== "model" && role !== "function") return `unknown role ${JSON.stringify(role)}`;
  if (!Array.isArray(message["parts"])) return "parts is not a list";
  if (isAnswer(message["parts"], role)) unnamed.beginAnswer();
  const answers = answeredIds(message["parts"], step, unnamed);
  const read = readRuns(
    message["parts"],
    (part, nth) => readPart(part, step, { nth, unnamed, answers }),
    (run) => plain(role, step, run),
  );
  return read.length === 0 ? [plain(role, step, [])] : read;
}

/** Calls are an answer's, under whatever role they stand: else a response without an id would find none. */
function isAnswer(parts: readonly unknown[], role: string): boolean {
  return role === "model" || parts.some((part) => isFields(part) && isFields(part["functionCall"]));
}

interface Reading {
  readonly nth: number;
  readonly unnamed: UnnamedCalls;
  /** Which call each response without an id answers. */
  readonly answers: ReadonlyMap<unknown, string>;
}

/** All responses of a message at once: one of a wrong name must not take the call of the next. */
function answeredIds(parts: readonly unknown[], message: number, unnamed: UnnamedCalls): ReadonlyMap<unknown, string> {
  const all = parts.map((part) => (isFields(part) ? part["functionResponse"] : undefined)).filter(isFields);
  for (const { id } of all) if (typeof id === "string") unnamed.settle(id);
  const responses = all.filter((response) => response["id"] === undefined);
  if (responses.length === 0) return new Map();
  const ids = unnamed.answers(
    responses.map((response) => asText(response["name"]) ?? ""),
    message,
  );
  return new Map(responses.map((response, at) => [response, ids[at] as string]));
}

function plain(role: string, step: number, pieces: readonly unknown[]): Read {
  const parts = pieces.map(readPlain);
  return { item: role === "model" ? { kind: "assistant", step, parts } : { kind: "user", parts }, pieces };
}

/** A part that is an item of its own, or nothing when it is text or media. */
function readPart(part: Fields, step: number, { nth, unnamed, answers }: Reading): Item | undefined {
  const call = part["functionCall"];
  const seal = asText(part["thoughtSignature"]);
  if (isFields(call)) {
    const name = asText(call["name"]) ?? "";
    return {
      kind: "call",
      callKind: "function",
      step,
      name,
      callId: toolCallId(unnamed.call(name, asText(call["id"]) ?? `call_m${step}_p${nth}`)),
      input: asJson(call["args"] ?? {}),
      ...(seal === undefined ? {} : { signature: seal }),
    };
  }
  const response = part["functionResponse"];
  if (isFields(response)) return withMedia(readOutput(response, answers), response);
  if (part["thought"] !== true) return undefined;
  return { kind: "reasoning", step, text: asText(part["text"]) ?? "", ...(seal ? { signature: seal } : {}) };
}

function readOutput(response: Fields, answers: ReadonlyMap<unknown, string>): OutputItem {
  const name = asText(response["name"]) ?? "";
  return {
    kind: "output",
    callKind: "function",
    callId: toolCallId(asText(response["id"]) ?? answers.get(response) ?? ""),
    name,
    ...readBody(response["response"]),
    parts: [],
  };
}

/** An `output` alone is what was returned. Beside an error or anything else it is one field of that. */
function readBody(body: unknown): Pick<OutputItem, "status" | "value"> {
  if (!isFields(body)) return { status: "success", value: asJson(body ?? {}) };
  const { output, error } = body;
  const alone = output !== undefined && Object.keys(body).length === 1;
  return { status: hasFailed(error) ? "failed" : "success", value: asJson(alone ? output : body) };
}

/** Tools that always have the field leave it empty when all went well. */
function hasFailed(error: unknown): boolean {
  return error !== undefined && error !== null && error !== "" && error !== false;
}

function readPlain(piece: unknown): Part {
  const part = fieldsOf(piece);
  const origin = { format: FORMAT, piece } as const;
  // A seal may come on a text of its own, without a word: dropped as blank, the thought it seals would be lost.
  if (part["text"] === "" && part["thoughtSignature"] !== undefined) return { type: "other", origin };
  if (typeof part["text"] === "string") return textPart(part["text"], origin);
  const data = part["inlineData"] ?? part["fileData"];
  if (!isFields(data)) return { type: "other", origin };
  const { mimeType: mediaType, data: base64, fileUri, displayName: name } = data;
  const family = asText(mediaType) ?? "";
  const type = family.startsWith("image/") ? "image" : family.startsWith("audio/") ? "audio" : "file";
  const source = KEPT_HERE.test(asText(fileUri) ?? "") ? { fileId: fileUri } : { url: fileUri };
  return { type, media: mediaSource({ ...source, base64, mediaType, name }), origin };
}

/** A result may hold pictures and files beside its words. */
function withMedia(output: OutputItem, { parts }: Fields): OutputItem {
  const media = asList(parts).map(readPlain);
  if (media.length === 0) return output;
  const { value: _value, ...rest } = output;
  return { ...rest, parts: [...resultParts(output), ...media] };
}

/** Addresses of files that lie with Google: whoever else fetches one is turned away. */
const KEPT_HERE = /^(gs:|https:\/\/generativelanguage\.googleapis\.com\/)/;

function encode(items: readonly Item[], how: Encoding): Encoded {
  const omitted: Item[] = [];
  const sent = items.filter((item) => item.kind !== "system" && (hasPlace(item, FORMAT) || !omitted.push(item)));
  const cut = bundles(sent, FORMAT, { joins: () => how.profile.alternates, roleIn: roleWithoutTool }, how);
  // Seals are asked for since the user last spoke; older answers are taken as they are.
  const turn = cut.findLastIndex(
    ({ role, items: said }) => role === "user" && !said.some(({ kind }) => kind === "output"),
  );
  const current = cut.slice(turn + 1).flatMap((bundle) => bundle.items);
  const writer = new Writer(how, sent.some(isSealed) || current.some(isForeignCall));
  const messages = cut.map((bundle, at) => writer.content(bundle, at, at > turn));
  const instructions = items.flatMap((item) => (item.kind === "system" ? [spokenText(item)] : []));
  return { messages, instructions, omitted };
}

function isSealed(item: Item): boolean {
  return item.kind === "call" && item.signature !== undefined;
}

/** A call of another model has no seal to bring, and is refused without one. Gemini's own may be an older model's. */
function isForeignCall(item: Item): boolean {
  return item.kind === "call" && item.origin?.format !== FORMAT;
}

/** Gemini documents this text for a call whose thought was not made here. */
const NO_THOUGHT = "skip_thought_signature_validator";

class Writer {
  readonly #how: Encoding;
  /** Calls that were read without an id: their outputs are written without one too. */
  readonly #bare = new Set<ToolCallId>();
  /** Whether the first call of every answer of the current turn must show a seal. */
  readonly #sealed: boolean;

  constructor(how: Encoding, sealed: boolean) {
    this.#how = how;
    this.#sealed = sealed;
  }

  content(bundle: Bundle, at: number, current: boolean): object {
    const same = pristine(bundle, FORMAT, (item) => this.#write(item)) as Fields | undefined;
    const parts = same === undefined ? bundle.items.flatMap((item) => this.#write(item)) : asList(same["parts"]);
    const sealed = this.#sealed && current && bundle.role === "assistant" ? seal(parts) : parts;
    if (sealed !== parts) this.#how.waived(at);
    else if (same !== undefined) return same;
    return { ...shellOf(bundle, FORMAT), role: bundle.role === "assistant" ? "model" : "user", parts: sealed };
  }

  #write(item: Item): readonly unknown[] {
    const from = ownPieces(item, FORMAT);
    switch (item.kind) {
      case "call":
        return this.#call(item, from);
      case "output":
        return this.#output(item, from);
      case "user":
      case "assistant":
        return from ?? item.parts.flatMap(writePlain);
      default:
        return from ?? [];
    }
  }

  #call(call: CallItem, from: readonly unknown[] | undefined): readonly unknown[] {
    const callId = call.callId ?? toolCallId("");
    const id = this.#how.idOf(callId);
    const part = from?.[0];
    const read = isFields(part) && isFields(part["functionCall"]) ? part["functionCall"] : undefined;
    if (read === undefined) return [{ functionCall: { id, name: call.name, args: inputObject(call) } }];
    if (read["id"] === undefined) this.#bare.add(callId);
    const sameId = read["id"] === undefined || read["id"] === id;
    const formed = read["args"] === undefined || isFields(read["args"]);
    if (sameId && formed && (asText(read["name"]) ?? "") === call.name) return from as readonly unknown[];
    const functionCall = {
      ...read,
      ...(sameId ? {} : { id }),
      name: call.name,
      ...(formed ? {} : { args: inputObject(call) }),
    };
    return [{ ...(part as Fields), functionCall }];
  }

  #output(output: OutputItem, from: readonly unknown[] | undefined): readonly unknown[] {
    const callId = output.callId ?? toolCallId("");
    const id = this.#bare.has(callId) ? undefined : this.#how.idOf(callId);
    const part = from?.[0];
    const read = isFields(part) && isFields(part["functionResponse"]) ? part["functionResponse"] : undefined;
    const named = { ...(id === undefined ? {} : { id }), name: output.name ?? "" };
    if (read === undefined)
      return [{ functionResponse: { ...named, response: responseOf(output), ...mediaOf(output) } }];
    const sameId = read["id"] === id || read["id"] === undefined;
    const formed = isResultFormed[FORMAT](part as Fields);
    if (sameId && read["name"] === output.name && formed) return from as readonly unknown[];
    const response = formed ? {} : { response: responseOf(output) };
    return [{ ...(part as Fields), functionResponse: { ...read, ...named, ...response } }];
  }
}

/** The first call of an answer must carry a seal; one that was read without, or lost its neighbour, gets the waiver. */
function seal(parts: readonly unknown[]): readonly unknown[] {
  const first = parts.findIndex((part) => isFields(part) && part["functionCall"] !== undefined);
  const part = parts[first];
  if (!isFields(part) || part["thoughtSignature"] !== undefined) return parts;
  return parts.with(first, { ...part, thoughtSignature: NO_THOUGHT });
}

function responseOf(output: OutputItem): Fields {
  const text = resultText(resultParts(output));
  const { value } = output;
  if (output.status !== "success") return isFields(value) && hasFailed(value["error"]) ? value : { error: text };
  return { output: output.value ?? text };
}

function writePlain(part: Part): readonly unknown[] {
  const own = ownPiece(part, FORMAT);
  if (own !== undefined) return [own];
  if (part.type === "text") return [{ text: part.text }];
  if (part.type === "other") return [];
  const { url, base64 } = part.media;
  const mimeType = typeOf(part);
  return url === undefined
    ? [{ inlineData: { mimeType, data: base64 ?? "" } }]
    : [{ fileData: { mimeType, fileUri: url } }];
}

/** What was read beside the words of a result here. Other media was moved into a message. */
function mediaOf({ parts }: OutputItem): object {
  const own = parts.flatMap((part) => (part.type === "text" ? [] : writePlain(part)));
  return own.length === 0 ? {} : { parts: own };
}
