import { canonicalHash, isSha256 } from "../base/hash.ts";
import { HoldfastError } from "../base/errors.ts";

declare const sessionId: unique symbol;
declare const callId: unique symbol;
declare const blobName: unique symbol;
declare const ownerId: unique symbol;

export type SessionId = string & { readonly [sessionId]: true };
export type CallId = string & { readonly [callId]: true };
/** The name of content: what it holds, not where it lies. */
export type BlobName = string & { readonly [blobName]: true };
/** One writer's life: a new one for every opened store, so that a reused process id is never mistaken for the old process. */
export type OwnerId = string & { readonly [ownerId]: true };

export function toSessionId(text: string): SessionId {
  if (typeof text !== "string" || !/^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,199}$/.test(text))
    throw new HoldfastError("SESSION_BAD_ID", { id: String(text).slice(0, 80) });
  return text as SessionId;
}

/** Providers reuse ids across turns and disagree on their alphabet, so identity is where the call stands, not what it was called. */
export function callIdAt(session: SessionId, answer: number | string, index: number): CallId {
  return `call_${canonicalHash([session, answer, index]).slice(0, 32)}` as CallId;
}

export function isBlobName(text: string): text is BlobName {
  const [family, digest, ...rest] = text.split("-");
  return (family === "sha256" || family === "tree") && digest !== undefined && isSha256(digest) && rest.length === 0;
}

export function toBlobName(text: string): BlobName {
  if (typeof text !== "string" || !isBlobName(text))
    throw new HoldfastError("BLOB_BAD_NAME", { name: String(text).slice(0, 80) });
  return text;
}

export function toOwnerId(text: string): OwnerId {
  return `owner_${text}` as OwnerId;
}
