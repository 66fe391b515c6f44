/** The one door. Explicit names only; a gate keeps this list and its documentation in step. */
export { type Clock, FixedClock, type Instant, SystemClock } from "./base/clock.ts";
export { ERROR_CODES, type ErrorCode } from "./base/error-codes.ts";
export { HoldfastError } from "./base/errors.ts";
export { countingIds, type IdSource, randomIds } from "./base/ids.ts";
export {
  checkJson,
  JSON_LIMITS,
  type Json,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonRepair,
} from "./base/json.ts";
export { type Random, SeededRandom, SystemRandom } from "./base/random.ts";
export type { Result } from "./base/result.ts";
export { type Cut, type CutLimits, planCut } from "./context/boundary/cut.ts";
export { type Pressure, pressureOf } from "./context/boundary/pressure.ts";
export { leaveBehind, type LeftBehind, plainSummary } from "./context/boundary/summary.ts";
export { type CommitPlan, planCommit, type RejectedWriteback } from "./context/writeback/commit.ts";
export { durablePageOf } from "./context/writeback/shown.ts";
export {
  type DurableKind,
  type DurablePage,
  type DurablePages,
  type Entry as DurableEntry,
  type Field as DurableField,
  plainOf,
  versionOf,
  type Writeback,
  type WritebackOp,
  type WritebackTuple,
} from "./context/writeback/tuple.ts";
export {
  type Principal,
  PRINCIPALS,
  validateWriteback,
  type WritebackPredicate,
  type WritebackReason,
  type WritebackRejection,
  type WritebackWorld,
} from "./context/writeback/validate.ts";
export { type Calibration, budgetWithin, calibrate, reserveOf, UNCALIBRATED } from "./context/tokens/calibrate.ts";
export { contentCompressor } from "./context/compress/compress.ts";
export { type DeriveOptions, deriveView, type Marks, MARKS, TAIL_TOKENS } from "./context/derive.ts";
export { estimateCounter } from "./context/tokens/estimate.ts";
export { type Explanation, explainPage } from "./context/explain.ts";
export {
  type CallSeen,
  type ContextCounts,
  type ContextFault,
  FaultObserver,
  missedIn,
  NO_COUNTS,
  thrashOf,
} from "./context/faults.ts";
export { type Handle, type Lineage, looksLikeHandle } from "./context/handle.ts";
export { PageMaker, pagesOf } from "./context/ingest.ts";
export {
  classify,
  classifyAll,
  degradationPath,
  minFidelity,
  PAGE_KINDS,
  type PageKind,
  type ResidencyLevel,
  type RoleMessage,
} from "./context/kind.ts";
export { type CompressorFailure, makePage, type PageDeps, type PageSource } from "./context/make-page.ts";
export { itemTokens, MEDIA_COSTS, type MediaCosts } from "./context/tokens/count.ts";
export {
  degrade,
  type Demand,
  demandPage,
  type FloorRejection,
  type Page,
  type PageScope,
  type PinClass,
  pinPage,
  type Provenance,
  recencyAt,
  type Representation,
} from "./context/page.ts";
export {
  constraintPage,
  goalsOf,
  instructionFilePage,
  type PlanLike,
  planPage,
  type Preference,
  preferencePage,
  type Rule,
} from "./context/producers.ts";
export {
  type Backing,
  HandleTable,
  type RecallCode,
  type Recalled,
  type RecallFault,
  type RecallRequest,
} from "./context/recall.ts";
export { type ChosenLevels, type LevelRun, traceLine, viewChosen } from "./context/record.ts";
export { resumeView } from "./context/resume.ts";
export {
  type Candidate,
  type Selection,
  type SelectOptions,
  selectLevels,
  type Unmet,
  type UpgradeOrder,
} from "./context/select.ts";
export type { DerivePolicy, Reason, Reclaim, RefusedView, View, ViewEntry } from "./context/view.ts";
export {
  type AlignedPrompt,
  type Alignment,
  type AlignmentReport,
  type AlignOptions,
  alignPrompt,
  type StorySources,
  stillAligned,
} from "./alignment/align.ts";
export { checkAlignment, type LiveCatalog, type Story, type Verdict } from "./alignment/check.ts";
export { AlignmentCounters } from "./alignment/counters.ts";
export {
  ALIGNMENT_FAULT_KINDS,
  type AlignmentFault,
  type AlignmentFaultKind,
  explainFault,
} from "./alignment/faults.ts";
export { checkRequest } from "./alignment/request.ts";
export {
  type AlignmentError,
  MUTATING_HINTS,
  shouldRebuildRuntimePrompt,
  validatePromptCatalogAlignment,
} from "./alignment/seed-check.ts";
export { type CallAttempt, denialOfCall } from "./catalog/may-run.ts";
export { type OfferedTool, offerOf, type Permission } from "./catalog/offer.ts";
export { classifyShell, shellReadOnly } from "./catalog/shell.ts";
export { SessionToolCatalogSnapshot, type SnapshotTool } from "./catalog/snapshot.ts";
export {
  type CatalogChange,
  type CatalogState,
  changeCatalog,
  hashTools,
  INITIAL_CATALOG,
  snapshotCatalog,
} from "./catalog/state.ts";
export { ASK_USER, type CatalogTool, type Mode } from "./catalog/tool.ts";
export {
  PLAN_MODE_INTERVIEW_POLICY_LINE,
  PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE,
} from "./prompt/policy-lines.ts";
export {
  type PromptFault,
  type RenderedPrompt,
  type RenderOptions,
  renderPrompt,
  type SectionOverride,
  type Segment,
} from "./prompt/render.ts";
export {
  definePrompt,
  type Prompt,
  type PromptSection,
  sectionHash,
  type ToolMention,
  type Visibility,
} from "./prompt/section.ts";
export type { BackgroundCommand, BackgroundOptions } from "./exec/background.ts";
export type { DriverChoice } from "./exec/choose.ts";
export {
  EXEC_LIMITS,
  type ExecChanges,
  type ExecCommand,
  type ExecEnd,
  type ExecLimits,
  type ExecOptions,
  type ExecOutput,
  type ExecProtection,
  type ExecResult,
} from "./exec/command.ts";
export type { DriverName } from "./exec/driver.ts";
export type { ExecNote } from "./exec/evidence.ts";
export type { CoverLimits } from "./files/host/manifest.ts";
export type { Uncovered } from "./files/host/walk.ts";
export type { CallRecord, OutcomeSummary, Speaker } from "./history/call-record.ts";
export {
  CallRecords,
  callRecords,
  type ImportedRecords,
  importCallRecords,
  type Tombstone,
} from "./history/call-records.ts";
export { CONTEXT_DEFAULTS, type ContextConfig, contextConfig } from "./history/config.ts";
export { type CountByKind, countToolUse, HistoryCounters, type ToolUse } from "./history/counters.ts";
export {
  type Bond,
  FAULT_KINDS,
  type FaultKind,
  type HistoryFault,
  type Severity,
  severityOf,
} from "./history/faults.ts";
export { type ProtocolGroup, protocolGroups } from "./history/groups.ts";
export {
  glanceOf,
  HISTORY_GUIDANCE,
  historyBlock,
  type HistoryGlance,
  type HistoryLine,
} from "./history/history-block.ts";
export { HistoryIndex } from "./history/history-index.ts";
export { type RepairedMessages, type RepairMessagesOptions, repairMessages } from "./history/messages.ts";
export {
  ensureCallOutputsPresent,
  type Normalized,
  type NormalizeOptions,
  normalize,
  removeOrphanOutputs,
  validateHistoryInvariants,
} from "./history/normalize.ts";
export type { PairedHistory } from "./history/paired.ts";
export { flushPending, frozenOutputs, type PendingEnd } from "./history/pending.ts";
export type { RepairAction } from "./history/plan.ts";
export { type Repair, type Repaired, type RepairOptions, repairHistory, validateHistory } from "./history/repair.ts";
export { HistoryValidationReport, type MissingOutput, type OpenCall } from "./history/report.ts";
export type { CheckOptions } from "./history/resolve.ts";
export { type RolledBack, rollbackTurns } from "./history/rollback.ts";
export type { Quarantined } from "./history/saved.ts";
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
} from "./history/session.ts";
export { compactTail, cutThenPair, removeOldest, safeCut, type Trimmed, trimOldHistory } from "./history/trim.ts";
export { truncateOutput } from "./history/truncate.ts";
export {
  type HistoryRates,
  type HistoryUsage,
  ratesOf,
  sumOfUsage,
  type UsageCounter,
  usageCounter,
} from "./history/usage.ts";
export { checkWire, type WireFault, type WireRequest } from "./wire/check.ts";
export type { Decoded, Encoded, Malformed } from "./wire/codecs/codec.ts";
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
} from "./wire/item.ts";
export { keepItems, type KeptItem, type KeptItems, unkeepItems } from "./wire/keep.ts";
export { type ProfileChoice, type ProfileId, PROFILES, profileOf, type WireProfile } from "./wire/profiles.ts";
export { readMessages, type Written, writeMessages } from "./wire/project.ts";
export { WIRE_RULES, type WireRule, type WireRuleId } from "./wire/rules.ts";
export type { Adjustment } from "./wire/adjustment.ts";
export {
  asStr,
  OUTPUT_STATUSES,
  type OutputReason,
  type ParsedStatus,
  parseOutputStatus,
} from "./wire/status.ts";
export type { BlobStore, ByteRange, Bytes, ByteSource } from "./contracts/blob-store.ts";
export type {
  CodeAnswer,
  CodeFault,
  CodeHost,
  CodeQuestion,
  CodeResult,
  CodeRunner,
  CodeSeen,
  HistoryUse,
} from "./contracts/code-runner.ts";
export type { Aside } from "./contracts/aside.ts";
export type { Compressed, Compressible, Compressor } from "./contracts/compressor.ts";
export type { Summariser, Summary, SummaryAsk } from "./contracts/summariser.ts";
export type {
  FileEdit,
  FileEntry,
  FileKind,
  FileLimits,
  FileStat,
  Filesystem,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  ListOptions,
} from "./contracts/filesystem.ts";
export type { EventSink, EventSource, KernelEvent, MomentKind } from "./contracts/event-sink.ts";
export type { HeldLock, OsLocks } from "./contracts/lock.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "./contracts/schema.ts";
export type {
  AppendBatch,
  Conflict,
  CreateBatch,
  DamagedRow,
  DeleteBatch,
  DropBatch,
  Durability,
  Fence,
  ForgetBatch,
  ForkBatch,
  LeaseBatch,
  NewBlob,
  PreviousWriter,
  Receipt,
  RecordQuery,
  Reference,
  ReleaseBatch,
  RenameBatch,
  RenewBatch,
  SegmentSpan,
  SessionRow,
  Store,
  Shrunk,
  StoreRead,
  SweepBatch,
  Swept,
  WriteBatch,
} from "./contracts/store.ts";
export type {
  Answer,
  AskedCall,
  AskedInput,
  AskOptions,
  Model,
  ModelAbilities,
  ModelEvent,
  ModelFailure,
  ModelFailureKind,
  ModelRequest,
  PartialAnswer,
  ReasoningEffort,
  RenamedCall,
  SentRequest,
  StopReason,
  ToolOffer,
  Usage,
} from "./contracts/model.ts";
export type { TokenCounter } from "./contracts/token-counter.ts";
export type { StoreSource } from "./contracts/store-source.ts";
export type { ReadOnlyProof, ReadOnlyVerdict, ToolAccess, ToolActions } from "./contracts/tool-access.ts";
export { filesOf } from "./files/access.ts";
export { digestOfFiles, type DigestOptions } from "./files/digest.ts";
export type { Diverged } from "./files/host/apply.ts";
export type { RescueBounds, WorkspaceLimits } from "./files/host/limits.ts";
export { type HostPort, type HostStat, realHost } from "./files/host/port.ts";
export type { GivenUp } from "./files/host/given-up.ts";
export type { Rescued } from "./files/host/rescue.ts";
export type { KeptFile, ReturnedFile } from "./files/host/return.ts";
export type { Finished } from "./files/host/commit.ts";
export type { WorkspaceOptions } from "./files/host/options.ts";
export type { Binding as WorkspaceBinding } from "./files/host/part.ts";
export type { Workspace } from "./files/host/workspace.ts";
export { LARGEST_FILE } from "./files/tree-layer.ts";
export { type FilesystemSnapshot, InMemoryFilesystem } from "./files/memory.ts";
export { filesPart } from "./files/part.ts";
export type { TreeFile, TreeFolder, TreeNode } from "./files/tree.ts";
export type { AppendOptions } from "./journal/append-options.ts";
export { SMALL_BLOB } from "./journal/blobs.ts";
export { type Deleted, deleteSession, type Forgotten, planDeletion } from "./journal/delete.ts";
export { forkSession } from "./journal/fork.ts";
export { type Appended, Journal, type JournalDeps, type Opened } from "./journal/journal.ts";
export { type OpenOptions, openJournal } from "./journal/open.ts";
export type { DamagedEntry, JournalEntry } from "./journal/prove.ts";
export { type ReadOptions, readEntries } from "./journal/read.ts";
export type { ImportedBundle, ImportOptions } from "./journal/bundle/import.ts";
export { type BundleReport, type BundleSource, verifyBundle } from "./journal/bundle/read.ts";
export type { Fold } from "./journal/seal-batch.ts";
export { dropBodies, planRetention, type Retained, type RetentionBounds, retain } from "./journal/retention.ts";
export { type SweepOptions, type SweepReport, sweep } from "./journal/sweep.ts";
export {
  type BlobFault,
  type SessionVerdict,
  type VerifyOptions,
  type VerifyReport,
  verify,
} from "./journal/verify.ts";
export { CHUNK_BYTES, nameOfBytes } from "./records/blob-name.ts";
export { flawOf, genesisOf, type Link, MAX_SEQ, type RecordFlaw, type SealedRecord, seal } from "./records/chain.ts";
export { type DecodeFault, type DroppedRecord, decodeRecord } from "./records/codec.ts";
export {
  type BlobName,
  type CallId,
  callIdAt,
  type OwnerId,
  type SessionId,
  toBlobName,
  toSessionId,
} from "./records/ids.ts";
export type {
  BlobRef,
  BodyOf,
  CallEffects,
  JournalRecord,
  OutputStatus,
  RecordDraft,
  RecordKind,
} from "./records/kinds.ts";
export { Redactor, type Secret, type SecretOptions } from "./records/redact.ts";
export type { Branch } from "./state/branch.ts";
export { CHECKPOINT_LIMIT, CheckpointStore, type ToolCheckpoint } from "./state/checkpoints.ts";
export {
  Plan,
  PromptExecuted,
  PromptRendered,
  ToolInvoked,
  type VisibilityOverride,
  VisibilityOverrides,
  WorkspaceDigest,
} from "./state/default-slices.ts";
export type { Change, Delta } from "./state/delta.ts";
export { ExecutionStateError, RestoreFailedError, SnapshotMismatchError } from "./state/errors.ts";
export {
  ExecutionState,
  type RestoreHow,
  rollbackToTool,
  type SnapshotOptions,
  type StateOptions,
} from "./state/execution-state.ts";
export {
  type AnyPart,
  type Content,
  type Part as StatePart,
  type PartChange,
  type PartContents,
  type RootChange,
  type RootDelta,
  type SlicePolicy,
} from "./state/part.ts";
export { reducers } from "./state/reducers.ts";
export { lazily, type ResourceKey, ResourceRegistry, resourceKey, type Snapshotable } from "./state/resources.ts";
export type { RestoreOptions, RestorePlan } from "./state/restore.ts";
export { Root } from "./state/root.ts";
export { SessionSnapshotAdapter, SessionState } from "./state/session-state.ts";
export { type AnySlice, defineSlice, type Slice, type SliceDefinition, type SliceEvent } from "./state/slice.ts";
export type {
  CompositeSnapshot,
  SliceSelection,
  Snapshot,
  SnapshotDifference,
  SnapshotMetadata,
  SnapshotPhase,
} from "./state/snapshot.ts";
export type { StateLedger } from "./state/truth.ts";
export {
  BUDGET,
  type BudgetDimension,
  type BudgetLimits,
  type BudgetSnapshot,
  BudgetTracker,
  type TokenUsage,
} from "./transaction/budget.ts";
export type { Call, Rewindable, TakeBack } from "./transaction/call.ts";
export { DEADLINE, Deadline, PromptEvaluationError } from "./transaction/deadline.ts";
export {
  EffectDidNotHappen,
  type EffectEntry,
  type EffectReport,
  type EffectSpec,
  effectWords,
  type Standing,
} from "./transaction/effect.ts";
export {
  DeadlineExceededError,
  type Failure,
  ToolValidationError,
  VisibilityExpansionRequired,
} from "./transaction/ending.ts";
export type { ClosedCall, EffectLedger, Ledger, OpenedCall } from "./transaction/ledger.ts";
export type { CallLimits, ToolCall } from "./transaction/call-world.ts";
export type { CallOutcome } from "./transaction/outcome.ts";
export type { PendingCall } from "./transaction/pending.ts";
export {
  type PolicyView,
  readBeforeWrite,
  readPaths,
  sequentialDependency,
  succeededTools,
  type ToolPolicy,
} from "./transaction/policy.ts";
export {
  beginCall,
  type RunToolOptions,
  runTool,
  type ToolContext,
  type ToolResult,
  ToolRunner,
} from "./transaction/runner.ts";
export { defineTool, type Tool, type ToolSpec, type WaitsFor } from "./transaction/tool.ts";
export {
  type PartedResult,
  partsText,
  type ResultMedia,
  type ResultPart,
  toolResult,
} from "./transaction/result-parts.ts";
export type { AttemptFailure, OutputValidator, OutputView } from "./transaction/validators.ts";
export { type TelemetryFailure, type TransactionOptions, Transactions } from "./transaction/transactions.ts";
export { askUser } from "./turn/ask-user.ts";
export { answered } from "./turn/answered.ts";
export type { Boundary, CompactOptions, Crossed, PruneOptions } from "./turn/boundaries.ts";
export { planTool } from "./turn/plan-tool.ts";
export type { RetryOptions } from "./turn/ask.ts";
export { PinnedRules } from "./turn/context-slices.ts";
export type { BoundarySide, CheckpointAudit, DamagedBoundary, SessionCheckpoints } from "./turn/checkpoints.ts";
export type { ExportOptions } from "./turn/bundle.ts";
export type { DroppedSecrets } from "./turn/drop-secrets.ts";
export type { AsideUse, RunEnd, RunEvent } from "./turn/events.ts";
export type { SessionFold } from "./turn/fold.ts";
export type { ToolBoundary } from "./turn/tool-boundaries.ts";
export { createHoldfast, type DamagedSession, Holdfast, type SessionOpening } from "./turn/holdfast.ts";
export type { HoldfastOptions, SessionOptions } from "./turn/holdfast-options.ts";
export type { LimitKind, RunLimits, Spent } from "./turn/limits.ts";
export { type Executed, finished, MainLoop, type MainLoopOptions } from "./turn/main-loop.ts";
export type { AskSomebody, WaitingCall, Reply } from "./turn/waiting.ts";
export type { LookedRewind, SessionLook, WriterState } from "./turn/look.ts";
export type { LookedView } from "./turn/look-view.ts";
export { INTERRUPTED, type Recovered } from "./turn/recover.ts";
export type { ExecSettings } from "./turn/session-exec.ts";
export { agentSessionOf } from "./turn/agent-names.ts";
export type { SubAgent } from "./turn/sub-agent.ts";
export type { AgentReturn, RewindOptions, RewindReport, RewindScope, RewindTarget } from "./turn/rewind.ts";
export type { RequestOptions } from "./turn/request.ts";
export type { AsidePurpose } from "./turn/aside.ts";
export {
  type ProjectFault,
  type ProjectFaultKind,
  type ProjectOptions,
  type ProjectRules,
  readProjectRules,
} from "./turn/project-rules.ts";
export { compressWith, type CompressWithOptions } from "./turn/compress-with.ts";
export { summariseWith, type SummariseWithOptions } from "./turn/summarise-with.ts";
export type { RunOptions } from "./turn/run-options.ts";
export type { UserInput } from "./turn/said-records.ts";
export { Session } from "./turn/session.ts";
export type { SessionCall } from "./turn/session-parts.ts";
export type { SessionCatalog } from "./turn/session-catalog.ts";
export type { CompactionOptions, ContextOptions } from "./turn/context-options.ts";
export type { SessionContext } from "./turn/session-context.ts";
export type { StoryOptions } from "./turn/story.ts";
export type { Flushed, RememberOptions, SessionWriteback, WritebackOptions } from "./turn/writeback.ts";
export { StagedWritebacks, type WantedWriteback } from "./turn/writeback-slices.ts";
export type { SinkFailure, TelemetryOptions } from "./turn/teller.ts";
