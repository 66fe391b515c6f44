import { asList, type Fields, fieldsOf } from "../../base/fields.ts";

/** The parts of a request that form its prefix, in the provider's order: tools, system, messages. */
export interface Uncached {
  readonly tools?: readonly object[];
  readonly system?: readonly object[];
  readonly messages: readonly object[];
}

/** How many marks are set at most; the provider refuses more than four. */
export const CACHE_MARKS = 3;

const MARK = { cache_control: { type: "ephemeral" } } as const;

/**
 * Marks three ends as worth keeping: of tools and instructions, of the stable prefix, and of the whole request, which is
 * the next one's prefix. Everything else stays the very object it was.
 */
export function markCache({ tools, system, messages }: Uncached, stable: readonly object[]): Uncached {
  const ends = [endOf(stable), endOf(messages)].filter((end) => end !== undefined);
  const marked = ends.reduce<readonly object[]>(markBlock, messages);
  const head = system === undefined ? { tools: markLast(tools) } : { tools, system: markLast(system) };
  return { ...withoutAbsent(head), messages: marked };
}

interface End {
  readonly message: number;
  readonly block: number;
}

/** The last block that may carry a mark. Thinking may not, and changing it would break its seal. */
function endOf(messages: readonly object[]): End | undefined {
  for (let message = messages.length - 1; message >= 0; message -= 1) {
    const { content } = fieldsOf(messages[message]);
    if (typeof content === "string") return { message, block: 0 };
    const block = asList(content).findLastIndex((one) => isMarkable(fieldsOf(one)));
    if (block >= 0) return { message, block };
  }
  return undefined;
}

function isMarkable({ type, text }: Fields): boolean {
  return type !== "thinking" && type !== "redacted_thinking" && !(type === "text" && text === "");
}

function markBlock(messages: readonly object[], { message, block }: End): readonly object[] {
  const fields = fieldsOf(messages[message]);
  const { content } = fields;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : asList(content);
  const marked = blocks.with(block, { ...fieldsOf(blocks[block]), ...MARK });
  return messages.with(message, { ...fields, content: marked });
}

function markLast(list: readonly object[] | undefined): readonly object[] | undefined {
  return list?.with(-1, { ...(list.at(-1) as object), ...MARK });
}

function withoutAbsent(head: {
  readonly tools: readonly object[] | undefined;
  readonly system?: readonly object[] | undefined;
}): Omit<Uncached, "messages"> {
  const { tools, system } = head;
  return { ...(tools === undefined ? {} : { tools }), ...(system === undefined ? {} : { system }) };
}
