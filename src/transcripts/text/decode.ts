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

function decodeBody(bytes: Uint8Array): { readonly text: string; readonly broken: boolean } {
  try {
    return { text: STRICT.decode(bytes), broken: false };
  } catch {
    return { text: LENIENT.decode(bytes), broken: true };
  }
}

/** Where bytes that are not UTF-8 became U+FFFD the text cannot be written back: the bytes themselves must be. */
export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
