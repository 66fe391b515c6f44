import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensure } from "../base/unreachable.ts";
import { endFiles } from "../files/access.ts";
import { ToolInvoked } from "../state/default-slices.ts";
import { RootChange } from "../state/part.ts";
import { portable, resourcesPart } from "../state/resources-part.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import { beforeWriting, isUnwritten } from "../state/unwritten.ts";
import { effectId, type EffectReport, lastOfEach } from "./effect.ts";
import { type Discarded, type Ending, endingOfThrown } from "./ending.ts";
import { readmit } from "./guard.ts";
import { attemptUntilAccepted, putBack, whyNotAgain } from "./guardrails.ts";
import { type CallWorld, specsOf } from "./call-world.ts";
import { UNDONE_INSIDE } from "./inner-calls.ts";
import type { OpenCall } from "./open-call.ts";
import { bareOf, type CallOutcome, closingOf, loggedOf, outcomeOf, summaryOf } from "./outcome.ts";

type Tried = { readonly committed: CallOutcome } | { readonly instead: Discarded } | "needs-lock";

/**
 * The one exit: every call ends here, whatever happened to it. Durable first, true afterwards; one closing record each.
 * Only a store that cannot write makes this throw, and then the state is poisoned, because nobody knows what it holds.
 */
export async function settle(
  world: CallWorld,
  open: OpenCall,
  ending: Ending,
  mayRunAgain: boolean,
): Promise<CallOutcome> {
  open.end();
  await open.turn;
  await open.lettingGo.settled();
  if (!world.effects.isEmpty) await world.effects.tellUntold();
  try {
    return ending.kind === "succeeded"
      ? await commitOrDiscard(world, open, ending, mayRunAgain)
      : await discard(world, open, ending);
  } catch (error) {
    world.state.truth.poison(error);
    throw error;
  } finally {
    open.isOver = true;
    endFiles(open.branch);
    world.state.exclusive.release(open.call.id);
    const released = open.children.release();
    if (released !== undefined) await released;
  }
}

async function commitOrDiscard(
  world: CallWorld,
  open: OpenCall,
  ending: Ending,
  mayRunAgain: boolean,
): Promise<CallOutcome> {
  const { gate } = world.state.truth;
  const { exclusive } = world.state;
  const attempt = () => gate.run(() => tryCommit(world, open, ending, mayRunAgain));
  let tried = await attempt();
  if (tried === "needs-lock") {
    // Lock first, gate second, like everybody: the other way round two calls could wait for each other.
    await exclusive.hold(open.call.id);
    tried = await attempt();
  }
  ensure(tried !== "needs-lock", "the lock was taken and is needed again");
  if ("instead" in tried) return discard(world, open, tried.instead);
  if (world.effects.isEmpty) return tried.committed;
  const stale = [
    ...(await world.effects.undo(idsOf(open.inner.superseded()), specsOf(world))),
    ...(await open.lettingGo.undoGivenUp()),
  ];
  if (stale.length === 0) return tried.committed;
  return { ...tried.committed, effects: lastOfEach([...tried.committed.effects, ...stale]) };
}

/** Inside the gate: nobody else commits meanwhile, so a second attempt from here sees the newest root and is enough. */
async function tryCommit(world: CallWorld, open: OpenCall, first: Ending, mayRunAgain: boolean): Promise<Tried> {
  const { state } = world;
  const conflicts = open.branch.conflictsWith(state.root);
  // Also when somebody outside has edited a file that it was about to write: run again, it sees their edit.
  const tried = conflicts.length === 0 ? await admitAgain(world, open, first) : { instead: conflictOn(conflicts) };
  if (!(isConflict(tried) && mayRunAgain)) return tried;
  if (!state.exclusive.isHeldBy(open.call.id) && state.resources.mayLock) return "needs-lock";
  const instead = await whyNotAgain(world, open, tried.instead);
  if (instead !== undefined) return { instead };
  const again = await attemptUntilAccepted(world, open);
  await open.lettingGo.settled();
  return admitAgain(world, open, again);
}

/** What the policies say of a success now: they may have changed their mind while it ran. */
async function admitAgain(world: CallWorld, open: OpenCall, ending: Ending): Promise<Tried> {
  if (ending.kind !== "succeeded") return { instead: ending };
  const { root } = world.state;
  // Worked out only if a policy asks: most do not.
  const changes = (part: string) => open.branch.onto(root).root.get(part) !== root.get(part);
  const denied = readmit(open.admitted, world.policies, changes);
  return denied === undefined ? commit(world, open, ending) : { instead: denied };
}

function isConflict(tried: Tried): tried is { readonly instead: Discarded } {
  return typeof tried === "object" && "instead" in tried && tried.instead.kind === "conflict";
}

async function commit(world: CallWorld, open: OpenCall, ending: Ending): Promise<Tried> {
  const { state } = world;
  if (open.doomed !== undefined) return { instead: endingOfThrown(open.doomed) };
  const { effects } = world;
  const givenUp = effects.givenUp(open.call.id, idsOf(open.inner.superseded()), specsOf(world));
  const inside = [...open.inner.superseded(givenUp), ...open.inner.nested];
  const reports = lastOfEach([...effects.of(open.call.id), ...givenUp]);
  const outcome = outcomeOf(ending, { ...factsOf(open), effects: told(open, reports, inside) });
  const outcomes = [...inside, outcome];
  const pre = boundary(world, outcome, "pre_tool");
  const unlogged = open.branch.savepoint();
  const instead = (ending: Discarded) => {
    open.branch.returnTo(unlogged); // it has not ended as was logged, and is about to end otherwise
    return { instead: ending };
  };
  let change: RootChange;
  let captured: ReadonlyMap<string, unknown> | undefined;
  try {
    const capturing = state.exclusive.capture(open.call.id);
    if (capturing !== undefined) captured = await capturing;
    noteResources(world, open, captured);
    logOutcomes(world, open, outcomes);
    change = open.branch.onto(state.root);
    if (!world.effects.isEmpty) await open.lettingGo.leaveGivenUp(open.call.id);
  } catch (error) {
    return instead(endingOfThrown(error));
  }
  // Given up meanwhile by a neighbour: closed as a success it would be one that changed nothing.
  if (state.poisoned) return instead(GIVEN_UP);
  try {
    await write(world, outcomes, change);
  } catch (error) {
    if (!isUnwritten(error)) throw error;
    return instead(refusal(error));
  }
  world.decided(outcome.callId);
  // Noted before it is written down, a refused commit would be what every later boundary puts back.
  if (captured !== undefined) state.exclusive.noteCommitted(captured);
  checkpoint(world, outcome, pre);
  const ended = open.endCommands(true);
  if (ended !== undefined) await ended.catch(() => {}); // what it did is kept; what is left of where it ran goes at the next opening
  return { committed: outcome };
}

/** What was changed inside is dropped; what was done outside is undone as far as it can be; what was logged is kept. */
async function discard(world: CallWorld, open: OpenCall, ending: Discarded): Promise<CallOutcome> {
  const { state, effects } = world;
  let last = ending;
  const openings = open.inner.openingsSettled();
  if (openings !== undefined) await openings;
  try {
    await open.endCommands(false);
  } catch (error) {
    // The files are neither before nor after: nothing more is built on them until somebody has finished it.
    state.truth.poison(error);
    last = endingOfThrown(error);
  }
  const putting = putBack(world, open);
  if (putting !== undefined) last = (await putting) ?? last;
  const stuckChildren = await open.children.rewind();
  open.inner.supersede(UNDONE_INSIDE, "parent-discarded");
  const undone = await effects.undo([...idsOf(open.inner.superseded()), open.call.id], specsOf(world));
  const reports = lastOfEach([...undone, ...(await open.lettingGo.undoGivenUp())]);
  const inside = open.inner.superseded(reports);
  let outcome = outcomeOf(last, { ...factsOf(open), effects: told(open, reports, inside), stuckChildren });
  const outcomes = [...inside, outcome];
  await state.truth.gate.run(async () => {
    const pre = boundary(world, outcome, "pre_tool");
    const written = await writeEnds(world, open, outcomes);
    outcome = written.at(-1) ?? outcome;
    world.decided(outcome.callId);
    checkpoint(world, outcome, pre);
  });
  return outcome;
}

/** The closing records and the change, durable together; then true. */
async function write(world: CallWorld, outcomes: readonly CallOutcome[], change: RootChange): Promise<void> {
  const { state, ledger } = world;
  const closings = outcomes.map(closingOf);
  // A poisoned state changes no more, but the call still ends, and is written down.
  if (state.poisoned) await ledger.closed(closings, new RootChange(state.truth.parts, state.root, []));
  else await state.truth.commit(change, (decided) => ledger.closed(closings, decided));
}

/** What it made of the resources belongs to what it changed: with it, another process can put them back. */
function noteResources({ state }: CallWorld, open: OpenCall, captured: ReadonlyMap<string, unknown> | undefined): void {
  const { exclusive, truth, resources } = state;
  if (captured === undefined || !truth.parts.has(resourcesPart.name)) return;
  const now = portable(captured, exclusive.origins, (name) => resources.peek(name));
  open.branch.change(resourcesPart, () => now);
}

function logOutcomes(world: CallWorld, open: OpenCall, outcomes: readonly CallOutcome[]): void {
  const at = instantOf(world.state.clock);
  for (const outcome of outcomes) open.branch.dispatch(ToolInvoked.ended(loggedOf(outcome, at)));
}

/** What a discarded call leaves: its own log entries and the line that it ended, or, when those are at fault, only that line. */
async function writeEnds(
  world: CallWorld,
  open: OpenCall,
  outcomes: readonly CallOutcome[],
): Promise<readonly CallOutcome[]> {
  open.branch.discard();
  try {
    await write(world, outcomes, await beforeWriting(logsOf(world, open, outcomes)));
    return outcomes;
  } catch (error) {
    if (!isUnwritten(error)) throw error;
    const bare = outcomes.map((outcome) => bareOf(outcome, error));
    open.branch.forgetAll();
    await write(world, bare, await logsOf(world, open, bare));
    return bare;
  }
}

async function logsOf(world: CallWorld, open: OpenCall, outcomes: readonly CallOutcome[]): Promise<RootChange> {
  logOutcomes(world, open, outcomes);
  return open.branch.onto(world.state.root);
}

function checkpoint(world: CallWorld, outcome: CallOutcome, pre: CompositeSnapshot): void {
  world.state.checkpoints.record({
    toolCallId: outcome.callId,
    toolName: outcome.tool,
    preSnapshot: pre,
    postSnapshot: boundary(world, outcome, "post_tool"),
    resultSummary: summaryOf(outcome),
    success: outcome.ok,
    elapsed: outcome.elapsed,
    recordedAt: pre.createdAt,
  });
}

function boundary(world: CallWorld, { callId, tool }: CallOutcome, phase: "pre_tool" | "post_tool"): CompositeSnapshot {
  const tag = `${phase === "pre_tool" ? "pre" : "post"}:${callId}`;
  return world.state.snapshotAtBoundary({ tag, metadata: { phase, toolCallId: callId, toolName: tool } });
}

function factsOf(open: OpenCall) {
  const { call, tool, elapsed, attempts, progress, refused } = open;
  const failures = refused.length === 0 ? {} : { attemptFailures: [...refused] };
  const facts = { callId: call.id, tool: call.name, access: tool.access, elapsed, attempts, progress };
  return { ...facts, ...failures, ...open.noted(call.id) };
}

/** The model sees the outer call only: what parts of it left outside is told there too. What is known now comes first. */
function told(
  open: OpenCall,
  reports: readonly EffectReport[],
  inside: readonly CallOutcome[],
): readonly EffectReport[] {
  if (reports.length + inside.length + open.lettingGo.left.length === 0) return reports; // most did nothing outside
  const known = new Set(reports.map(effectId));
  const ofThose = inside.flatMap(({ effects }) => effects).filter(({ is }) => is !== "undone");
  const left = [...open.lettingGo.left, ...ofThose];
  return [...reports, ...lastOfEach(left.filter((report) => !known.has(effectId(report))))];
}

function idsOf(outcomes: readonly CallOutcome[]): readonly string[] {
  return outcomes.map(({ callId }) => callId);
}

const GIVEN_UP: Discarded = {
  kind: "failed",
  reason: "STATE_POISONED",
  message: "The state was given up while the call ran.",
};

/** What was refused before anything was written. Somebody else's edit is a conflict like another call's. */
function refusal(error: unknown): Discarded {
  if (!HoldfastError.is(error, "FILE_CONFLICT")) return endingOfThrown(error);
  return { kind: "conflict", message: `${error.message} Read again and retry.` };
}

function conflictOn(what: readonly string[]): Discarded {
  const message = `Another call changed ${what.join(", ")} after this one had read it. Read again and retry.`;
  return { kind: "conflict", message };
}
