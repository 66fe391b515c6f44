import { canonicalHash, isSha256 } from "../base/hash.ts";
import { HoldfastError } from "../base/errors.ts";

declare const sessionId: unique symbol;
declare const callId: unique symbol;
declare const blobName: unique symbol;
declare const ownerId: unique symbol;

/** The id of a session. */
export type SessionId = string & { readonly [sessionId]: true };
/** The id of a call, made by Holdfast; ids given by providers are aliases. */
export type CallId = string & { readonly [callId]: true };
/** The name of content: its digest, not where it is kept. */
export type BlobName = string & { readonly [blobName]: true };
/**
 * Identifies a writer. New for every opened store, so that a reused process id is never mistaken for the old process.
 */
export type OwnerId = string & { readonly [ownerId]: true };

/** Checks the text of a session id. */
export function toSessionId(text: string): SessionId {
  if (typeof text !== "string" || !/^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,199}$/.test(text))
    throw new HoldfastError("SESSION_BAD_ID", { id: String(text).slice(0, 80) });
  return text as SessionId;
}

/**
 * Makes the id of a call from its place in the session. Ids of providers will not do: they are reused across turns, and
 * no two providers allow the same characters.
 */
export function callIdAt(session: SessionId, answer: number | string, index: number): CallId {
  return `call_${canonicalHash([session, answer, index]).slice(0, 32)}` as CallId;
}

export function isBlobName(text: string): text is BlobName {
  const [family, digest, ...rest] = text.split("-");
  return (family === "sha256" || family === "tree") && digest !== undefined && isSha256(digest) && rest.length === 0;
}

/** Checks the text of a blob name. */
export function toBlobName(text: string): BlobName {
  if (typeof text !== "string" || !isBlobName(text))
    throw new HoldfastError("BLOB_BAD_NAME", { name: String(text).slice(0, 80) });
  return text;
}

export function toOwnerId(text: string): OwnerId {
  return `owner_${text}` as OwnerId;
}
