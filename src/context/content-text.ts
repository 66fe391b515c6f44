import { canonicalJson } from "../base/canonical.ts";
import { sha256 } from "../base/hash.ts";
import { apart, type CallItem, type Item, type Part, resultParts } from "../wire/item.ts";

/** What an item says, as the text that is hashed, recalled and searched. What is no text is named by its kind and size. */
export function contentText(item: Item): string {
  switch (item.kind) {
    case "system":
    case "user":
      return apart(item.parts.map(partText));
    case "assistant": // said in one breath: its pieces are cut anywhere
      return item.parts.map(partText).join("");
    case "output":
      return apart(resultParts(item).map(partText));
    case "reasoning":
      return item.text;
    case "call":
      return `${item.name}\n${argumentsText(item)}`;
    case "approval-request":
      return `approval asked: ${item.approvalId}`;
    case "approval-answer":
      return `approval ${item.approved ? "given" : "refused"}: ${item.approvalId}`;
    case "other":
      return JSON.stringify(item.origin?.pieces ?? []);
  }
}

export function argumentsText({ input, inputText }: CallItem): string {
  return inputText ?? (typeof input === "string" ? input : canonicalJson(input ?? null));
}

function partText(part: Part): string {
  if (part.type === "text") return part.text.toWellFormed();
  if (part.type === "other") return JSON.stringify(part.origin.piece ?? null);
  const { mediaType = part.type, base64, url, blob } = part.media;
  if (blob !== undefined) return `[${mediaType} ${blob.size} bytes, ${blob.name.slice(0, 23)}]`;
  // By its digest, so that two pictures of one size are not one content.
  return `[${mediaType} ${base64 === undefined ? (url ?? "") : `${base64.length} characters, ${sha256(base64).slice(0, 16)}`}]`;
}
