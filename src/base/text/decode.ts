import { isAscii } from "node:buffer";
import type { Source } from "./source.ts";

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });
const BOM = "\uFEFF";

export interface Decoded {
  readonly text: string;
  /** Bytes that are not UTF-8 stand in the text as U+FFFD. */
  readonly broken: boolean;
  readonly bom: boolean;
}

/** Text of bytes, whatever they are. A mark of byte order is told and left out: no JSON reader takes it. */
export function decode(bytes: Uint8Array): Decoded {
  const { text, broken } = decodeBody(bytes);
  const bom = text.startsWith(BOM);
  return { text: bom ? text.slice(1) : text, broken, bom };
}

/** The text of a whole source, decoded piece by piece: the bytes of a large file are never held beside its text. */
export async function decodeAll(source: Source): Promise<Decoded> {
  const strict = await pieces(source, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }));
  const text = strict ?? (await pieces(source, new TextDecoder("utf-8", { ignoreBOM: true }))) ?? "";
  const bom = text.startsWith(BOM);
  return { text: bom ? text.slice(1) : text, broken: strict === undefined, bom };
}

async function pieces(source: Source, decoder: InstanceType<typeof TextDecoder>): Promise<string | undefined> {
  let text = "";
  let plain = true; // nothing of a character is left over from the chunk before
  for await (const chunk of source.chunks()) {
    // A decoder makes strings of two bytes a character even of ASCII, and half of all sessions are nothing else.
    const ascii: boolean = plain && isAscii(chunk);
    const piece = ascii ? asciiText(chunk) : tried(() => decoder.decode(chunk, { stream: true }));
    if (piece === undefined) return undefined;
    text += piece;
    plain = ascii;
  }
  const rest = tried(() => decoder.decode());
  return rest === undefined ? undefined : text + rest;
}

function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

function tried(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function decodeBody(bytes: Uint8Array): { readonly text: string; readonly broken: boolean } {
  try {
    return { text: STRICT.decode(bytes), broken: false };
  } catch {
    return { text: LENIENT.decode(bytes), broken: true };
  }
}

/** Where bytes that are not UTF-8 became U+FFFD the text cannot be written back: the bytes themselves must be. */
export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
