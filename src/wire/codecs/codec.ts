import type { Item, Origin, ToolCallId, WireFormat } from "../item.ts";
import type { WireProfile } from "../profiles.ts";

/** A message that could not be read. It is left out of the history that was read, and reported here. */
export interface Malformed {
  readonly at: number;
  readonly why: string;
}

/** What was read from a list of messages. */
export interface Decoded {
  readonly items: readonly Item[];
  readonly malformed: readonly Malformed[];
}

/** What was written for a provider. */
export interface Encoded {
  readonly messages: readonly object[];
  /** Instructions, for formats that carry them outside the list of messages. */
  readonly instructions: readonly string[];
  /** Items that have no place in this format, such as reasoning of another provider, or approvals. */
  readonly omitted: readonly Item[];
}

/** How items are cut into messages. */
export interface Cutting {
  /** Roles whose neighbouring messages the provider wants as one. */
  readonly joins: (role: Role) => boolean;
  readonly roleIn?: (item: Item) => Role;
}

export interface Encoding {
  readonly profile: WireProfile;
  /** The id as it may be written here. */
  readonly idOf: (id: ToolCallId) => string;
  /** Told when two messages that were read apart are written as one. */
  readonly joined: (message: number) => void;
  /** Told when one message that was read is written as two. */
  readonly split: (message: number) => void;
  /** Told when an item lost an id that an earlier one has. */
  readonly unnamed: (message: number) => void;
  /** Told when a message needed a waiver for a seal that is gone. */
  readonly waived: (message: number) => void;
}

/** What the caller knows about messages that they do not say themselves. */
export interface Decoding {
  /**
   * The messages go on from what the provider keeps (`previous_response_id`, a conversation): an output whose call is
   * not among them answers one that is kept there.
   */
  readonly continues?: boolean;
}

/** Between a provider's messages and items. What was not touched comes back as the very object that went in. */
export interface Codec {
  readonly decode: (messages: readonly unknown[], how?: Decoding) => Decoded;
  readonly encode: (items: readonly Item[], how: Encoding) => Encoded;
}

export type Role = "system" | "user" | "assistant" | "tool";

/** The items that will stand in one message. */
export interface Bundle {
  readonly role: Role;
  readonly items: Item[];
}

/** Which message an item belongs to, whoever speaks in it. */
export function roleOf(item: Item): Role {
  switch (item.kind) {
    case "system":
      return "system";
    case "user":
      return "user";
    case "output":
      return item.server === true ? "assistant" : "tool";
    case "approval-answer":
      return "tool";
    case "other":
      return item.by === "model" ? "assistant" : "user";
    default:
      return "assistant";
  }
}

/** The same in formats that know no tool: there the user brings the results. */
export function roleWithoutTool(item: Item): Role {
  const role = roleOf(item);
  return role === "tool" ? "user" : role;
}

/**
 * Whether a list of messages has a place for an item. Reasoning is sealed by its provider, approvals have no form that all
 * know, and what a provider ran itself stays with it: these go only where they were read.
 */
export function hasPlace(item: Item, format: WireFormat): boolean {
  if (item.origin?.format === format) return true;
  if (item.kind === "call" || item.kind === "output") return item.server !== true && item.callId !== undefined;
  return item.kind === "assistant" || item.kind === "user" || item.kind === "system";
}

/** Cuts items into messages: as they were read where they were read here, else one per answer. */
export function bundles(
  items: readonly Item[],
  format: WireFormat,
  { joins, roleIn = roleOf }: Cutting,
  { joined, split }: Encoding,
): readonly Bundle[] {
  const made: Bundle[] = [];
  for (const item of items) {
    const role = roleIn(item);
    const last = made.at(-1);
    const before = last?.items.at(-1);
    const one = before !== undefined && isOneMessage(before, item, format, role);
    if (last?.role === role && (one || joins(role))) {
      last.items.push(item);
      if (before !== undefined && isReadApart(before, item, format)) joined(made.length - 1);
    } else {
      if (item.origin?.format === format && isSameMessage(before?.origin, item.origin)) split(made.length);
      made.push({ role, items: [item] });
    }
  }
  return made;
}

function isReadApart(before: Item, item: Item, format: WireFormat): boolean {
  const both = before.origin?.format === format && item.origin?.format === format;
  return both && !isSameMessage(before.origin, item.origin);
}

function isOneMessage(before: Item, item: Item, format: WireFormat, role: Role): boolean {
  // A thought alone in its message is refused, also when it was kept that way.
  if (role === "assistant" && before.kind === "reasoning") return true;
  const here = before.origin?.format === format ? before.origin : undefined;
  const there = item.origin?.format === format ? item.origin : undefined;
  if (here !== undefined && there !== undefined) return isSameMessage(here, there);
  // What was shortened has lost its original. It still belongs to its answer: apart, the calls beside it lose their results.
  const isTold = item.step !== undefined || (here === undefined && there === undefined);
  return role === "assistant" && isTold && before.step === item.step;
}

/** Not the object alone: one that was sent twice is two messages. */
function isSameMessage(one: Origin | undefined, other: Origin | undefined): boolean {
  return one?.message === other?.message && one?.at === other?.at;
}

/** The message a bundle was read from, when nothing in it was added, taken, moved or changed. */
export function pristine(
  { role, items }: Bundle,
  format: WireFormat,
  write: (item: Item) => readonly unknown[],
): object | undefined {
  const origin = items[0]?.origin;
  if (origin?.format !== format || items.length !== origin.of || !isSpokenBy(origin.message, role, format))
    return undefined;
  for (let nth = 0; nth < items.length; nth += 1) {
    const item = items[nth] as Item;
    const from = item.origin;
    if (!isSameMessage(from, origin) || from?.nth !== nth || from.changed === true || write(item) !== from.pieces)
      return undefined;
  }
  return origin.message;
}

/** Whether a message is one in which that role speaks. Some formats know the tool for itself, to others it is the user. */
function isSpokenBy(message: object, role: Role, format: WireFormat): boolean {
  const { role: said } = message as { readonly role?: unknown };
  const byModel = said === "assistant" || said === "model";
  if (role === "assistant") return byModel;
  if (said === "system" || said === "developer") return role === "system";
  if (role === "tool" && format === "ai-sdk") return said === "tool";
  return !byModel;
}

/** Whether an item was read from a message in which its role does not speak: the codec writes it into another. */
export function isMisplaced(item: Item, format: WireFormat): boolean {
  const { kind, origin } = item;
  if (origin?.format !== format || format === "openai-responses" || kind === "other") return false;
  // The AI SDK keeps results of the host's beside their calls, too: such a message is split, and nothing in it was wrong.
  const kept = format === "ai-sdk" && kind === "output" && isSpokenBy(origin.message, "assistant", format);
  return !kept && !isSpokenBy(origin.message, roleOf(item), format);
}

/** The fields of the message a rebuilt one continues, so that what this version does not know is not lost. */
export function shellOf({ items }: Bundle, format: WireFormat): Readonly<Record<string, unknown>> {
  const origin = items.find((item) => item.origin?.format === format)?.origin;
  return (origin?.message ?? {}) as Record<string, unknown>;
}
