import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, type JournalEntry } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { startWitness } from "./child.ts";
import type { Testimony } from "./ledger.ts";
import { pause, type Rig, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { good, MISBEHAVIOURS, type Misbehaviour, steps } from "./zombie/tools.ts";
import type { ZombieOrders } from "./zombie-worker.ts";

const NAMES = Object.keys(MISBEHAVIOURS);

export const zombie: Rig = {
  about: "tools that ignore abort, write late, spin, exit and leave processes: what they did by the handle is gone",
  cases: NAMES.length,
  quickCases: NAMES.length,
  async run(tally, { cases }) {
    for (let nth = 0; nth < cases; nth += 1) {
      const tool = NAMES[nth % NAMES.length] ?? "";
      const { wrong, attempted } = await misbehave(tool, 20 + tally.random.below(60));
      tally.count("late uses, all refused", attempted);
      tally.done(tool, wrong);
    }
  },
};

async function misbehave(tool: string, delay: number) {
  const root = scratchFolder("zombie");
  const folder = join(root, "work");
  mkdirSync(folder);
  const orders: ZombieOrders = { path: join(root, "store.db"), folder, tool, delay };
  const misbehaviour = MISBEHAVIOURS[tool] as Misbehaviour;
  const worker = startWitness("zombie-worker.ts", JSON.stringify(orders), () => {});
  await within(60_000, "start of a worker", worker.heard("ready"));
  if (tool === "spins") {
    await pause(delay * 2);
    worker.child.kill("SIGKILL");
  }
  await within(60_000, tool, worker.ended);
  const wrong = [...heardWrong(tool, misbehaviour, worker.said), ...(await foundWrong(orders, misbehaviour))];
  for (const said of worker.said) if (said.kind === "left") endGroup(said.pid);
  removeFolder(root);
  const survived = worker.said.find((said) => said.kind === "survived");
  return { wrong, attempted: survived?.kind === "survived" ? survived.attempted : 0 };
}

function heardWrong(tool: string, { ends, late }: Misbehaviour, said: readonly Testimony[]): readonly string[] {
  const broken = said.flatMap((one) => (one.kind === "broken" ? [one.what] : []));
  const survived = said.find((one) => one.kind === "survived");
  if (ends === "process-gone") return survived === undefined ? broken : [...broken, `${tool} left the process alive`];
  if (survived?.kind !== "survived") return [...broken, `the process did not survive ${tool}`];
  const { attempted, refused } = survived;
  const idle = late === true && attempted === 0 ? ["it was to be late, and tried nothing"] : [];
  return [
    ...broken,
    ...idle,
    ...(refused < attempted ? [`${attempted - refused} of ${attempted} late uses went through`] : []),
  ];
}

/** The next process: the state before the call, the call closed once, and everything usable. */
async function foundWrong(
  { path, folder, tool }: ZombieOrders,
  { ends, drive }: Misbehaviour,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const expect = (what: string, found: unknown, due: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(due))
      wrong.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(due)}`);
  };
  await using hf = await createHoldfast({ store: sqlite(path), tools: [good], slices: [steps], workspace: folder });
  await using session = await hf.open("z");
  const survived = ends === "process-gone" ? [] : ["after"];
  const done = [
    "before",
    ...(ends === "success" ? (drive === undefined ? ["bad"] : ["bad", "bad"]) : []),
    ...(tool === "writes-where-another-does" ? ["during"] : []),
    ...survived,
  ];
  expect("steps", session.state.session.get(steps), done);
  for (const step of new Set(done)) expect(`${step}.txt`, textAt(folder, `${step}.txt`), step);
  const raw = tool === "raw-files" ? "behind everybody's back" : undefined;
  if (ends !== "success") expect("bad.txt", textAt(folder, "bad.txt"), raw);
  expect("late.txt", textAt(folder, "late.txt"), undefined);
  const closings = await closingsOf(session.read());
  const status = ends === "process-gone" ? "canceled" : ends;
  expect("its closings", closings.get("bad"), drive !== undefined && ends === "success" ? [status, status] : [status]);
  expect("open calls", session.openCalls, []);
  expect("a further call", (await session.runTool({ name: "good", input: { step: "later" } })).ok, true);
  const { ok, ...report } = await hf.verify();
  if (!ok) wrong.push(`verify: ${JSON.stringify(report).slice(0, 300)}`);
  return wrong;
}

async function closingsOf(entries: AsyncIterable<JournalEntry>): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for await (const entry of entries)
    if (entry.kind === "call-closed") found.set(entry.tool, [...(found.get(entry.tool) ?? []), entry.status]);
  return found;
}

function textAt(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** What a tool left behind is ended by whoever set the trap. */
function endGroup(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // it has ended by itself
    }
  }
}
