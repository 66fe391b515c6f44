import { createHmac } from "node:crypto";
import { type Sha256, sha256 } from "../base/hash.ts";

declare const handle: unique symbol;

/**
 * The name of content in this session's lineage: `holdfast://` and 26 letters. It cannot be made without knowing the
 * lineage.
 */
export type Handle = string & { readonly [handle]: true };

/** The secret that a session shares with its forks and imports. Handles made with another lineage never resolve. */
export type Lineage = string;

const SCHEME = "holdfast://";
const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";
/** 130 bits: a million guesses a second find none before the sun is gone. */
const LENGTH = 26;

/** The one maker of a `Handle`. Equal content, equal handle. */
export function handleOf(lineage: Lineage, digest: Sha256): Handle {
  const mac = createHmac("sha256", lineage).update(digest).digest();
  let letters = "";
  let bits = 0;
  let held = 0;
  for (const byte of mac) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5 && letters.length < LENGTH) {
      bits -= 5;
      letters += LETTERS[(held >> bits) & 31];
    }
    held &= 0xff;
    if (letters.length === LENGTH) break;
  }
  return `${SCHEME}${letters}` as Handle;
}

/** Whether a text has the form of a handle. It may still not resolve. */
export function looksLikeHandle(text: string): text is Handle {
  return /^holdfast:\/\/[a-z2-7]{26}$/.test(text);
}

export function digestOf(content: string): Sha256 {
  return sha256(content);
}
