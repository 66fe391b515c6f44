import type { JsonObject } from "../../base/json.ts";
import type { ModelRequest, ReasoningEffort } from "../../contracts/model.ts";
import { asList, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { WireProfile } from "../../wire/profiles.ts";
import { writeMessages } from "../../wire/project.ts";
import { wordOf } from "../fields.ts";
import { wholeSchema, writtenOnce } from "../offers.ts";
import { mustBeSendable } from "../send.ts";
import type { SentShape } from "../sent.ts";

export interface Writing {
  readonly profile: WireProfile;
  /** The version of the SDK's contract that the model keeps. */
  readonly version: string;
  /** OpenAI stands behind the SDK, which then takes no effort for a model whose name it does not know. */
  readonly isOpenAi: boolean;
  /** Ours, by provider. */
  readonly ownOptions: Readonly<Record<string, JsonObject>>;
  /** The caller's, which win. */
  readonly providerOptions: JsonObject;
}

/** The options of one call to a language model of the SDK. */
export function callOptions(request: ModelRequest, how: Writing): object {
  const { tools = [], toolChoice, maxOutputTokens, temperature, reasoning } = request;
  const { messages } = writeMessages(request.items, how.profile);
  const offered = tools.length === 0 ? {} : { tools: offers(tools) };
  mustBeSendable({ messages, ...offered }, how.profile);
  const isNewest = how.version === "v4";
  const providerOptions = merged(withEffort(how, reasoning), how.providerOptions);
  return {
    prompt: messages.map((message) => asPrompt(fieldsOf(message), how.version)),
    ...offered,
    ...(toolChoice === undefined ? {} : { toolChoice: choice(toolChoice) }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined || !isNewest ? {} : { reasoning }),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
  };
}

/** Whoever asks for an effort knows that the model takes one; the SDK's list of names is older than the newest model. */
function withEffort({ isOpenAi, ownOptions }: Writing, effort: ReasoningEffort | undefined): Writing["ownOptions"] {
  if (effort === undefined || !isOpenAi) return ownOptions;
  return { ...ownOptions, openai: { ...ownOptions["openai"], reasoningEffort: effort, forceReasoning: true } };
}

function merged(ours: Writing["ownOptions"], theirs: JsonObject): JsonObject {
  const both = Object.entries(ours).map(([name, own]) => [name, { ...own, ...fieldsOf(theirs[name]) }]);
  return { ...theirs, ...Object.fromEntries(both) };
}

/** How the options of a call are read back. */
export const OPTIONS_SENT: SentShape = {
  described: (tool) => tool,
  schema: "inputSchema",
  demanded: ({ toolChoice }) => fieldsOf(toolChoice)["toolName"],
  speaking: ["instructions", "prompt", "previousResponseId", "conversation", "mcpServers", "container"],
};

/** A message as the SDK hands it to its providers: everything in parts, pictures as files, arguments as values. */
function asPrompt(message: Fields, version: string): Fields {
  const { role, content } = message;
  if (role === "system") return { ...message, content: systemText(content) };
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : asList(content);
  return {
    ...message,
    content: parts
      .map(fieldsOf)
      .filter(isPrompted)
      .map((part) => asPart(part, version)),
  };
}

function systemText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map((part) => wordOf(fieldsOf(part)["text"]) ?? "")
    .join("\n");
}

/** The question for an approval is the host's own; models are told only the answer. */
function isPrompted({ type }: Fields): boolean {
  return type !== "tool-approval-request";
}

function asPart(part: Fields, version: string): Fields {
  const { type, input, data, image, output } = part;
  if (type === "tool-call" && !isFields(input)) return { ...part, input: input === undefined ? {} : { raw: input } };
  if (type === "tool-result") return { ...part, output: asOutput(fieldsOf(output), version) };
  if (type !== "file" && type !== "image") return part;
  const { image: _image, ...rest } = part;
  const mediaType = part["mediaType"] ?? "image/png";
  return { ...rest, type: "file", mediaType, data: version === "v4" ? tagged(data ?? image) : untagged(data ?? image) };
}

function asOutput(output: Fields, version: string): Fields {
  if (output["type"] !== "content") return output;
  const value = asList(output["value"]).map((piece) => asResultPart(fieldsOf(piece), version));
  return { ...output, value };
}

/** A file in a result has another form in each version of the contract. */
function asResultPart(part: Fields, version: string): Fields {
  if (version === "v4" || part["type"] !== "file") return asPart(part, version);
  const { mediaType, data } = part;
  const url = urlOf(data);
  if (version === "v2") return { type: "media", mediaType, data };
  return url === undefined ? { type: "file-data", mediaType, data } : { type: "file-url", url: url.href };
}

/** Since major 7 data says what it is. */
function tagged(data: unknown): unknown {
  if (isFields(data) && typeof data["type"] === "string") return data;
  const url = urlOf(data);
  return url === undefined ? { type: "data", data } : { type: "url", url };
}

function untagged(data: unknown): unknown {
  const { type, data: bytes, url } = fieldsOf(data);
  if (type === "data") return bytes;
  return type === "url" ? url : (urlOf(data) ?? data);
}

function urlOf(data: unknown): URL | undefined {
  if (data instanceof URL) return data;
  return typeof data === "string" && /^(https?|data):/.test(data) && URL.canParse(data) ? new URL(data) : undefined;
}

const offers = writtenOnce(({ name, description, input }) => {
  const described = description === undefined ? {} : { description };
  return { type: "function", name, ...described, inputSchema: wholeSchema(input) };
});

function choice(asked: NonNullable<ModelRequest["toolChoice"]>): object {
  return typeof asked === "string" ? { type: asked } : { type: "tool", toolName: asked.name };
}
