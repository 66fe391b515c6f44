import { type Body, listIn, nameIn } from "./dialect.ts";

/** Which types of parts a provider knows in one place, and in which words it refuses any other. */
export interface PartTypes {
  readonly known: readonly string[];
  /** Kinds that come with every new tool of the provider's own. */
  readonly also?: RegExp;
  readonly refuse: (type: string, known: readonly string[], place: string) => string;
}

/** The first part of a list that is of no type which the provider knows. */
export function partFault(parts: unknown, { known, also, refuse }: PartTypes, place: string): string | undefined {
  for (const [nth, part] of listIn(parts).entries()) {
    const type = nameIn(part["type"]);
    if (!known.includes(type) && also?.test(type) !== true) return refuse(type, known, `${place}[${nth}]`);
  }
  return undefined;
}

function quoted(known: readonly string[]): string {
  return known.map((type) => `'${type}'`).join(", ");
}

function openaiRefuses(type: string, known: readonly string[], place: string): string {
  return `Invalid value: '${type}'. Supported values are: ${quoted(known)}. (${place}.type)`;
}

export const CHAT_PARTS: PartTypes = {
  known: ["text", "image_url", "input_audio", "file", "refusal"],
  refuse: openaiRefuses,
};

export const RESPONSES_PARTS: PartTypes = {
  known: ["input_text", "input_image", "input_audio", "input_file", "output_text", "refusal"],
  refuse: openaiRefuses,
};

/** A dotted place, as Anthropic names it: `messages.1.content.0`. */
function anthropicRefuses(type: string, known: readonly string[], place: string): string {
  const dotted = place.replaceAll(/\[(\d+)\]/g, ".$1");
  if (type === "") return `${dotted}.type: Field required`;
  return `${dotted}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${quoted(known)}`;
}

const SHOWN = ["text", "image", "document", "search_result"];

export const ANTHROPIC_BLOCKS: PartTypes = {
  known: [...SHOWN, "thinking", "redacted_thinking", "tool_use", "tool_result", "container_upload", "compaction"],
  also: /_tool_(use|result)$/,
  refuse: anthropicRefuses,
};

export const ANTHROPIC_RESULT_BLOCKS: PartTypes = { known: [...SHOWN, "tool_reference"], refuse: anthropicRefuses };

/** The same over the contents of a list of messages. */
export function contentsFault(messages: readonly Body[], types: PartTypes, list: string): string | undefined {
  for (const [at, message] of messages.entries()) {
    const fault = partFault(message["content"], types, `${list}[${at}].content`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
