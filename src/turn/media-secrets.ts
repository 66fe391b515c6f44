import { nameOfBytes } from "../records/blob-name.ts";
import type { Redactor } from "../records/redact.ts";
import type { ClosedCall } from "../transaction/ledger.ts";

/** Families whose bytes are no words, whatever they look like. */
const NO_WORDS: ReadonlySet<string> = new Set(["image", "audio", "video", "font"]);

/**
 * A call without secrets in the files it handed to the model: those are what it said, and not what it left in a workspace.
 * What is no text is taken as it is.
 */
export function withoutMediaSecrets(call: ClosedCall, redactor: Redactor): ClosedCall {
  const { parts = [], contents = [] } = call;
  if (contents.length === 0) return call;
  const kinds = new Map(parts.map(({ blob, mediaType }) => [blob?.name, mediaType]));
  const cleaned = new Map<string, Uint8Array>();
  for (const { name, bytes } of contents) {
    const clean = withoutSecrets(bytes, kinds.get(name), redactor);
    if (clean !== bytes) cleaned.set(name, clean);
  }
  if (cleaned.size === 0) return call;
  const refs = new Map([...cleaned].map(([name, bytes]) => [name, { name: nameOfBytes(bytes), size: bytes.length }]));
  return {
    ...call,
    parts: parts.map((part) => {
      const blob = part.blob === undefined ? undefined : refs.get(part.blob.name);
      return blob === undefined ? part : { ...part, blob };
    }),
    contents: contents.map((content) => {
      const bytes = cleaned.get(content.name);
      return bytes === undefined ? content : { name: nameOfBytes(bytes), bytes };
    }),
  };
}

/** The same bytes where there is nothing to hide. */
export function withoutSecrets(bytes: Uint8Array, mediaType: string | undefined, redactor: Redactor): Uint8Array {
  const text = NO_WORDS.has(mediaType?.split("/")[0] ?? "") ? undefined : textIn(bytes);
  return text !== undefined && redactor.finds(text) ? Buffer.from(redactor.text(text)) : bytes;
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
