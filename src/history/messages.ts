import { HoldfastError } from "../base/errors.ts";
import type { ToolCallId, WireFormat } from "../wire/item.ts";
import type { Malformed } from "../wire/codecs/codec.ts";
import { type ProfileId, PROFILES, type WireProfile } from "../wire/profiles.ts";
import { readMessages, writeMessages, type Written } from "../wire/project.ts";
import type { Adjustment } from "../wire/shape.ts";
import { type NormalizeOptions, normalize } from "./normalize.ts";
import type { Repair } from "./repair.ts";
import type { HistoryValidationReport } from "./report.ts";

export interface RepairMessagesOptions extends Omit<NormalizeOptions, "index" | "only" | "profile"> {
  /** The shape of the messages. */
  readonly format: WireFormat;
  /** Whose demands they must meet; the format's own provider when left out. */
  readonly profile?: ProfileId | WireProfile;
}

export interface RepairedMessages<T> {
  /** The same array when nothing was wrong; every untouched message is the object that went in. */
  readonly messages: readonly T[];
  /** What was wrong between calls and outputs, by position among the items that the messages hold. */
  readonly report: HistoryValidationReport;
  readonly repairs: readonly Repair[];
  /** Changes of form that the provider demands. */
  readonly adjustments: readonly Adjustment[];
  readonly malformed: readonly Malformed[];
  /** Ids that are sent differently from how they were given. */
  readonly aliases: ReadonlyMap<ToolCallId, string>;
  /** Instructions that stood among the messages of a format which carries them beside. */
  readonly instructions: readonly string[];
}

/** Messages that their provider will take. Structural: any SDK's message type goes in and the same comes out. */
export function repairMessages<T extends object>(
  messages: readonly T[],
  options: RepairMessagesOptions,
): RepairedMessages<T> {
  const { format, profile = format, ...rest } = options;
  const chosen = typeof profile === "string" ? PROFILES[profile] : profile;
  if (chosen.format !== format) {
    throw new HoldfastError("BAD_OPTION", { option: "profile", profile: chosen.id, format });
  }
  const { items, malformed } = read(messages, format);
  const { history, report, repairs } = normalize(items, { ...rest, profile: chosen.id });
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
  };
}

/** A getter or a Proxy of the caller may throw while it is read: theirs to mend, and told as such. */
function read(messages: readonly unknown[], format: WireFormat): ReturnType<typeof readMessages> {
  if (!Array.isArray(messages)) throw new HoldfastError("MESSAGES_UNREADABLE", { format, why: "not an array" });
  try {
    return readMessages(messages, format);
  } catch (cause) {
    throw new HoldfastError("MESSAGES_UNREADABLE", { format, why: String(cause) }, { cause });
  }
}

function isSame(messages: readonly object[], written: Written): boolean {
  return (
    messages.length === written.messages.length && written.messages.every((message, at) => message === messages[at])
  );
}
