import type { MediaSource, Part, PartOrigin } from "../item.ts";
import { base64Of, typeIn } from "../media.ts";
import { asText, type Fields, isFields } from "../../base/fields.ts";
import { inlineText, mediaSource } from "./read.ts";

/** The names of pictures and files in the SDK's majors, in messages and in results. */
const MEDIA: ReadonlySet<unknown> = new Set([
  "image",
  "file",
  "media",
  "image-data",
  "image-url",
  "image-file-id",
  "image-file-reference",
  "file-data",
  "file-url",
  "file-id",
  "file-reference",
]);

/** A picture or a file in any form that the SDK takes: bytes, base64, an address, or what a provider calls it. */
export function readMedia(part: Fields, origin: PartOrigin): Part | undefined {
  if (!MEDIA.has(part["type"])) return undefined;
  const given = asText(part["mediaType"]) ?? asText(part["mimeType"]) ?? ""; // its name in older messages
  const source = sourceOf(part["image"] ?? part["data"] ?? part["url"] ?? part["fileId"] ?? part["providerReference"]);
  const name = asText(part["filename"]);
  // `image` and `image/*` name a family: the content itself says which of it.
  const mediaType = /^[^/]+\/[^*]+$/.test(given) ? given : (source.mediaType ?? typeIn(source.base64));
  const family = mediaType ?? (given === "" ? String(part["type"]) : given);
  const type = family.startsWith("image") ? "image" : family.startsWith("audio") ? "audio" : "file";
  const media = {
    ...source,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(name === undefined ? {} : { name }),
  };
  return { type, media, origin };
}

function sourceOf(data: unknown): MediaSource {
  if (data instanceof URL) return mediaSource({ url: data.href });
  if (typeof data === "string") return mediaSource(/^(https?|data):/.test(data) ? { url: data } : { base64: data });
  if (data instanceof ArrayBuffer) return { base64: base64Of(new Uint8Array(data)) };
  if (ArrayBuffer.isView(data))
    return { base64: base64Of(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) };
  if (!isFields(data)) return {};
  const { type, text } = data;
  if (type === "data" || type === "url") return sourceOf(data[type]);
  if (type === "text" && typeof text === "string") return inlineText(text);
  // What bytes become when messages are kept as JSON.
  if (type === "Buffer" && Array.isArray(data["data"])) return sourceOf(Uint8Array.from(data["data"] as number[]));
  const ids = type === "reference" && isFields(data["reference"]) ? data["reference"] : data;
  const fileId = Object.values(ids).filter((id) => typeof id === "string");
  return fileId.length === 0 ? {} : { fileId: fileId.join(", ") };
}
