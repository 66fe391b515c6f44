import { sha256 } from "../../base/hash.ts";

/** A seal over a text, as a provider would make it. A change of one letter, in the text or in the seal, is detected. */
export function seal(text: string): string {
  return `sealed-${sha256(`strict provider\n${text}`).slice(0, 40)}==`;
}

/** Every seal that stands in an answer, wherever its provider puts them. */
export function sealsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return SEAL.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(sealsIn) : [];
}

const SEAL = /^sealed-[0-9a-f]{40}==$/;

/** Whether `given` is the seal of a text. */
export function isSealed(text: string, given: unknown): boolean {
  return given === seal(text);
}
