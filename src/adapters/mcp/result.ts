import type { Json } from "../../base/json.ts";
import { inWords } from "../../base/words.ts";
import { checkJson, type PartedResult, type ResultMedia, toolResult } from "../../index.ts";
import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";

/** What a server answered: whether it calls it a failure, and what it holds. */
export interface McpResult {
  readonly failed: boolean;
  readonly parts: readonly (string | ResultMedia)[];
  readonly structured: Json | undefined;
}

/** Reads an answer. Only `isError` makes it a failure: nothing is guessed from what a text says. */
export function resultOf(answer: object): McpResult {
  const { content, isError, structuredContent, toolResult: legacy } = answer as Fields;
  return {
    failed: isError === true,
    parts: asList(content).map(partOf),
    structured: dataOf(structuredContent ?? legacy ?? undefined),
  };
}

/** What is nested too deeply to be kept as data is told as its text, and not left out. */
function dataOf(data: unknown): Json | undefined {
  if (data === undefined) return undefined;
  const kept = checkJson(data);
  return kept.ok ? kept.value.value : inWords(JSON.stringify(data));
}

/** The answer as a tool returns it: its content, or, where a server sends only data, the data. */
export function returned({ parts, structured }: McpResult): Json | PartedResult {
  if (parts.every((part) => part === "")) return structured === undefined ? "" : plain(structured);
  return parts.every((part) => typeof part === "string") ? parts.join("\n") : toolResult(parts);
}

/** Data that looks like a failure of ours is data all the same, and reads the same as text. */
function plain(data: Json): Json {
  const { ok, success } = fieldsOf(data);
  return ok === false || success === false ? JSON.stringify(data) : data;
}

export function wordsIn({ parts, structured }: McpResult): string {
  const words = parts.map((part) => (typeof part === "string" ? part : `[${part.mediaType}]`)).join("\n");
  if (words !== "") return words;
  return structured === undefined ? "The server said nothing about it." : JSON.stringify(structured);
}

function partOf(piece: unknown): string | ResultMedia {
  const block = fieldsOf(piece);
  switch (block["type"]) {
    case "text":
      return asText(block["text"]) ?? "";
    case "image":
    case "audio":
      return media(block["mimeType"], block["data"]);
    case "resource":
      return resource(fieldsOf(block["resource"]));
    case "resource_link":
      return `[${asText(block["name"]) ?? "resource"}: ${asText(block["uri"]) ?? ""}]`;
    default: // a kind that this version does not know is told as it came
      return JSON.stringify(piece ?? null);
  }
}

function resource({ uri, mimeType, text, blob }: Fields): string | ResultMedia {
  const name = asText(uri) ?? "";
  if (typeof text === "string") return `${name}:\n${text}`;
  const shown = media(mimeType, blob);
  const last = nameIn(name);
  return typeof shown === "string" || last === "" ? shown : { ...shown, name: last };
}

/** The end of its path, in one line: the rest of an address may be long, and a key to what it leads to. */
function nameIn(uri: string): string {
  const last = uri.split(/[?#]/)[0]?.split("/").at(-1) ?? "";
  return last.slice(-LONGEST_NAME).replaceAll(/\p{C}/gu, " ").trim();
}

const LONGEST_NAME = 200;

/** Media whose type cannot be one is still a file. */
function media(mimeType: unknown, data: unknown): string | ResultMedia {
  if (typeof data !== "string") return "[content without data]";
  const type = asText(mimeType)?.split(";")[0]?.trim() ?? "";
  const mediaType = /^[a-z]+\/[\w.+-]{1,100}$/i.test(type) ? type : "application/octet-stream";
  return { mediaType, bytes: Uint8Array.from(Buffer.from(data, "base64")) };
}
