import { crc32 } from "node:zlib";
import type { NewBlob, WriteBatch } from "../../../src/contracts/store.ts";
import type { BlobName } from "../../../src/records/ids.ts";

/** A batch as it was decided: when, and the content that was not there then, or had been put too late to be swept. */
export interface Frame {
  readonly batch: WriteBatch;
  readonly now: number;
  readonly missing: readonly BlobName[];
  readonly fresh: readonly BlobName[];
}

/** Length and checksum. */
const HEADER = 8;

export function encodeFrame(frame: Frame): Buffer {
  const body = Buffer.from(JSON.stringify(asText(frame)));
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
  return { frame: asBytes(JSON.parse(found.body.toString("utf8")) as Frame), end: found.end };
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
function asText(frame: Frame): unknown {
  const { batch } = frame;
  if (batch.kind !== "append" || batch.blobs.length === 0) return frame;
  const blobs = batch.blobs.map(({ ref, bytes }) => (bytes === undefined ? { ref } : { ref, base64: base64Of(bytes) }));
  return { ...frame, batch: { ...batch, blobs } };
}

function asBytes(frame: Frame): Frame {
  const { batch } = frame;
  if (batch.kind !== "append" || batch.blobs.length === 0) return frame;
  const blobs = (batch.blobs as readonly (NewBlob & { readonly base64?: string })[]).map(({ ref, base64 }) =>
    base64 === undefined ? { ref } : { ref, bytes: Uint8Array.from(Buffer.from(base64, "base64")) },
  );
  return { ...frame, batch: { ...batch, blobs } };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
