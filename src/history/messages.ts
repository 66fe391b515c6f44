import { HoldfastError } from "../base/errors.ts";
import { ANYTHING, BOOLEAN, checkOptions, type OptionRules } from "../base/options.ts";
import type { ToolCallId, WireFormat } from "../wire/item.ts";
import type { Malformed } from "../wire/codecs/codec.ts";
import { type ProfileId, profileOf, PROFILES, type WireProfile } from "../wire/profiles.ts";
import { readMessages, writeMessages, type Written } from "../wire/project.ts";
import type { Adjustment } from "../wire/adjustment.ts";
import { NORMALIZE_OPTIONS, type NormalizeOptions, normalize } from "./normalize.ts";
import type { Repair } from "./repair.ts";
import type { HistoryValidationReport } from "./report.ts";

/** Options of `repairMessages`. */
export interface RepairMessagesOptions extends Omit<NormalizeOptions, "index" | "only" | "profile"> {
  /** The format of the messages. */
  readonly format: WireFormat;
  /**
   * Set when the list continues a conversation that the provider keeps, as with `previous_response_id`
   * (`openai-responses` only).
   */
  readonly continues?: boolean;
  /** The provider whose demands the messages must meet. Default: the one that the format belongs to. */
  readonly profile?: ProfileId | WireProfile;
}

/** The repaired messages, and what was wrong with them. */
export interface RepairedMessages<T, List extends readonly T[] = readonly T[]> {
  /**
   * The repaired messages: the same array when nothing was wrong. Every untouched message is the same object that went
   * in.
   */
  readonly messages: List;
  /** What was wrong between calls and outputs. Positions are those of items, not of messages; see `messageAt`. */
  readonly report: HistoryValidationReport;
  readonly repairs: readonly Repair[];
  /** Changes of form that the provider required. */
  readonly adjustments: readonly Adjustment[];
  readonly malformed: readonly Malformed[];
  /** Ids that are sent in another form than they were given. */
  readonly aliases: ReadonlyMap<ToolCallId, string>;
  /** New ids of calls that shared an id or had none, by the position of the call's item. */
  readonly renamed: ReadonlyMap<number, ToolCallId>;
  /** The index of the message that an item was read from: `messageAt(fault.at)`. */
  readonly messageAt: (item: number) => number;
  /** Instructions that were among the messages, for formats that carry them separately. */
  readonly instructions: readonly string[];
}

const { index: _index, only: _only, ...CHECKS } = NORMALIZE_OPTIONS;

const OPTIONS: OptionRules<RepairMessagesOptions> = {
  ...CHECKS,
  format: ANYTHING, // looked up by its name, and refused there
  profile: ANYTHING,
  continues: BOOLEAN,
};

/**
 * Repairs messages so that their provider accepts them. It works on any SDK's message type and returns the same type,
 * as a mutable list if a mutable one went in.
 */
export function repairMessages<T extends object>(
  messages: T[],
  options: RepairMessagesOptions,
): RepairedMessages<T, T[]>;
export function repairMessages<T extends object>(
  messages: readonly T[],
  options: RepairMessagesOptions,
): RepairedMessages<T>;
export function repairMessages<T extends object>(
  messages: readonly T[],
  options: RepairMessagesOptions,
): RepairedMessages<T> {
  checkOptions(options, OPTIONS, ["format"]);
  const { format, profile = format, continues = false, ...rest } = options;
  const chosen = choose(format, profile);
  const { items, malformed } = read(messages, format, continues);
  const [unread] = malformed;
  if (options.mode === "strict" && unread !== undefined) {
    throw new HoldfastError("MESSAGES_UNREADABLE", { format, ...unread, messages: malformed.length });
  }
  const { history, report, repairs, renamed } = normalize(items, { ...rest, profile: chosen.id });
  const written = writeMessages(history, chosen);
  const same = malformed.length === 0 && isSame(messages, written);
  const { adjustments, aliases, instructions } = written;
  return {
    messages: same ? messages : (written.messages as readonly T[]),
    report,
    repairs,
    adjustments: [...malformed.map(({ at }) => ({ kind: "message-malformed", at }) as const), ...adjustments],
    malformed,
    aliases,
    instructions,
    renamed,
    messageAt: (item) => items[item]?.origin?.at ?? -1,
  };
}

/** A name that a caller without types mistyped is told with those that exist. */
function choose(format: WireFormat, profile: ProfileId | WireProfile): WireProfile {
  const formats = [...new Set(Object.values(PROFILES).map((known) => known.format))];
  if (!formats.includes(format)) {
    throw new HoldfastError("BAD_OPTION", { option: "format", got: String(format), known: formats });
  }
  const chosen = profileOf(profile);
  if (chosen.format === format) return chosen;
  throw new HoldfastError("BAD_OPTION", { option: "profile", got: chosen.id, format });
}

/** A getter or a Proxy of the caller may throw while it is read: theirs to mend, and told as such. */
function read(messages: readonly unknown[], format: WireFormat, continues: boolean): ReturnType<typeof readMessages> {
  if (!Array.isArray(messages)) throw new HoldfastError("MESSAGES_UNREADABLE", { format, why: "not an array" });
  try {
    return readMessages(messages, format, { continues });
  } catch (cause) {
    throw new HoldfastError("MESSAGES_UNREADABLE", { format, why: String(cause) }, { cause });
  }
}

function isSame(messages: readonly object[], written: Written): boolean {
  return (
    messages.length === written.messages.length && written.messages.every((message, at) => message === messages[at])
  );
}
