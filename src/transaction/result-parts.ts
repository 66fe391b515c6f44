import { HoldfastError } from "../base/errors.ts";
import { badOption } from "../base/options.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { BlobRef, KeptResultPart } from "../records/kinds.ts";

/** A picture, a recording or another file in a tool's result. */
export interface ResultMedia {
  /** `image/png`, `application/pdf`, … */
  readonly mediaType: string;
  readonly bytes: Bytes;
  /** A file name, for the model to read. */
  readonly name?: string;
}

/** A part of a call's result. Parts other than text bring their bytes, and the blob name under which these are kept. */
export type ResultPart =
  | { readonly type: "text"; readonly text: string }
  | (ResultMedia & { readonly type: "image" | "audio" | "file"; readonly blob: BlobRef });

const brand = Symbol.for("holdfast.result-parts");

/** A result made by `toolResult`. An object that merely looks like one is treated as plain data. */
export interface PartedResult {
  readonly [brand]: readonly ResultPart[];
}

/** Bytes of one result. More would not fit into a request of any provider. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * A result of several parts, for a tool whose result is more than text or JSON. At most 32 MiB in all. Large content is
 * kept once, beside the journal; a model that cannot read a part is told about it in words.
 */
export function toolResult(parts: readonly (string | ResultMedia)[]): PartedResult {
  if (!Array.isArray(parts))
    throw badOption("parts", parts, "a list of texts and files; one text alone is returned as it is");
  const made = parts.map((part) => (typeof part === "string" ? textPart(part) : mediaPart(part)));
  const bytes = made.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : part.bytes.length), 0);
  if (bytes > MOST_BYTES) throw new HoldfastError("VALUE_TOO_LARGE", { bytes, most: MOST_BYTES });
  return { [brand]: made };
}

export function partsOf(returned: unknown): readonly ResultPart[] | undefined {
  if (typeof returned !== "object" || returned === null || !(brand in returned)) return undefined;
  return (returned as PartedResult)[brand];
}

/** The parts as text; media are described in words, such as `[chart.png, image/png, 1024 bytes]`. */
export function partsText(parts: readonly (ResultPart | KeptResultPart)[]): string {
  return parts.map((part) => (part.type === "text" ? (part.text ?? "") : mediaWords(part))).join("\n");
}

/** The parts as a record keeps them. */
export function keptParts(parts: readonly ResultPart[]): readonly KeptResultPart[] {
  return parts.map((part) => {
    if (part.type === "text") return part;
    const { bytes: _bytes, ...kept } = part;
    return kept;
  });
}

function textPart(text: string): ResultPart {
  return { type: "text", text: text.toWellFormed() };
}

function mediaPart({ mediaType, bytes, name }: ResultMedia): ResultPart {
  if (typeof mediaType !== "string" || !/^[a-z]+\/[\w.+-]{1,100}$/i.test(mediaType))
    throw new HoldfastError("BAD_OPTION", { option: "mediaType", value: String(mediaType).slice(0, 80) });
  if (!(bytes instanceof Uint8Array))
    throw new HoldfastError("BAD_OPTION", { option: "bytes", value: typeof bytes, wants: "a Uint8Array" });
  const [family] = mediaType.toLowerCase().split("/");
  const text = family === "text" ? decoded(bytes) : undefined;
  if (text !== undefined) return textPart(name === undefined ? text : `${name}:\n${text}`);
  const own = Uint8Array.from(bytes); // a handler may go on with its buffer
  const type = family === "image" || family === "audio" ? family : "file";
  const blob = { name: nameOfBytes(own), size: own.length };
  return { type, mediaType: mediaType.toLowerCase(), bytes: own, blob, ...(name === undefined ? {} : { name }) };
}

/** A file of text is text, if it is what it says it is. */
function decoded(bytes: Bytes): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function mediaWords({ type, mediaType = type, name, blob }: KeptResultPart): string {
  return `[${name === undefined ? "" : `${name}, `}${mediaType}, ${blob?.size ?? 0} bytes]`;
}
