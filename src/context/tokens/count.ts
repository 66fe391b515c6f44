import type { TokenCounter } from "../../contracts/token-counter.ts";
import type { Item, Part } from "../../wire/item.ts";
import { isInWords } from "../../wire/media.ts";
import { countWithoutRuns } from "./runs.ts";

/**
 * What content other than text costs in tokens. Providers differ and change; the defaults are at the upper end of what
 * they bill.
 */
export interface MediaCosts {
  readonly image: number;
  /** Tokens per kilobyte, and the least that any recording costs. */
  readonly audio: MediaRate;
  readonly file: MediaRate;
  /** Text files: where a provider does not take their type, they are shown as text. */
  readonly words: MediaRate;
}

interface MediaRate {
  readonly perKilobyte: number;
  readonly least: number;
}

/** The default costs. */
export const MEDIA_COSTS: MediaCosts = {
  image: 1_600,
  audio: { perKilobyte: 4, least: 400 },
  file: { perKilobyte: 60, least: 1_500 },
  words: { perKilobyte: 400, least: 20 },
};

/** Role, separators and ids around what an item says. */
const AROUND_MESSAGE = 4;
const AROUND_CALL = 12;

/** What an item costs in a request, counted on its canonical form, so it is the same for every provider. */
export function itemTokens(item: Item, counter: TokenCounter, costs: MediaCosts = MEDIA_COSTS): number {
  const count = (text: string) => countWithoutRuns(counter, text);
  switch (item.kind) {
    case "system":
    case "user":
    case "assistant":
      return AROUND_MESSAGE + partsTokens(item.parts, count, costs);
    case "reasoning":
      return AROUND_MESSAGE + (item.text === "" ? Math.ceil((item.signature?.length ?? 0) / 4) : count(item.text));
    case "call":
      return AROUND_CALL + count(item.name) + count(item.inputText ?? JSON.stringify(item.input ?? null));
    case "output":
      if (item.parts.length === 0 && item.value !== undefined)
        return AROUND_CALL + count(typeof item.value === "string" ? item.value : JSON.stringify(item.value));
      return AROUND_CALL + partsTokens(item.parts, count, costs);
    case "approval-request":
    case "approval-answer":
      return AROUND_CALL;
    case "other":
      return AROUND_MESSAGE + count(JSON.stringify(item.origin?.pieces ?? []));
  }
}

function partsTokens(parts: readonly Part[], count: (text: string) => number, costs: MediaCosts): number {
  return parts.reduce((sum, part) => sum + partTokens(part, count, costs), 0);
}

function partTokens(part: Part, count: (text: string) => number, costs: MediaCosts): number {
  switch (part.type) {
    case "text":
      return count(part.text);
    case "image":
    case "audio":
    case "file": {
      const inWords = isInWords(part);
      if (part.type === "image" && !inWords) return costs.image;
      const { perKilobyte, least } = costs[inWords || part.type === "image" ? "words" : part.type];
      const { base64 = "", blob } = part.media;
      return Math.max(least, Math.ceil(((blob?.size ?? base64.length * 0.75) * perKilobyte) / 1_000));
    }
    case "other":
      return count(JSON.stringify(part.origin.piece ?? null));
  }
}
