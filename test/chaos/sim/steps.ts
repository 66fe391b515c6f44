import { HoldfastError } from "../../../src/base/errors.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import type { Json } from "../../../src/base/json.ts";
import { nameOfBytes } from "../../../src/records/blob-name.ts";
import { type CallId, callIdAt } from "../../../src/records/ids.ts";
import { Deadline } from "../../../src/transaction/deadline.ts";
import type { RewindScope } from "../../../src/turn/rewind.ts";
import type { Session } from "../../../src/turn/session.ts";
import type { SessionCall } from "../../../src/turn/session-parts.ts";
import { drawScript, type Script, TOOL_NAMES } from "../script/ops.ts";
import { keepSteps, perform, steps } from "../script/tools.ts";
import { lookAtSnapshot, restoredTo } from "./snapshots.ts";
import { boundary, learn } from "./writeback.ts";
import { LEASE_MS, type Simulation, type StepKind, type StepKinds } from "./simulation.ts";

const EFFECT_KEYS = ["k1", "k2", "k?", "hard", "stuck", "once"];
const PATHS = ["a", "b", "d/x", "d/y"];
const SCOPES: readonly (readonly RewindScope[])[] = [
  ["state", "files", "conversation"],
  ["state", "files", "conversation"],
  ["state"],
  ["files"],
  ["conversation"],
];

/** Everything that users do, and everything that happens to them. */
export const STEPS: StepKinds = {
  call: { weight: 40, take: withSession(call) },
  overlap: { weight: 8, take: withSession(overlap) },
  begin: { weight: 5, take: withSession(begin) },
  dispatch: { weight: 4, take: withSession(dispatch) },
  file: { weight: 3, take: withSession(writeFile) },
  say: { weight: 2, take: withSession(say) },
  rewind: { weight: 6, take: withSession(rewind) },
  fork: { weight: 2, take: withSession(fork) },
  snapshot: { weight: 2, take: withSession(snapshot) },
  restore: { weight: 2, take: withSession(restore) },
  checkpoint: { weight: 2, take: withSession(checkpoint) },
  learn: { weight: 4, take: withSession(learn) },
  boundary: { weight: 3, take: withSession(boundary) },
  meeting: { weight: 1.5, take: withSession(meeting) },
  look: { weight: 3, take: withSession(look) },
  sweep: { weight: 1, take: withSession(sweep) },
  reopen: { weight: 2, take: (sim) => sim.open() },
  settle: { weight: 8, take: (sim, random) => sim.settleDown(random) },
  abort: { weight: 7, take: abort },
  time: { weight: 5, take: (sim, random) => sim.scheduler.advance(10 + random.below(120)) },
  wall: { weight: 1, take: (sim, random) => sim.scheduler.jumpWall((random.below(9) - 4) * LEASE_MS) },
  fault: { weight: 3, take: fault },
  kill: { weight: 2, take: (sim) => sim.kill(sim.main) },
  power: { weight: 2, take: (sim) => sim.losePower() },
  takeover: { weight: 1.5, take: takeover },
  wake: { weight: 2, take: (sim) => sim.wakeOne() },
};

const TOTAL = Object.values(STEPS).reduce((sum, { weight }) => sum + weight, 0);

export function drawStep(random: SeededRandom): { readonly name: string; readonly chance: number } {
  let left = random.fraction() * TOTAL;
  const name = Object.keys(STEPS).find((one) => (left -= STEPS[one]?.weight ?? 0) < 0) ?? "call";
  return { name, chance: random.below(2 ** 31) };
}

type SessionStep = (sim: Simulation, random: SeededRandom, session: Session) => void | Promise<void>;

function withSession(take: SessionStep): StepKind["take"] {
  return (sim, random) => (sim.session === undefined ? undefined : take(sim, random, sim.session));
}

interface Drawn extends SessionCall {
  readonly id: CallId;
  readonly input: Script;
}

function drawCall(sim: Simulation, random: SeededRandom, session: Session, mayHang = true): Drawn {
  const word = sim.word();
  const name = random.below(20) === 0 ? "nowhere" : random.pick([...TOOL_NAMES, "write", "write", "write"]);
  const effectKeys = EFFECT_KEYS.map((key) => `${session.id}:${key}`);
  const input = drawScript({ random, word, effectKeys, mayHang });
  return { id: callIdAt(session.id, 1_000_000 + Number(word.slice(1)), 0), name, input };
}

function call(sim: Simulation, random: SeededRandom, session: Session): void {
  const drawn = drawCall(sim, random, session);
  const deadline = random.below(15) === 0 ? { deadline: Deadline.after(sim.main.clock, 60) } : {};
  const work = async (signal: AbortSignal) => {
    sim.oracle.acknowledged(session.id, await session.runTool(drawn, { signal, ...deadline }));
  };
  sim.follow("call", [drawn.id], work, "deadline" in deadline ? ["EVALUATION_ENDED"] : []);
}

function overlap(sim: Simulation, random: SeededRandom, session: Session): void {
  const calls = Array.from({ length: 2 + random.below(3) }, () => drawCall(sim, random, session));
  const ids = calls.map(({ id }) => id);
  sim.follow("calls", ids, async (signal) => {
    const outcomes = await session.runTools(calls, { signal });
    if (outcomes.map(({ callId }) => callId).join() !== ids.join()) sim.oracle.wrong.push("outcomes out of order");
    for (const outcome of outcomes) sim.oracle.acknowledged(session.id, outcome);
  });
}

/** A host that runs the tool itself, and sometimes forgets to say how it ended. */
function begin(sim: Simulation, random: SeededRandom, session: Session): void {
  const drawn = drawCall(sim, random, session, false);
  sim.oracle.hosted(drawn.id);
  const forgets = random.below(6) === 0;
  const { stage } = sim.main;
  const work = async (signal: AbortSignal) => {
    await using pending = await session.begin(drawn, { signal });
    let result: unknown;
    try {
      // It may wait for an effect of somebody else's that never ends.
      result = await Promise.race([perform(drawn.input, pending.call, stage), aborted(signal)]);
    } catch {
      const ended = await pending.abort("the host's tool threw");
      if (ended !== "not pending") sim.oracle.acknowledged(session.id, ended);
      return;
    }
    if (forgets) return;
    const ended = await pending.commit(result);
    if (ended !== "not pending") sim.oracle.acknowledged(session.id, ended);
    if ((await pending.commit(result)) !== "not pending") sim.oracle.wrong.push(`${drawn.id} was committed twice`);
  };
  sim.follow("begun call", [drawn.id], work, ["CALL_REFUSED"]);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function dispatch(sim: Simulation, _random: SeededRandom, session: Session): void {
  const token = `${sim.word()}!`;
  sim.oracle.asked({ token, change: (state) => ({ ...state, steps: keepSteps(state.steps, token) }) });
  sim.follow("dispatch", [], () => session.state.session.dispatch(steps.added(token)));
}

function writeFile(sim: Simulation, random: SeededRandom, session: Session): void {
  const [path, text] = [random.pick(PATHS), sim.word()];
  const folder = path.includes("/") ? { "d/": "" } : {};
  sim.oracle.asked({
    token: nameOfBytes(Buffer.from(text)),
    change: (state) => ({ ...state, files: { ...state.files, ...folder, [path]: text } }),
  });
  sim.follow("file", [], () => session.files.writeText(path, text));
}

function say(sim: Simulation, _random: SeededRandom, session: Session): void {
  sim.follow("say", [], () => session.append({ kind: "user-said", text: sim.word() }));
}

/** A boundary that can be returned to, as the kernel lists them; calls inside calls are nobody's boundary. */
function pickBoundary(random: SeededRandom, session: Session) {
  const all = session.checkpoints.list().filter(({ callId, rewound }) => !rewound && !callId.includes("."));
  const chosen = all.length === 0 ? undefined : random.pick(all);
  const side: "before" | "after" = random.below(2) === 0 ? "before" : "after";
  return chosen === undefined ? undefined : { callId: chosen.callId, side };
}

function targetOf({ callId, side }: { readonly callId: CallId; readonly side: "before" | "after" }) {
  return side === "before" ? { before: callId } : { after: callId };
}

function rewind(sim: Simulation, random: SeededRandom, session: Session): void {
  const boundary = pickBoundary(random, session);
  if (boundary === undefined) return;
  const target = { ...targetOf(boundary), scope: random.pick(SCOPES) };
  const work = async () => {
    const story = sim.oracle.story(session.id);
    const alone = sim.underWay().length === 1 && sim.started;
    const kept = new Set<string>(session.checkpoints.list().map(({ callId }) => callId));
    const plan = await session.rewind({ ...target, dryRun: true });
    const due = story.after(plan.to).filter((callId) => kept.has(callId));
    sim.oracle.rewinding(session.id, "begun");
    const report = await session.rewind(target).catch((error: unknown) => {
      sim.oracle.rewinding(session.id, HoldfastError.is(error, "CALLS_OPEN") ? "idle" : "failed");
      throw error;
    });
    // Of files or of the conversation alone: it leaves what another one had still to undo.
    sim.oracle.rewinding(session.id, target.scope.includes("state") ? "over" : "idle");
    if (alone !== sim.started) return; // others were about
    sim.count("rewinds");
    const [planned, done] = [plan, report].map(({ delta, calls }) => JSON.stringify([delta, calls]));
    if (planned !== done) sim.oracle.wrong.push(`the rewind planned ${planned} and did ${done}`);
    if (report.calls.join() !== due.join()) sim.oracle.wrong.push(`the rewind took back ${report.calls.join()}`);
  };
  sim.follow("rewind", [], work, ["CALLS_OPEN", "CHECKPOINT_UNKNOWN", "CHECKPOINT_REWOUND"]);
}

/** What is about to be committed is taken back meanwhile, or the other way round. */
function meeting(sim: Simulation, random: SeededRandom, session: Session): void {
  const both = random.below(2) === 0 ? [rewind, boundary] : [boundary, rewind];
  for (const one of both) one(sim, random, session);
}

function fork(sim: Simulation, random: SeededRandom, session: Session): void {
  const boundary = pickBoundary(random, session);
  if (boundary === undefined) return;
  const { main } = sim;
  const as = `f${sim.word()}`;
  const goOn = random.below(2) === 0;
  const work = async () => {
    const before = sim.oracle.story(session.id).boundary(boundary.callId, boundary.side);
    const other = await session.fork({ ...targetOf(boundary), as });
    sim.count("forks");
    if (sim.main !== main) return;
    const story = sim.oracle.story(as);
    if (before !== undefined && !story.comesFrom(before)) sim.oracle.wrong.push(`the fork did not begin at ${before}`);
    sim.oracle.checkQuiet(other);
    if (goOn && sim.underWay(main).length === 1) {
      main.use(other, sim.faultsPassed);
      sim.sessionName = as;
      await sim.close(session);
    } else await sim.close(other);
  };
  sim.follow("fork", [], work, ["CHECKPOINT_UNKNOWN", "CHECKPOINT_REWOUND"]);
}

function snapshot(sim: Simulation, random: SeededRandom, session: Session): void {
  const carried = random.below(2) === 0;
  sim.follow("snapshot", [], async () => {
    const taken = await session.state.snapshot({ tag: sim.word() });
    const kept = carried ? session.state.fromJson(session.state.toJson(taken)) : taken;
    sim.snapshots.push({ session: session.id, snapshot: kept, looks: lookAtSnapshot(kept) });
  });
}

function restore(sim: Simulation, random: SeededRandom, session: Session): void {
  const own = sim.snapshots.filter((one) => one.session === session.id);
  if (own.length === 0) return;
  const { snapshot: kept, looks } = random.pick(own);
  const { main } = sim;
  sim.oracle.asked({ token: `restored ${kept.snapshotId}`, change: (state) => restoredTo(state, looks) });
  sim.follow("restore", [], async () => {
    await session.state.restore(kept);
    // Also when there was nothing else to change, and no record.
    if (sim.main === main) sim.oracle.story(session.id).boxIs(looks.box);
  });
}

function checkpoint(sim: Simulation, _random: SeededRandom, session: Session): void {
  sim.follow("checkpoint", [], () => session.checkpoint({ tag: sim.word() }));
}

/** Reads, and compares: a boundary's state, and what the next request would tell. */
function look(sim: Simulation, random: SeededRandom, session: Session): void {
  const boundary = pickBoundary(random, session);
  const work = async () => {
    const story = sim.oracle.story(session.id);
    if (boundary !== undefined) {
      const { callId, side } = boundary;
      const due = story.at(story.boundary(callId, side) ?? -1);
      sim.oracle.compareParts(
        `${side} ${callId}`,
        lookAtSnapshot(await session.checkpoints.snapshot(callId, side)),
        due,
      );
    }
    if (story.open.size > 0) return;
    const [due, head] = [story.conversation, story.head];
    const told = (await session.conversation()).map((item) => itemWords(item as unknown as Json));
    // An output may be shown nearer to its call than it came; nothing may be missing.
    if (story.head === head && told.sort().join() !== due.toSorted().join())
      sim.oracle.wrong.push(`the conversation is ${told.join("; ")}, and should be ${due.join("; ")}`);
  };
  sim.follow("look", [], work, ["CHECKPOINT_UNKNOWN", "CHECKPOINT_REWOUND"]);
}

function itemWords(item: Json): string {
  const { kind, callId, parts } = item as { kind: string; callId?: string; parts?: { text: string }[] };
  return kind === "call" || kind === "output" ? `${kind} ${callId}` : `${kind} ${parts?.[0]?.text}`;
}

function sweep(sim: Simulation, _random: SeededRandom, _session: Session): void {
  sim.follow("sweep", [], () => sim.main.holdfast.sweep({ graceMs: 0, shrink: false }));
}

function abort(sim: Simulation, random: SeededRandom): void {
  const running = sim.underWay().filter(({ callIds }) => callIds.length > 0);
  if (running.length === 0) return;
  const { callIds, stop } = random.pick(running);
  for (const callId of callIds) sim.oracle.aborted(callId);
  stop.abort();
}

function fault(sim: Simulation, random: SeededRandom): void {
  sim.machine.fault = { how: random.pick(["refused", "unclear"]), times: 1 + random.below(3) };
  sim.faults += 1;
}

/** The process sleeps past its lease, and another takes its session. It does not know yet. */
async function takeover(sim: Simulation): Promise<void> {
  if (sim.sleepers.length > 1) return;
  sim.main.asleep = true;
  sim.sleepers.push(sim.main);
  await sim.scheduler.advance(LEASE_MS + 1);
  sim.replaceMain();
}
