import { hash } from "node:crypto";
import { canonicalJson } from "./canonical.ts";
import type { Json } from "./json.ts";

/** SHA-256 as 64 lower-case hex digits. */
export type Sha256 = string;

export function sha256(data: string | Uint8Array): Sha256 {
  return hash("sha256", data, "hex");
}

/** Equal values hash equally, whatever the order of their keys. */
export function canonicalHash(value: Json): Sha256 {
  return sha256(canonicalJson(value));
}

export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
