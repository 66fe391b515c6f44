import { randomIds } from "../base/ids.ts";
import { estimateCounter } from "../context/tokens/estimate.ts";
import type { ExecHost } from "../exec/commands.ts";
import { type ExecNote, execPart, letGoOfOutputs } from "../exec/evidence.ts";
import { type Binding, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { appendReserved, type Journal, type JournalDeps } from "../journal/journal.ts";
import { toSessionId } from "../records/ids.ts";
import { CheckpointStore } from "../state/checkpoints.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { RootChange } from "../state/part.ts";
import type { EffectEntry } from "../transaction/effect.ts";
import type { Tool } from "../transaction/tool.ts";
import { Transactions } from "../transaction/transactions.ts";
import { agentCalls, agentsOf } from "./agents-return.ts";
import { homeIn } from "./catalog-home.ts";
import { catalogPolicy } from "./catalog-policy.ts";
import { EffectBlobs } from "./effect-blobs.ts";
import type { SessionFold } from "./fold.ts";
import { type Ground, grounds } from "./ground.ts";
import type { SessionOptions } from "./holdfast-options.ts";
import { JournalLedger } from "./journal-ledger.ts";
import { isDue, keepCheckpoint } from "./keep-checkpoint.ts";
import { isDefault, partsOf } from "./kernel-parts.ts";
import { kernelTools, refuseNamesakes } from "./kernel-tools.ts";
import type { Family } from "./open-sessions.ts";
import { PartBlobs } from "./part-blobs.ts";
import { rebuildNewest, type Rebuilt } from "./rebuild.ts";
import { recover } from "./recover.ts";
import { SessionCatalog } from "./session-catalog.ts";
import { SessionContext } from "./session-context.ts";
import { execIn } from "./session-exec.ts";
import type { SessionFiles } from "./session-files.ts";
import { SessionHistory } from "./session-history.ts";
import type { AgentsOf, SessionParts } from "./session-parts.ts";
import { Session } from "./session.ts";
import { isShelf } from "./shelves.ts";
import { faultRecord, Story } from "./story.ts";
import { type Lender, toolsFor, unknownTo } from "./sub-agent.ts";
import { cutOffFork } from "./unfinished-fork.ts";
import { Upkeep } from "./upkeep.ts";
import { isNumbered, StagedWritebacks } from "./writeback-slices.ts";
import { outOfReach, type SessionWriteback } from "./writeback.ts";

type ResumeOptions = SessionOptions & { readonly family: Family };

/** What a session has of its kernel: among it, forks and sessions that work for it. */
export interface Around extends Pick<SessionParts<Session>, "fork" | "left" | "workspaces" | "shelves" | "teller"> {
  readonly child: (id: string, tools: readonly Tool[], parent: SessionCatalog) => Promise<Session>;
}

/** Brings an opened journal to life: calls that were cut off are closed, the state is what was committed. */
export async function resumeSession(
  deps: JournalDeps,
  journal: Journal<SessionFold>,
  options: ResumeOptions,
  around: Around,
  as?: Binding["mode"],
): Promise<Session> {
  const { workspace } = options;
  const { workspaces } = around;
  const blobs = new PartBlobs(journal);
  const rebuilt = await rebuildNewest(journal, partsOf(options), blobs);
  const bound = rebuilt.root.get(WORKSPACE_PART) as WorkspaceValue | undefined;
  const files = workspace === undefined ? undefined : await workspaces.attach(workspace, journal, bound, as);
  try {
    return await revive({ deps, journal, options, around, blobs, rebuilt, files, isFork: as !== undefined });
  } catch (error) {
    if (files !== undefined) await workspaces.leave(files.workspace);
    throw error;
  }
}

/** What a session is brought to life from. */
interface Opened extends Pick<SessionParts, "blobs"> {
  readonly deps: JournalDeps;
  readonly journal: Journal<SessionFold>;
  readonly options: ResumeOptions;
  readonly around: Around;
  readonly rebuilt: Rebuilt;
  readonly files: SessionFiles | undefined;
  readonly isFork: boolean;
}

async function revive(opened: Opened): Promise<Session> {
  const { deps, journal, options, rebuilt, files } = opened;
  const { child: _child, ...around } = opened.around;
  const { shelves, teller } = around;
  teller.begin(journal.folded.history);
  const recovered = await recover(journal, rebuilt.skipped, (calls) => agentCalls(deps.store, journal.session, calls));
  if (journal.head.seq === 0) await appendReserved(journal, { kind: "session-created", session: journal.session });
  const effectBlobs = new EffectBlobs(journal);
  const { state, ledger } = stateOf(opened, effectBlobs, () => transactions);
  await state.takeUpResources();
  const redact = (text: string) => journal.redactor.text(text);
  const context = new SessionContext(state, options.context, { shelves, openedAt: journal.head.seq, redact });
  const exec = files === undefined ? undefined : execIn(files, redact, options.exec);
  const history = options.code === undefined ? undefined : new SessionHistory(journal);
  const { transactions, catalog, lender } = toolsOf(opened, { state, ledger, context, history, exec });
  const cutOff = opened.isFork ? undefined : await cutOffFork(deps.store, journal);
  const gone = await takeUpEffects(journal, effectBlobs, transactions, opened.isFork || cutOff !== undefined);
  await planInDoubt(opened, catalog, cutOff);
  const { prompt, retention, writeback } = options;
  const story = new Story(state, catalog, {
    teller,
    ...(prompt === undefined ? {} : { prompt }),
    ...(history === undefined ? {} : { history: () => history.upToNow() }),
  });
  await files?.bind(state);
  if (!isShelf(journal.session)) await shelves.load();
  const staged = state.session.get(StagedWritebacks).filter(isNumbered);
  teller.moment("session-opened", { closedCalls: recovered.closedCalls.length, damaged: recovered.damaged.length });
  const { counter = estimateCounter } = options.context ?? {};
  const { store, clock } = deps;
  const agents = agentsOf(store, journal.session, lender);
  const session = new Session({
    ...around,
    store,
    journal,
    blobs: opened.blobs,
    effectBlobs,
    ledger,
    state,
    transactions,
    recovered: staged.length === 0 ? recovered : { ...recovered, staged: staged.map(({ id }) => id) },
    story,
    upkeep: new Upkeep({ store, clock, journal, teller, counter }, retention),
    context,
    agents,
    ...(writeback === undefined ? {} : { writebackOptions: writeback }),
    ...(files === undefined || exec === undefined ? {} : { files, exec }),
  });
  await tellGone(session, gone);
  await takeBackCutOff(session, agents);
  await reconcile(session);
  await catalog.join();
  return session;
}

/** The state as it was committed, with the ledger that writes down whatever changes it. */
function stateOf(
  { deps, journal, options, around, blobs, rebuilt, files }: Opened,
  effectBlobs: EffectBlobs,
  runner: () => Transactions,
): Pick<SessionParts, "state" | "ledger"> {
  const { store, clock, random } = deps;
  const { ids = randomIds(random), checkpoints, resources, development } = options;
  // Inside the gate: the change is durable and about to be true, so a checkpoint of its root belongs right here.
  const written = async ({ root }: RootChange) => {
    letGoOfOutputs(root.get(execPart.name) as readonly ExecNote[] | undefined);
    if (isDue(journal) && !state.poisoned)
      await keepCheckpoint({ store, journal, blobs, effectBlobs, state, transactions: runner() }, root, {}).catch(
        around.teller.checkpointFailed,
      );
  };
  const ledger = new JournalLedger(journal, written, () => state.truth.parts, files);
  const state: ExecutionState = ExecutionState.create({
    parts: [...rebuilt.parts.values()]
      .filter(({ name }) => !isDefault(name))
      .map((part) => (files !== undefined && part.name === WORKSPACE_PART ? files.part : part)),
    root: rebuilt.root,
    ledger,
    redactor: journal.redactor,
    clock,
    random,
    ids,
    checkpoints: new CheckpointStore(checkpoints),
    resources: resources?.() ?? [],
    ...(development === undefined ? {} : { development }),
  });
  return { state, ledger };
}

/** What the tools of a session work on. */
interface ToolsGround extends Pick<SessionParts, "state" | "ledger" | "context"> {
  readonly history: SessionHistory | undefined;
  readonly exec: ExecHost | undefined;
}

/** The tools there are and what runs them; which of them are offered; and what sub-agents are lent. */
function toolsOf(
  { deps, journal, options, around }: Opened,
  { state, ledger, context, history, exec }: ToolsGround,
): { readonly transactions: Transactions; readonly catalog: SessionCatalog; readonly lender: Lender } {
  const { tools = [], policies = [], family, parallel, commitOrder, onTelemetryFailure, observe } = options;
  const lender: Lender = {
    open: async (id, agent) => {
      const own = new Set<Tool>(kernel);
      const offered = transactions.tools.filter((tool) => !own.has(tool));
      const unknown = unknownTo(agent, offered);
      // The model that called it hears of it, too, and cannot mend it.
      if (unknown.length > 0)
        await journal.append(faultRecord("agent-tools-unknown", { agent: agent?.name, tools: unknown }));
      return around.child(id, toolsFor(agent, offered), catalog);
    },
    known: (id) => deps.store.reading(async (read) => (await read.session(toSessionId(id))) !== undefined),
    ground: () => grounds.get(state) as Ground,
  };
  const kernel: readonly Tool[] = kernelTools(options, {
    context,
    read: (name) => journal.readBlob(name),
    writeback: () => lender.ground().writeback as SessionWriteback,
    lender,
    history,
    tools: () => transactions.tools,
  });
  const reserved = kernel.map(({ name }) => name);
  const all = [...tools, ...kernel];
  refuseNamesakes(all, reserved);
  const transactions: Transactions = new Transactions(state, {
    ...(parallel === undefined ? {} : { parallel }),
    ...(commitOrder === undefined ? {} : { commitOrder }),
    ...(onTelemetryFailure === undefined ? {} : { onTelemetryFailure }),
    observe: (outcome) => {
      around.teller.outcome(outcome);
      return observe?.(outcome);
    },
    ledger,
    tools: all,
    policies: [catalogPolicy(() => catalog), ...policies],
    ...(exec === undefined ? {} : { execHost: exec }),
  });
  const home = homeIn(state, ledger, journal.redactor);
  const catalog: SessionCatalog = new SessionCatalog(home, transactions, family, reserved);
  return { transactions, catalog, lender };
}

/**
 * Takes up what was done outside, and undoes what was begun to be undone, or taken back by a rewind, when an earlier process
 * was cut off. Answers effects whose content is lost.
 */
async function takeUpEffects(
  { folded }: Journal<SessionFold>,
  effectBlobs: EffectBlobs,
  transactions: Transactions,
  areInherited: boolean,
): Promise<readonly EffectEntry[]> {
  const { effects, gone } = await effectBlobs.load(folded.effects.values());
  for (const { entry, standing, owners } of effects)
    transactions.effects.recall(entry, standing, owners, folded.inside);
  if (areInherited) transactions.effects.disown();
  await transactions.finishUndoing();
  return gone;
}

/** Where nobody knows the mode any more, it is plan. */
async function planInDoubt(
  { journal, rebuilt }: Opened,
  catalog: SessionCatalog,
  cutOff: Awaited<ReturnType<typeof cutOffFork>>,
): Promise<void> {
  const plan = async (why: string) => {
    if (catalog.own.mode === "act") await catalog.setMode("plan", why);
  };
  if (rebuilt.modeInDoubt) await plan("records are damaged, and one of them may have begun plan mode");
  if (cutOff === undefined) return;
  await plan("it was forked, and nobody knows whether from a session in plan mode");
  await appendReserved(journal, cutOff);
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

/** What sub-agents had done for calls that a crash cut off, or that a rewind had taken back when it was cut off itself. */
async function takeBackCutOff(session: Session, agents: AgentsOf<Session>): Promise<void> {
  const stuck = (await agents.takeBack(session)).filter(({ why }) => why !== undefined);
  if (stuck.length > 0) await session.append(stuck.map((one) => faultRecord("agent-not-taken-back", one)));
}
