import type { OutputItem, Part } from "../wire/item.ts";

/**
 * Shortens an output in the middle: its beginning and its end stay, and the text says how many characters were removed.
 * Ids, status and parts that are not text stay as they are. An output within the limit is returned unchanged; a limit
 * below zero counts as zero.
 */
export function truncateOutput(output: OutputItem, maxCharacters: number): OutputItem {
  const total = output.parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (total <= maxCharacters) return output;
  let room = Math.max(0, Math.trunc(maxCharacters) || 0);
  let left = total;
  const parts = output.parts.map((part): Part => {
    if (part.type !== "text" || part.text === "") return part;
    const share = Math.floor((room * part.text.length) / left);
    room -= share;
    left -= part.text.length;
    const { origin: _origin, ...rest } = part;
    return share >= part.text.length ? part : { ...rest, text: cutMiddle(part.text, share) };
  });
  const { origin: _origin, ...rest } = output;
  return { ...rest, parts };
}

function cutMiddle(text: string, keep: number): string {
  const head = whole(text, Math.ceil(keep / 2), -1);
  const tail = whole(text, text.length - Math.floor(keep / 2), 1);
  return `${text.slice(0, head)}\n[… ${tail - head} characters removed …]\n${text.slice(tail)}`;
}

/** Moves a cut off the middle of a surrogate pair: half an emoji is not valid UTF-8. */
function whole(text: string, at: number, step: 1 | -1): number {
  const low = text.charCodeAt(at);
  const high = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff && high >= 0xd800 && high <= 0xdbff ? at + step : at;
}
