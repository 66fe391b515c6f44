import { asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import type { Json } from "../../base/json.ts";
import type { CallItem, Item, MediaSource, Part, PartOrigin, WireFormat } from "../item.ts";
import { base64Of } from "../media.ts";

/** Why a message cannot be read whose content is in no form, or missing where it is demanded. */
export const FORMLESS = "content is neither text nor a list";

export function isContent(value: unknown): boolean {
  return typeof value === "string" || Array.isArray(value);
}

/** An item before it knows its place in the message: the pieces it was read from come beside it. */
export interface Read {
  readonly item: Item;
  readonly pieces: readonly unknown[];
}

/** A call's arguments as an object, for formats that take nothing else. Text that never was JSON is kept as text. */
export function inputObject(call: CallItem): Fields {
  const value = call.inputText === undefined ? call.input : parsed(call.inputText);
  if (isFields(value)) return value;
  return value === undefined || value === null ? {} : { raw: value };
}

/** A call's arguments as text, for formats that take nothing else. */
export function inputText(call: CallItem): string {
  return call.inputText ?? JSON.stringify(call.input ?? {});
}

function parsed(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return HUGE.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    return text;
  }
}

const HUGE = /\d{16}/;

interface Written {
  readonly source?: string;
}

/** A whole number with more digits than a number keeps becomes a text: as a number it would be another. */
function exactly(_key: string, value: unknown, { source = "" }: Written = {}): unknown {
  return typeof value === "number" && /^-?\d{16,}$/.test(source) && String(value) !== source ? source : value;
}

/** Whether arguments hold a whole number that only a text can hold. */
export function holdsHugeNumber(text: string): boolean {
  if (!HUGE.test(text)) return false;
  let found = false;
  const look = (key: string, value: unknown, written?: Written) => {
    found ||= exactly(key, value, written) !== value;
    return value;
  };
  try {
    JSON.parse(text, look);
  } catch {
    return false; // kept as the text it is
  }
  return found;
}

export function textPart(text: string, origin?: PartOrigin): Part {
  return origin === undefined ? { type: "text", text } : { type: "text", text, origin };
}

/** A media source from whatever fields a format uses; a data URL is taken apart. */
export function mediaSource(fields: {
  readonly url?: unknown;
  readonly base64?: unknown;
  readonly mediaType?: unknown;
  readonly fileId?: unknown;
  readonly name?: unknown;
}): MediaSource {
  const url = asText(fields.url);
  const data = url?.match(/^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/s);
  const mediaType = asText(fields.mediaType) ?? (data?.[1] || undefined);
  const base64 = asText(fields.base64) ?? data?.[2];
  const fileId = asText(fields.fileId);
  const name = asText(fields.name);
  return {
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(url === undefined || data ? {} : { url }),
    ...(base64 === undefined ? {} : { base64 }),
    ...(fileId === undefined ? {} : { fileId }),
    ...(name === undefined ? {} : { name }),
  };
}

/** A text that came as a file. */
export function inlineText(text: string): MediaSource {
  return { mediaType: "text/plain", base64: base64Of(new TextEncoder().encode(text)) };
}

/** A file as OpenAI takes it. Its data is a data URL, or base64 alone. */
export function readFile(file: Fields): MediaSource {
  const { file_data: data, file_url: url, file_id: fileId, filename: name } = file;
  const isUrl = typeof data !== "string" || data.startsWith("data:");
  return mediaSource({ ...(isUrl ? { url: data ?? url } : { base64: data }), fileId, name });
}

export function readSound({ data, format }: Fields): MediaSource {
  return mediaSource({ base64: data, mediaType: format === "mp3" ? "audio/mpeg" : `audio/${asText(format) ?? "wav"}` });
}

/** A media source as one URL, inline data included. */
export function mediaUrl(media: MediaSource, fallback: string): string {
  return media.url ?? `data:${media.mediaType ?? fallback};base64,${media.base64 ?? ""}`;
}

/** A file as OpenAI takes it: what it is called is demanded beside its data. */
export function writtenFile(media: MediaSource): { readonly filename: string; readonly file_data: string } {
  return { filename: media.name ?? "file.pdf", file_data: mediaUrl(media, "application/pdf") };
}

/** A recording as OpenAI takes it. */
export function writtenSound({ mediaType = "audio/wav", base64 = "" }: MediaSource): object {
  return { data: base64, format: /mpeg|mp3/.test(mediaType) ? "mp3" : "wav" };
}

export function asJson(value: unknown): Json {
  return value as Json;
}

/**
 * Reads a list piece by piece: some are an item each, and what stands between them is one item together, as whoever spoke
 * meant it.
 */
export function readRuns(
  pieces: readonly unknown[],
  itemOf: (piece: Fields, nth: number) => Item | undefined,
  together: (run: readonly unknown[]) => Read,
): readonly Read[] {
  const read: Read[] = [];
  let run: unknown[] = [];
  const flush = () => {
    if (run.length > 0) read.push(together(run));
    run = [];
  };
  for (const [nth, piece] of pieces.entries()) {
    const item = itemOf(fieldsOf(piece), nth);
    if (item === undefined) run.push(piece);
    else {
      flush();
      read.push({ item, pieces: [piece] });
    }
  }
  flush();
  return read;
}

/** The pieces an item was read from, when it was read in this format. */
export function ownPieces({ origin }: Item, format: WireFormat): readonly unknown[] | undefined {
  return origin?.format === format ? origin.pieces : undefined;
}

/** The piece a part was read from, when it was read in this format. */
export function ownPiece(part: Part, format: WireFormat): unknown {
  return part.origin?.format === format ? part.origin.piece : undefined;
}
