import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createHoldfast, filesOf, type JournalEntry, type SeededRandom } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { hasCorpus, recordedItems, transcriptFolders } from "../histories/corpus.ts";
import { anyPlan, type Plan, planOf } from "../histories/plan.ts";
import { SHAPES } from "../histories/shapes.ts";
import { pause, type Rig, type Tally, within } from "./rig.ts";
import type { ReplaySays } from "./replay-worker.ts";
import { ended, removeFolder, scratchFolder, startChild } from "./scratch.ts";

/** A worker is killed after so many calls that it said were closed. */
const CALLS_PER_LIFE = 10;

/** One session that is lived through by a row of processes, each killed in the middle of its work. */
interface Row {
  readonly folder: string;
  readonly path: string;
  readonly plan: Plan;
  readonly shape: string;
  /** What workers acknowledged: call and status. */
  readonly closed: Map<string, string>;
}

export const replay: Rig = {
  about:
    "real transcripts (HOLDFAST_CORPUS, else made-up ones) through the loop with half the room, SIGKILL every ten calls, faults besides",
  cases: 300,
  quickCases: 15,
  async run(tally, { cases, seed, extra }) {
    const shapes = Object.keys(SHAPES);
    const recorded = shuffled(await recordedPlans(), tally.random);
    const every = extra.get("only") === "every";
    if (every && recorded.length === 0) throw new TypeError("--only every needs real transcripts: set HOLDFAST_CORPUS");
    let nth = 0;
    for (const plan of every ? recorded : endless(recorded, tally.random)) {
      if (tally.cases >= cases && !every) return;
      const folder = scratchFolder("replay");
      const shape = shapes[nth % shapes.length] as string;
      nth += 1;
      await surviveAll({ folder, path: join(folder, "store.db"), plan, shape, closed: new Map() }, tally, seed);
      removeFolder(folder);
    }
  },
};

/** Recorded conversations with calls to be killed in. */
async function recordedPlans(): Promise<readonly Plan[]> {
  const all: Plan[] = [];
  for (const folder of hasCorpus ? transcriptFolders() : [])
    for await (const { name, items } of recordedItems(folder)) all.push(planOf(`${folder}/${name}`, items));
  return all.filter(({ answers }) => answers.some(({ calls = [] }) => calls.length > 0));
}

/** All of them before any comes again; made-up ones where there are none. */
function* endless(recorded: readonly Plan[], random: SeededRandom): Generator<Plan> {
  for (;;) {
    if (recorded.length === 0) yield anyPlan(random);
    else yield* recorded;
  }
}

function shuffled<T>(values: readonly T[], random: SeededRandom): readonly T[] {
  return values
    .map((value) => ({ value, place: random.fraction() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

async function surviveAll(row: Row, tally: Tally, seed: string): Promise<void> {
  const { plan, shape, folder } = row;
  writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
  const calls = plan.answers.reduce((sum, { calls: asked = [] }) => sum + asked.length, 0);
  const mostLives = 10 + calls; // each life closes calls, or is the last
  for (let life = 0; ; life += 1) {
    const label = `${plan.name} as ${shape}, life ${life}`;
    if (life > mostLives) return tally.done(label, [`not finished after ${life} lives`]);
    const { done, wrong } = await oneLife(row, tally, { seed, life });
    if (!done) {
      tally.done(label, wrong);
      continue;
    }
    tally.count("sessions finished");
    return tally.done(label, [...wrong, ...(await within(60_000, "audit", auditSession(row)))]);
  }
}

async function oneLife(row: Row, tally: Tally, which: { readonly seed: string; readonly life: number }) {
  const { path, shape, folder } = row;
  const orders = JSON.stringify({ path, shape, plan: join(folder, "plan.json"), ...which });
  const program = fileURLToPath(new URL("replay-worker.ts", import.meta.url));
  const child = startChild(process.execPath, ["--disable-warning=ExperimentalWarning", program, orders], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const wrong: string[] = [];
  let done = false;
  let here = 0;
  const listen = async () => {
    for await (const line of createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })) {
      const says = parsed(line);
      if (says === undefined) continue; // torn by the kill
      if (says.said === "refused" || says.said === "broken") wrong.push(`${says.said}: ${says.what}`);
      if (says.said === "done") done = true;
      if (says.said === "reclaimed") tally.count("reclaims");
      if (says.said === "grown") tally.count("larger windows");
      if (says.said !== "closed") continue;
      row.closed.set(says.callId, says.status);
      tally.count("calls");
      here += 1;
      if (here === CALLS_PER_LIFE) void killSoon(child, tally.random);
    }
  };
  await within(240_000, `a life of ${row.plan.name}`, Promise.all([listen(), ended(child)]));
  const { signalCode, exitCode } = child;
  if (signalCode === "SIGKILL") tally.count("kills");
  else if (!done) wrong.push(`the worker ended by itself with ${String(exitCode)}`);
  return { done: done && signalCode === null, wrong };
}

async function killSoon(child: ChildProcess, random: SeededRandom): Promise<void> {
  await pause(random.below(40));
  child.kill("SIGKILL");
}

/** As a stranger would: open it, and hold what is there against what was said. */
async function auditSession({ path, plan, closed }: Row): Promise<readonly string[]> {
  const wrong: string[] = [];
  const holdfast = await createHoldfast({ store: sqlite(path) });
  try {
    if (!(await holdfast.verify()).ok) wrong.push("the store does not verify");
    const session = await holdfast.open("replayed");
    const entries: JournalEntry[] = [];
    for await (const entry of session.read()) entries.push(entry);
    const opened = entries.flatMap((entry) => (entry.kind === "call-opened" ? [entry.callId] : []));
    const endings = new Map<string, string>();
    for (const entry of entries) {
      if (entry.kind !== "call-closed") continue;
      if (endings.has(entry.callId)) wrong.push(`${entry.callId} was closed twice`);
      endings.set(entry.callId, entry.status);
    }
    const planned = plan.answers.reduce((sum, { calls = [] }) => sum + calls.length, 0);
    const count = (kind: JournalEntry["kind"]) => entries.filter((entry) => entry.kind === kind).length;
    if (count("user-said") !== plan.turns.length) wrong.push("words of the user were lost, or said twice");
    if (count("model-said") !== plan.answers.length) wrong.push("answers were lost, or given twice");
    if (opened.length !== planned) wrong.push(`${opened.length} calls opened, ${planned} planned`);
    if (new Set(opened).size !== opened.length) wrong.push("a call was opened twice");
    for (const callId of opened) if (!endings.has(callId)) wrong.push(`${callId} was never closed`);
    for (const [callId, status] of closed)
      if (endings.get(callId) !== status)
        wrong.push(`${callId} was ${status}, and is ${endings.get(callId) ?? "gone"}`);
    for (const [callId, status] of endings) {
      const file = await filesOf(session.state).exists(`${callId}.txt`);
      if (file !== (status === "success"))
        wrong.push(`${callId} is ${status}, its file is ${file ? "there" : "not there"}`);
    }
    await session.close();
  } finally {
    await holdfast.close();
  }
  return wrong;
}

function parsed(line: string): ReplaySays | undefined {
  try {
    return JSON.parse(line) as ReplaySays;
  } catch {
    return undefined;
  }
}
