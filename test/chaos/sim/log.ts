import { crc32 } from "node:zlib";
import type { WriteBatch } from "../../../src/contracts/store.ts";
import type { BlobName } from "../../../src/records/ids.ts";

/** A batch as it was decided: when, and the content that was not there then. */
export interface Frame {
  readonly batch: WriteBatch;
  readonly now: number;
  readonly missing: readonly BlobName[];
}

/** Length and checksum. */
const HEADER = 8;

export function encodeFrame(frame: Frame): Buffer {
  const body = Buffer.from(JSON.stringify(frame, asText));
  const bytes = Buffer.alloc(HEADER + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes.writeUInt32LE(crc32(body), 4);
  bytes.set(body, HEADER);
  return bytes;
}

/** The frame at a place, or undefined when what lies there was never written whole. */
export function frameAt(bytes: Buffer, at: number): { readonly frame: Frame; readonly end: number } | undefined {
  const found = bodyAt(bytes, at);
  if (found === undefined) return undefined;
  return { frame: JSON.parse(found.body.toString("utf8"), asBytes) as Frame, end: found.end };
}

/** How far a log is whole. */
export function wholeUpTo(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const found = bodyAt(bytes, at);
    if (found === undefined) return at;
    at = found.end;
  }
}

function bodyAt(bytes: Buffer, at: number): { readonly body: Buffer; readonly end: number } | undefined {
  if (at + HEADER > bytes.length) return undefined;
  const end = at + HEADER + bytes.readUInt32LE(at);
  if (end === at + HEADER || end > bytes.length) return undefined; // zeros are no frame
  const body = bytes.subarray(at + HEADER, end);
  return crc32(body) === bytes.readUInt32LE(at + 4) ? { body, end } : undefined;
}

/** Content travels in a batch as bytes, which JSON does not know. */
function asText(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;
}

function asBytes(_key: string, value: unknown): unknown {
  const { base64 } = (value ?? {}) as { readonly base64?: unknown };
  return typeof base64 === "string" ? Uint8Array.from(Buffer.from(base64, "base64")) : value;
}
