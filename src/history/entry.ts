/** The door of `holdfast/history`: call/output pairing alone. It loads no Node module, so it runs where there is none. */
export { HoldfastError } from "../base/errors.ts";
export { CONTEXT_DEFAULTS, type ContextConfig, contextConfig } from "./config.ts";
export { type CountByKind, countToolUse, HistoryCounters, type ToolUse } from "./counters.ts";
export { type Bond, FAULT_KINDS, type FaultKind, type HistoryFault, type Severity, severityOf } from "./faults.ts";
export { type ProtocolGroup, protocolGroups } from "./groups.ts";
export { HistoryIndex } from "./history-index.ts";
export { type RepairedMessages, type RepairMessagesOptions, repairMessages } from "./messages.ts";
export {
  ensureCallOutputsPresent,
  type Normalized,
  type NormalizeOptions,
  normalize,
  removeOrphanOutputs,
  validateHistoryInvariants,
} from "./normalize.ts";
export type { PairedHistory } from "./paired.ts";
export { flushPending, frozenOutputs, type PendingEnd } from "./pending.ts";
export type { RepairAction } from "./plan.ts";
export { type Repair, type Repaired, type RepairOptions, repairHistory, validateHistory } from "./repair.ts";
export { HistoryValidationReport, type MissingOutput, type OpenCall } from "./report.ts";
export type { CheckOptions } from "./resolve.ts";
export { type RolledBack, rollbackTurns } from "./rollback.ts";
export type { Quarantined } from "./saved.ts";
export {
  getHistoryForPrompt,
  type HistoryRepairedDraft,
  type LoadedSession,
  type LoadOptions,
  loadSession,
  type PromptOptions,
  type RecoveredHistory,
  recoverFromCrash,
  repairRecords,
} from "./session.ts";
export { compactTail, cutThenPair, removeOldest, safeCut, type Trimmed, trimOldHistory } from "./trim.ts";
export { truncateOutput } from "./truncate.ts";
export { checkWire, type WireFault, type WireRequest } from "../wire/check.ts";
export type { Decoded, Encoded, Malformed } from "../wire/codecs/codec.ts";
export {
  type ApprovalAnswerItem,
  type ApprovalRequestItem,
  type AssistantItem,
  type CallItem,
  type CallKind,
  type Item,
  isPairable,
  type MediaSource,
  type Notice,
  type Origin,
  type OtherItem,
  type OutputItem,
  type PairableHistoryItem,
  type Part,
  type ReasoningItem,
  type SystemItem,
  type ToolCallId,
  textOf,
  toolCallId,
  type UserItem,
  type WireFormat,
} from "../wire/item.ts";
export { type ProfileChoice, type ProfileId, PROFILES, profileOf, type WireProfile } from "../wire/profiles.ts";
export { readMessages, type Written, writeMessages } from "../wire/project.ts";
export { WIRE_RULES, type WireRule, type WireRuleId } from "../wire/rules.ts";
export type { Adjustment } from "../wire/adjustment.ts";
export {
  asStr,
  OUTPUT_STATUSES,
  type OutputReason,
  type OutputStatus,
  type ParsedStatus,
  parseOutputStatus,
} from "../wire/status.ts";
