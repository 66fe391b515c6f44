import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { WireFormat } from "../item.ts";
import type { Block, Turn } from "./turn.ts";

type Reader = (message: Fields) => Omit<Turn, "at">;

const READERS: Readonly<Record<WireFormat, Reader>> = {
  "openai-chat": (message) => ({ ...chat(message), emptyCalls: isEmptyList(message["tool_calls"]) }),
  "openai-responses": (item) => ({ ...responses(item), id: ownId(item) }),
  anthropic,
  gemini,
  "ai-sdk": aiSdk,
};

export function readTurns(messages: readonly unknown[], format: WireFormat): readonly Turn[] {
  return messages.map((message, at) => {
    if (!isFields(message)) return { at, role: "unknown", blocks: [] };
    const listed = format === "gemini" ? message["parts"] : message["content"];
    const loose = Array.isArray(listed) && !listed.every(isFields);
    const turn = READERS[format](message);
    return { at, ...turn, ...(loose && turn.role !== "tool" ? { loose } : {}) }; // a tool's is judged as a result
  });
}

function chat(message: Fields): Omit<Turn, "at"> {
  const { role, content } = message;
  if (role === "tool") {
    return {
      role,
      blocks: [
        {
          is: "result",
          id: asText(message["tool_call_id"]),
          name: asText(message["name"]),
          space: "",
          formed: isTexts(content),
          media: list(content).some((part) => part["type"] !== "text"),
        },
      ],
    };
  }
  const calls = list(message["tool_calls"]).map((call): Block => {
    const body = fieldsOf(call["type"] === "custom" ? call["custom"] : call["function"]);
    const formed = typeof (body["arguments"] ?? body["input"]) === "string";
    return { is: "call", id: asText(call["id"]), name: asText(body["name"]) ?? "", space: "", sealed: false, formed };
  });
  const beside = BESIDE.some((field) => !!message[field]);
  const said = beside && !content ? [{ is: "own" } as const] : plain(content, ["text"], role !== "assistant");
  return {
    role: known(role, { developer: "system", function: "tool" }),
    blocks: [...said, ...calls],
    formless: isFormless(content, role === "assistant" || role === "function"),
  };
}

/** Where a chat answer may stand instead of its content. */
const BESIDE = ["refusal", "audio", "function_call", "reasoning_content", "reasoning", "reasoning_details"];

function responses(item: Fields): Omit<Turn, "at"> {
  const type = asText(item["type"]) ?? "message";
  if (type === "message") {
    return {
      role: known(item["role"], { developer: "system" }),
      blocks: spoken(item["content"], item["role"] === "assistant"),
      formless: isFormless(item["content"], false),
    };
  }
  const space = SPACES.get(type);
  const id = asText(item["call_id"]) ?? (type === "local_shell_call_output" ? asText(item["id"]) : undefined);
  if (type === "item_reference") return { role: "assistant", blocks: [{ is: "reference" }] };
  if (type === "reasoning") return { role: "assistant", blocks: [{ is: "thought", sealed: true }] };
  if (type === "mcp_approval_request")
    return { role: "assistant", blocks: [{ is: "ask", approval: asText(item["id"]) ?? "", id: undefined }] };
  if (type === "mcp_approval_response")
    return { role: "user", blocks: [{ is: "consent", approval: asText(item["approval_request_id"]) ?? "" }] };
  const lone = item["execution"] === "server" || (type === "local_shell_call" && id === undefined);
  const external = type === "function_call_output" && id === undefined && item["name"] !== undefined;
  if (space === undefined || lone || external)
    return { role: type.endsWith("_output") ? "user" : "assistant", blocks: [{ is: "own" }] };
  if (type.endsWith("_output"))
    return {
      role: "tool",
      blocks: [
        {
          is: "result",
          id,
          name: asText(item["name"]),
          space,
          formed: FORMED.get(type)?.(item) ?? isTexts(item["output"]),
          ...mistyped(list(item["output"]).find((part) => isMistyped(part, false))),
        },
      ],
    };
  const formed = FORMED.get(type)?.(item) ?? typeof (item["arguments"] ?? item["input"]) === "string";
  return {
    role: "assistant",
    blocks: [{ is: "call", id, name: asText(item["name"]) ?? UNNAMED.get(type) ?? "", space, sealed: false, formed }],
  };
}

/** Texts of the assistant are of a type of their own, and so are everybody else's. */
function spoken(content: unknown, byAssistant: boolean): readonly Block[] {
  const parts = list(content);
  return plain(content, ["input_text", "output_text", "text"], !byAssistant).map((block, nth): Block => {
    const part = parts[nth];
    if (part === undefined || !isMistyped(part, byAssistant)) return block;
    return { is: "text", text: asText(part["text"]) ?? asText(part["refusal"]) ?? "", ...mistyped(part) };
  });
}

function isMistyped({ type }: Fields, byAssistant: boolean): boolean {
  if (type === "text") return true;
  return byAssistant ? type === "input_text" : type === "output_text" || type === "refusal";
}

function mistyped(part: Fields | undefined): { readonly mistyped?: string } {
  return part === undefined ? {} : { mistyped: asText(part["type"]) ?? "" };
}

/** A shell's output may carry its call's id in the place of its own. */
function ownId(item: Fields): string | undefined {
  return item["type"] === "item_reference" || item["type"] === "local_shell_call_output"
    ? undefined
    : asText(item["id"]);
}

const SPACES: ReadonlyMap<string, string> = new Map([
  ["function_call", "function"],
  ["local_shell_call", "function"],
  ["function_call_output", "function"],
  ["local_shell_call_output", "function"],
  ["custom_tool_call", "custom"],
  ["custom_tool_call_output", "custom"],
  ["tool_search_call", "search"],
  ["tool_search_output", "search"],
  ["computer_call", "computer"],
  ["computer_call_output", "computer"],
  ["shell_call", "commands"],
  ["shell_call_output", "commands"],
  ["apply_patch_call", "patch"],
  ["apply_patch_call_output", "patch"],
]);

/** As what tools are offered whose calls do not name them. */
const UNNAMED: ReadonlyMap<string, string> = new Map([
  ["local_shell_call", "local_shell"],
  ["tool_search_call", "tool_search"],
  ["computer_call", "computer"],
  ["shell_call", "shell"],
  ["apply_patch_call", "apply_patch"],
]);

/** Kinds whose calls and results have a form of their own. */
const FORMED: ReadonlyMap<string, (item: Fields) => boolean> = new Map<string, (item: Fields) => boolean>([
  ["tool_search_call", () => true],
  ["tool_search_output", () => true],
  ["local_shell_call", () => true],
  ["computer_call", (item) => isFields(item["action"]) || Array.isArray(item["actions"])],
  ["computer_call_output", (item) => isFields(item["output"])],
  ["shell_call", (item) => isFields(item["action"])],
  ["shell_call_output", (item) => Array.isArray(item["output"]) && item["output"].every(isFields)],
  ["apply_patch_call", (item) => isFields(item["operation"])],
  ["apply_patch_call_output", (item) => item["status"] === "completed" || item["status"] === "failed"],
]);

function anthropic(message: Fields): Omit<Turn, "at"> {
  const { content } = message;
  const role = message["role"] === "user" || message["role"] === "assistant" ? message["role"] : "unknown";
  if (typeof content === "string") return { role, blocks: [{ is: "text", text: content }] };
  const blocks = list(content).map((block): Block => {
    const type = asText(block["type"]) ?? "";
    if (type === "text") return { is: "text", text: asText(block["text"]) ?? "" };
    if (type === "thinking") return { is: "thought", sealed: !!asText(block["signature"]) };
    if (type === "redacted_thinking") return { is: "thought", sealed: !!asText(block["data"]) };
    if (type === "tool_use") {
      const formed = isFields(block["input"]);
      return {
        is: "call",
        id: asText(block["id"]),
        name: asText(block["name"]) ?? "",
        space: "",
        sealed: false,
        formed,
      };
    }
    if (type === "tool_result") {
      const formed = block["content"] === undefined || isTexts(block["content"]);
      const blank =
        list(block["content"]).some((one) => one["type"] === "text" && !asText(one["text"])?.trim()) ||
        (block["is_error"] === true && isEmpty(block["content"]));
      const [refused] = list(block["content"]).flatMap((one) => refusedMedia(one, role) ?? []);
      const about = { id: asText(block["tool_use_id"]), name: undefined, space: "", formed, blank };
      return { is: "result", ...about, ...(refused === undefined ? {} : { refused }) };
    }
    if (type.endsWith("_tool_use") || type.endsWith("_tool_result")) return { is: "own" };
    const refused = refusedMedia(block, role);
    return refused === undefined ? { is: "media", ...bare(block) } : { is: "media", refused };
  });
  return { role, blocks, formless: isFormless(content, true) };
}

const INLINE: ReadonlyMap<string, RegExp> = new Map([
  ["image", /^image\/(png|jpeg|gif|webp)$/],
  ["document", /^application\/pdf$/],
]);

/** Pictures and documents are the user's alone, and those that are sent along are of few types. */
function refusedMedia(block: Fields, role: Turn["role"]): string | undefined {
  const type = asText(block["type"]) ?? "";
  const types = INLINE.get(type);
  if (types === undefined) return undefined;
  if (role === "assistant") return type;
  const source = fieldsOf(block["source"]);
  const mediaType = asText(source["media_type"]);
  const isTaken = source["data"] !== "" && (mediaType === undefined || types.test(mediaType));
  return source["type"] !== "base64" || isTaken ? undefined : type;
}

const GEMINI_ROLES: ReadonlyMap<unknown, Turn["role"]> = new Map([
  ["user", "user"],
  ["function", "user"],
  ["model", "assistant"],
]);

function gemini(content: Fields): Omit<Turn, "at"> {
  const role = GEMINI_ROLES.get(content["role"] ?? "user") ?? "unknown";
  const blocks = list(content["parts"]).map((part): Block => {
    const call = part["functionCall"];
    const sealed = typeof part["thoughtSignature"] === "string";
    if (isFields(call)) {
      const formed = call["args"] === undefined || isFields(call["args"]);
      return { is: "call", id: asText(call["id"]), name: asText(call["name"]) ?? "", space: "", sealed, formed };
    }
    const response = part["functionResponse"];
    if (isFields(response)) {
      const formed = isFields(response["response"]);
      return { is: "result", id: asText(response["id"]), name: asText(response["name"]), space: "", formed };
    }
    if (part["thought"] === true) return { is: "thought", sealed: true };
    if (part["text"] === "" && part["thoughtSignature"] !== undefined) return { is: "own" };
    return typeof part["text"] === "string" ? { is: "text", text: part["text"] } : { is: "media" };
  });
  return { role, blocks };
}

function aiSdk(message: Fields): Omit<Turn, "at"> {
  const { role, content } = message;
  if (typeof content === "string") return { role: known(role), blocks: [{ is: "text", text: content }] };
  const blocks = list(content).map((part): Block => {
    const id = asText(part["toolCallId"]);
    switch (part["type"]) {
      case "text":
        return { is: "text", text: asText(part["text"]) ?? "" };
      case "reasoning":
        return { is: "thought", sealed: true };
      case "tool-call":
        if (part["providerExecuted"] === true) return { is: "own" };
        return {
          is: "call",
          id,
          name: asText(part["toolName"]) ?? "",
          space: "",
          sealed: false,
          formed: "input" in part,
        };
      case "tool-result":
        if (role === "assistant") return { is: "own" };
        return {
          is: "result",
          id,
          name: asText(part["toolName"]),
          space: "",
          formed: asText(fieldsOf(part["output"])["type"]) !== undefined,
          blank: fieldsOf(part["output"])["type"] === "error-text" && isEmpty(fieldsOf(part["output"])["value"]),
        };
      case "tool-approval-request":
        return { is: "ask", approval: asText(part["approvalId"]) ?? "", id };
      case "tool-approval-response":
        return { is: "consent", approval: asText(part["approvalId"]) ?? "" };
      default:
        return { is: "media" };
    }
  });
  return { role: known(role, { tool: "tool" }), blocks };
}

/** OpenAI takes pictures, sound and files from the user, and none from the assistant. */
function plain(content: unknown, texts: readonly string[], takesMedia: boolean): readonly Block[] {
  if (typeof content === "string") return [{ is: "text", text: content }];
  return list(content).map((part): Block => {
    const type = asText(part["type"]) ?? "";
    if (texts.includes(type)) return { is: "text", text: asText(part["text"]) ?? "" };
    return !takesMedia && OPENAI_MEDIA.test(type) ? { is: "media", refused: type } : { is: "media", ...bare(part) };
  });
}

/** Where parts say what they show. */
const SHOWN: ReadonlyMap<unknown, (part: Fields) => unknown> = new Map<unknown, (part: Fields) => unknown>([
  ["image_url", (part) => fieldsOf(part["image_url"])["url"]],
  ["input_audio", (part) => fieldsOf(part["input_audio"])["data"]],
  ["file", (part) => fieldsOf(part["file"])["file_data"] ?? fieldsOf(part["file"])["file_id"]],
  ["input_image", (part) => part["image_url"] ?? part["file_id"]],
  ["input_file", (part) => part["file_data"] ?? part["file_url"] ?? part["file_id"]],
  ["image", (part) => fieldsOf(part["source"])["type"]],
  ["document", (part) => fieldsOf(part["source"])["type"]],
]);

function bare(part: Fields): { readonly bare?: string } {
  const shown = SHOWN.get(part["type"]);
  return shown === undefined || asText(shown(part)) !== undefined ? {} : { bare: asText(part["type"]) ?? "" };
}

const OPENAI_MEDIA = /^(image_url|file|input_image|input_audio|input_file)$/;

function known(role: unknown, more: Readonly<Record<string, Turn["role"]>> = {}): Turn["role"] {
  if (role === "system" || role === "user" || role === "assistant") return role;
  return typeof role === "string" && Object.hasOwn(more, role) ? (more[role] as Turn["role"]) : "unknown";
}

function list(value: unknown): readonly Fields[] {
  return asList(value).map(fieldsOf);
}

/** What may be missing is judged elsewhere, as blank. */
function isFormless(content: unknown, mayMiss: boolean): boolean {
  if (content === undefined || content === null) return !mayMiss;
  return typeof content !== "string" && !Array.isArray(content);
}

/** A text, or blocks of it. */
function isTexts(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every(isFields));
}

/** No text, or a blank one; no blocks. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? isEmptyList(value) : (asText(value) ?? "").trim() === "";
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
