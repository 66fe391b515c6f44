import type { Compressed, Compressible } from "../../contracts/compressor.ts";
import { oneLine } from "../facts.ts";
import { looksLikeCall } from "./weigh.ts";

/**
 * What a model has made of a text, or nothing when no page may show it: it says nothing, is longer than there is room for,
 * or holds what reads like a call. It was not made by our rules, so it is held to them here. `redact` hides secrets.
 */
export function soundPrepared(
  { room, text: whole }: Compressible,
  answer: Compressed | undefined,
  redact: (text: string) => string,
): Compressed | undefined {
  const { text, leftOut } = (answer ?? {}) as Partial<Compressed>;
  if (typeof text !== "string" || typeof leftOut !== "string") return undefined;
  const said = redact(text.toWellFormed()).trim();
  if (said === "" || said.length > Math.min(room, whole.length)) return undefined;
  return looksLikeCall(`${said}\n${leftOut}`) ? undefined : { text: said, leftOut: oneLine(redact(leftOut)) };
}
