import { HoldfastError } from "../base/errors.ts";
import { type IdSource, randomIds } from "../base/ids.ts";
import type { CatalogState } from "../catalog/state.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import type { CodeRunner } from "../contracts/code-runner.ts";
import { type Binding, WORKSPACE_PART, workspacePart, type WorkspaceValue } from "../files/host/part.ts";
import type { WorkspaceOptions } from "../files/host/options.ts";
import { appendReserved, type Journal, type JournalDeps } from "../journal/journal.ts";
import { rowOf } from "../journal/read.ts";
import type { RetentionBounds } from "../journal/retention.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { Prompt } from "../prompt/section.ts";
import { toSessionId } from "../records/ids.ts";
import type { Redactor } from "../records/redact.ts";
import { CheckpointStore } from "../state/checkpoints.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { AnyPart, RootChange } from "../state/part.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { Root } from "../state/root.ts";
import { DEFAULT_SLICES } from "../state/default-slices.ts";
import { type AnySlice, anyPartOf } from "../state/slice.ts";
import type { EffectEntry } from "../transaction/effect.ts";
import type { ToolPolicy } from "../transaction/policy.ts";
import type { Tool } from "../transaction/tool.ts";
import { type TransactionOptions, Transactions } from "../transaction/transactions.ts";
import { catalogPart } from "./catalog-part.ts";
import { catalogPolicy } from "./catalog-policy.ts";
import { EffectBlobs } from "./effect-blobs.ts";
import type { SessionFold } from "./fold.ts";
import { type Ground, grounds } from "./ground.ts";
import { JournalLedger } from "./journal-ledger.ts";
import type { Family } from "./open-sessions.ts";
import { PartBlobs } from "./part-blobs.ts";
import { openSectionsTool } from "./open-sections.ts";
import { type Rebuilt, rebuildNewest } from "./rebuild.ts";
import { recover } from "./recover.ts";
import { isDue, keepCheckpoint } from "./keep-checkpoint.ts";
import { Session } from "./session.ts";
import type { SessionParts } from "./session-parts.ts";
import { type CatalogHome, SessionCatalog } from "./session-catalog.ts";
import { isShelf } from "./shelves.ts";
import { isNumbered, StagedWritebacks } from "./writeback-slices.ts";
import { isDefault, KERNEL_PARTS } from "./kernel-parts.ts";
import { recallTool } from "./recall-tool.ts";
import { Programs } from "./programs.ts";
import { runCodeTool } from "./run-code-tool.ts";
import { SessionHistory } from "./session-history.ts";
import type { ContextOptions } from "./context-options.ts";
import { SessionContext } from "./session-context.ts";
import { execIn, type ExecSettings } from "./session-exec.ts";
import type { ReadContent } from "./show-media.ts";
import { faultRecord, Story } from "./story.ts";
import { type Lender, type SubAgent, subAgentTool, takeBack, toolsFor, unknownTo } from "./sub-agent.ts";
import type { TelemetryOptions } from "./teller.ts";
import { Upkeep } from "./upkeep.ts";
import type { SessionFiles } from "./session-files.ts";
import type { Workspaces } from "./workspaces.ts";
import { type RememberGround, rememberTool } from "./remember-tool.ts";
import { outOfReach, type SessionWriteback, type WritebackOptions } from "./writeback.ts";

/** What every session of one kernel is given. */
export interface SessionOptions
  extends Pick<TransactionOptions, "parallel" | "commitOrder" | "observe" | "onTelemetryFailure"> {
  readonly tools?: readonly Tool[];
  /** Agents that a session's model may give tasks to. */
  readonly agents?: readonly SubAgent[];
  readonly slices?: readonly AnySlice[];
  readonly policies?: readonly ToolPolicy[];
  /** Further parts of the root, beside slices: journalled, kept in checkpoints, rewound and forked like everything else. */
  readonly parts?: readonly AnyPart[];
  /** What every request says before the conversation. */
  readonly prompt?: Prompt;
  /** How much of a conversation its model sees, and what always stands before it. */
  readonly context?: ContextOptions;
  /** Who may write back, and what is checked beside the kernel's own rules. */
  readonly writeback?: WritebackOptions;
  readonly resources?: () => Iterable<readonly [ResourceKey<unknown>, unknown]>;
  readonly ids?: IdSource;
  /** Upper bounds on what is kept, put into effect when a session is opened and as it grows. What is cut off leaves a record. */
  readonly retention?: RetentionBounds;
  /** Runs programs that a model writes, e.g. `quickjs()`: with it there is a tool `run_code`. */
  readonly code?: CodeRunner;
  /** Who hears of what happens. */
  readonly telemetry?: TelemetryOptions;
  /** How many tool boundaries can be returned to. Default 100. */
  readonly checkpoints?: { readonly limit?: number };
  readonly development?: boolean;
  /** The folder whose files calls change; without one, files live in memory and beside the journal. */
  readonly workspace?: string | WorkspaceOptions;
  /** How commands run in the workspace. */
  readonly exec?: ExecSettings;
}

/** What a session has of its kernel: among it, forks and sessions that work for it. */
export interface Around extends Pick<SessionParts<Session>, "fork" | "left" | "workspaces" | "shelves" | "teller"> {
  readonly child: (id: string, tools: readonly Tool[], parent: SessionCatalog) => Promise<Session>;
}

/** Brings an opened journal to life: calls that were cut off are closed, the state is what was committed. */
export async function resumeSession(
  deps: JournalDeps,
  journal: Journal<SessionFold>,
  options: SessionOptions & { readonly family: Family },
  around: Around,
  as?: Binding["mode"],
): Promise<Session> {
  const blobs = new PartBlobs(journal);
  const rebuilt = await rebuildNewest(journal, partsOf(options), blobs);
  const files = await attached(around.workspaces, journal, options, rebuilt.root, as);
  try {
    return await revive(deps, journal, options, { around, blobs, rebuilt, files, isFork: as !== undefined });
  } catch (error) {
    if (files !== undefined) await around.workspaces.leave(files.workspace);
    throw error;
  }
}

interface Revived extends Pick<SessionParts, "blobs"> {
  readonly around: Around;
  readonly rebuilt: Rebuilt;
  readonly files: SessionFiles | undefined;
  readonly isFork: boolean;
}

async function revive(
  deps: JournalDeps,
  journal: Journal<SessionFold>,
  options: SessionOptions & { readonly family: Family },
  { around, blobs, rebuilt, files, isFork }: Revived,
): Promise<Session> {
  const { fork, left, child, workspaces, shelves, teller } = around;
  teller.begin(journal.folded.history);
  const recovered = await recover(journal, rebuilt.skipped);
  if (journal.head.seq === 0) await appendReserved(journal, { kind: "session-created", session: journal.session });
  // Inside the gate: the change is durable and about to be true, so a checkpoint of its root belongs right here.
  const written = async ({ root }: RootChange) => {
    if (isDue(journal) && !state.poisoned)
      await keepCheckpoint({ store: deps.store, journal, blobs, effectBlobs, state }, root, {}).catch(
        teller.checkpointFailed,
      );
  };
  const effectBlobs = new EffectBlobs(journal);
  const ledger = new JournalLedger(journal, written, () => state.truth.parts, files);
  const state = ExecutionState.create({
    parts: [...rebuilt.parts.values()]
      .filter(({ name }) => !isDefault(name))
      .map((part) => (files !== undefined && part.name === WORKSPACE_PART ? files.part : part)),
    root: rebuilt.root,
    ledger,
    redactor: journal.redactor,
    clock: deps.clock,
    random: deps.random,
    ids: options.ids ?? randomIds(deps.random),
    checkpoints: new CheckpointStore(options.checkpoints),
    resources: options.resources?.() ?? [],
    ...(options.development === undefined ? {} : { development: options.development }),
  });
  await state.takeUpResources();
  const byCatalog = catalogPolicy(() => catalog);
  const { tools = [], agents = [], policies = [], prompt, family } = options;
  const redact = (text: string) => journal.redactor.text(text);
  const context = new SessionContext(state, options.context, { shelves, openedAt: journal.head.seq, redact });
  const exec = files === undefined ? undefined : execIn(files, redact, options.exec);
  const history = options.code === undefined ? undefined : new SessionHistory(journal);
  const lender: Lender = {
    open: async (id, agent) => {
      const own = new Set<Tool>(kernel);
      const offered = transactions.tools.filter((tool) => !own.has(tool));
      const unknown = unknownTo(agent, offered);
      // The model that called it hears of it, too, and cannot mend it.
      if (unknown.length > 0)
        await journal.append(faultRecord("agent-tools-unknown", { agent: agent?.name, tools: unknown }));
      return child(id, toolsFor(agent, offered), catalog);
    },
    known: (id) => deps.store.reading(async (read) => (await read.session(toSessionId(id))) !== undefined),
    ground: () => grounds.get(state) as Ground,
  };
  const kernel = [
    ...kernelTools(options, context, (name) => journal.readBlob(name)),
    ...rememberTools(options.writeback, { context, writeback: () => lender.ground().writeback as SessionWriteback }),
    ...agents.map((agent) => subAgentTool(agent, lender)),
    ...codeTools(options, history, () => transactions.tools),
  ];
  const reserved = kernel.map(({ name }) => name);
  refuseNamesakes([...tools, ...kernel], reserved);
  const { parallel, commitOrder, onTelemetryFailure } = options;
  const transactions = new Transactions(state, {
    ...(parallel === undefined ? {} : { parallel }),
    ...(commitOrder === undefined ? {} : { commitOrder }),
    ...(onTelemetryFailure === undefined ? {} : { onTelemetryFailure }),
    observe: (outcome) => {
      teller.outcome(outcome);
      return options.observe?.(outcome);
    },
    ledger,
    tools: [...tools, ...kernel],
    policies: [byCatalog, ...policies],
    ...(exec === undefined ? {} : { execHost: exec }),
  });
  const catalog = new SessionCatalog(homeIn(state, ledger, journal.redactor), transactions, family, reserved);
  const outside = await effectBlobs.load(journal.folded.effects.values());
  for (const { entry, standing, owners } of outside.effects)
    transactions.effects.recall(entry, standing, owners, journal.folded.inside);
  const cutOff = isFork ? undefined : await cutOffFork(deps.store, journal);
  if (isFork || cutOff !== undefined) transactions.effects.disown();
  // What was begun to be undone, or taken back by a rewind, when an earlier process was cut off.
  await transactions.finishUndoing();
  if (rebuilt.modeInDoubt && catalog.own.mode === "act")
    await catalog.setMode("plan", "records are damaged, and one of them may have begun plan mode");
  if (cutOff !== undefined) {
    if (catalog.own.mode === "act")
      await catalog.setMode("plan", "it was forked, and nobody knows whether from a session in plan mode");
    await appendReserved(journal, cutOff);
  }
  const story = new Story(state, catalog, {
    teller,
    ...(prompt === undefined ? {} : { prompt }),
    ...(history === undefined ? {} : { history: () => history.upToNow() }),
  });
  if (files !== undefined) await bind(state, files);
  if (!isShelf(journal.session)) await shelves.load();
  const staged = state.session.get(StagedWritebacks).filter(isNumbered);
  teller.moment("session-opened", { closedCalls: recovered.closedCalls.length, damaged: recovered.damaged.length });
  const { counter = estimateCounter } = options.context ?? {};
  const returning: SessionParts<Session>["agents"] = (of, calls, dryRun) => takeBack(of, calls, lender, dryRun);
  const session = new Session({
    store: deps.store,
    journal,
    blobs,
    effectBlobs,
    ledger,
    state,
    transactions,
    recovered: staged.length === 0 ? recovered : { ...recovered, staged: staged.map(({ id }) => id) },
    fork,
    left,
    story,
    workspaces,
    shelves,
    teller,
    upkeep: new Upkeep({ store: deps.store, clock: deps.clock, journal, teller, counter }, options.retention),
    context,
    agents: returning,
    ...(options.writeback === undefined ? {} : { writebackOptions: options.writeback }),
    ...(files === undefined || exec === undefined ? {} : { files, exec }),
  });
  await tellGone(session, outside.gone);
  await takeBackCutOff(session, returning);
  await reconcile(session);
  await catalog.join();
  return session;
}

/**
 * A fork says that it is one when its mode, and whom it works for, are those of its origin. One that does not was cut off
 * in between, and what it would have inherited is not known any more. Answers what it had still to say.
 */
async function cutOffFork(
  store: JournalDeps["store"],
  journal: Journal<SessionFold>,
): Promise<Extract<RecordDraft, { readonly kind: "forked" }> | undefined> {
  const { segments, anchor } = await rowOf(store, journal.session);
  const after = segments.at(-2)?.through ?? 0;
  if (after === 0 || anchor.seq > after) return undefined; // no fork, or one so old that its beginning is gone
  for await (const { kind } of journal.read({ from: after + 1 })) if (kind === "forked") return undefined;
  let from = journal.session;
  for await (const entry of journal.read({ to: 1 })) if (entry.kind === "session-created") from = entry.session;
  return { kind: "forked", from, after };
}

/** What an earlier process staged and did not commit. A shelf out of reach leaves it staged: it is tried again at the next boundary. */
async function reconcile({ writeback, state }: Session): Promise<void> {
  try {
    await writeback.commit();
  } catch (error) {
    // It may be written all the same, and nobody could use a session that does not know. The next opening reads what is true.
    if (state.poisoned) throw error;
    outOfReach(error);
  }
}

/** Effects whose content is lost. Kept as such at once: they are told once, and the next opening asks for nothing that is gone. */
async function tellGone(session: Session, gone: readonly EffectEntry[]): Promise<void> {
  if (gone.length === 0) return;
  await session.checkpoint();
  await session.append(gone.map(({ tool, name, key }) => faultRecord("effect-lost", { tool, name, key })));
}

/** A crash that cut a call off left what its sub-agent had done by then. It goes, as if the call had been discarded. */
async function takeBackCutOff(session: Session, takenBack: SessionParts<Session>["agents"]): Promise<void> {
  const { closedCalls } = session.recovered;
  const stuck = (await takenBack(session, closedCalls, false)).filter(({ why }) => why !== undefined);
  if (stuck.length > 0) await session.append(stuck.map((one) => faultRecord("agent-not-taken-back", one)));
}

/** One of two under one name would be lost, and nobody would know which. */
function refuseNamesakes(tools: readonly Tool[], reserved: readonly string[]): void {
  const known = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool;
    if ((known.get(name) ?? tool) !== tool)
      throw new HoldfastError("TOOL_NAME_TAKEN", { tool: name, by: reserved.includes(name) ? "the kernel" : "a tool" });
    known.set(name, tool);
  }
}

/** What the kernel itself lets a model do: read again what was left out, open sections of the prompt. */
function kernelTools(
  { prompt, context: { recall = true } = {} }: SessionOptions,
  context: SessionContext,
  read: ReadContent,
): readonly Tool[] {
  const opening = prompt === undefined ? undefined : openSectionsTool(prompt);
  const recalling = recall ? recallTool((request) => context.recall(request), read) : undefined;
  return [opening, recalling].filter((tool) => tool !== undefined);
}

function rememberTools(options: WritebackOptions | undefined, ground: RememberGround): readonly Tool[] {
  const remember = options?.remember;
  return remember === undefined ? [] : [rememberTool(ground, remember === true ? {} : remember)];
}

/** Programs, where somebody brought what runs them. */
function codeTools(
  { code: runner, slices = [] }: SessionOptions,
  history: SessionHistory | undefined,
  tools: () => readonly Tool[],
): readonly Tool[] {
  if (runner === undefined || history === undefined) return [];
  return [runCodeTool({ runner, history, tools, slices: [...DEFAULT_SLICES, ...slices].map(anyPartOf) })];
}

/** The catalog in the root: every change of it goes through the gate, with the records that tell of it. */
function homeIn({ truth }: ExecutionState, ledger: JournalLedger, redactor: Redactor): CatalogHome {
  const now = () => truth.root.get(catalogPart.name) as CatalogState;
  return {
    get state() {
      return now();
    },
    change: (next) =>
      truth.gate.run(async () => {
        const { to: wanted, drafts } = next(now());
        if (wanted === now()) return;
        const to = { ...wanted, reason: redactor.text(wanted.reason) }; // the only words of somebody's in it
        const branch = truth.branch();
        branch.change(catalogPart, () => to);
        await truth.commit(branch.onto(truth.root), (change) => ledger.write(drafts, change, to.reason));
      }),
  };
}

/** The folder this session works in, when the kernel was given one. */
async function attached(
  workspaces: Workspaces,
  journal: Journal<SessionFold>,
  { workspace }: SessionOptions,
  root: Root,
  as: Binding["mode"] | undefined,
): Promise<SessionFiles | undefined> {
  if (workspace === undefined) return undefined;
  const options = typeof workspace === "string" ? { root: workspace } : workspace;
  return workspaces.attach(options, journal, root.get(WORKSPACE_PART) as WorkspaceValue | undefined, as);
}

/** From now on the session knows its folder, by the folder's own name. */
async function bind(state: ExecutionState, { part, binding }: SessionFiles): Promise<void> {
  const now = state.root.get(WORKSPACE_PART) as WorkspaceValue;
  if (now.binding?.mode === binding.mode && now.binding.workspace === binding.workspace) return;
  await state.truth.change((branch) => branch.change(part, (value) => ({ ...value, binding })), "workspace bound");
}

/** Every part this kernel knows: the seed's slices, its own, those its policies remember in, files, catalog, resources. */
export function partsOf({
  slices = [],
  policies = [],
  parts = [],
  workspace,
  code,
}: SessionOptions): readonly AnyPart[] {
  const programs: readonly AnySlice[] = code === undefined ? [] : [Programs];
  const theirs = [...slices, ...programs, ...policies.flatMap((policy) => policy.slices ?? [])].map(anyPartOf);
  const workspaces = workspace === undefined ? [] : [workspacePart];
  return [...new Set([...KERNEL_PARTS, ...theirs, ...workspaces, ...parts])];
}
