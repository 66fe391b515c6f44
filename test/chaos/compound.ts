import { join } from "node:path";
import { createHoldfast, HoldfastError } from "../../src/index.ts";
import { nodeSqlite, type SqliteDriver, sqlite } from "../../src/stores/sqlite/entry.ts";
import { audit } from "./auditor.ts";
import { startWorker } from "./child.ts";
import { FaultPlan } from "./fault-plan.ts";
import { faultyDriver } from "./faulty-driver.ts";
import { Ledger } from "./ledger.ts";
import { pause, type Rig, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { startTraced, straceMissing } from "./strace.ts";
import { describe } from "./workload.ts";

const DEPTH = 3;
const CASES_PER_STORE = 10;

/** What strikes while a store recovers from what struck before. */
type Blow = (
  tally: Tally,
  at: { readonly path: string; readonly seed: string; readonly run: string; readonly ledger: Ledger },
) => Promise<readonly string[]>;

export const compound: Rig = {
  about: `a kill at work, then kills and faults during recovery, ${DEPTH} deep`,
  cases: 200,
  quickCases: 8,
  async run(tally, { cases, seed }) {
    const driver = await nodeSqlite();
    const blows: readonly Blow[] = [
      killedSoon,
      faultWhileOpening(driver),
      ...(straceMissing() === undefined ? [killedAtSyscall] : []),
    ];
    for (let nth = 0; nth < cases; ) {
      const folder = scratchFolder("compound");
      const path = join(folder, "store.db");
      const ledger = new Ledger();
      for (let here = 0; here < CASES_PER_STORE && nth < cases; here += 1, nth += 1) {
        const wrong = [...(await killedAtWork(tally, { path, seed, run: `w${nth}`, ledger }))];
        for (let depth = 1; depth < DEPTH; depth += 1)
          wrong.push(...(await tally.random.pick(blows)(tally, { path, seed, run: `w${nth}-${depth}`, ledger })));
        tally.done(`case ${nth}`, [...wrong, ...(await within(60_000, "audit", audit(path, ledger)))]);
      }
      removeFolder(folder);
    }
  },
};

const killedAtWork: Blow = async ({ random }, { ledger, ...orders }) => {
  const worker = startWorker({ ...orders, session: "main" }, ledger);
  await within(120_000, "start of a worker", worker.heard("ready"));
  await pause(random.below(150));
  worker.child.kill("SIGKILL");
  await worker.ended;
  return [];
};

const killedSoon: Blow = async (tally, { ledger, ...orders }) => {
  const worker = startWorker({ ...orders, session: "main", wait: true, recoverOnly: true }, ledger);
  await within(120_000, "start of a worker", worker.heard("ready"));
  worker.go();
  await pause(tally.random.below(25));
  worker.child.kill("SIGKILL");
  const { signal } = await worker.ended;
  tally.count(signal === "SIGKILL" ? "recoveries killed" : "recoveries too quick to kill");
  return [];
};

const killedAtSyscall: Blow = async (tally, { ledger, ...orders }) => {
  const { random } = tally;
  const syscall = random.pick(["pwrite64", "pwrite64", "pwrite64", "fdatasync", "openat", "ftruncate", "unlink"]);
  const injection = { thread: "main", syscall, effect: "signal=SIGKILL", when: String(1 + random.below(12)) } as const;
  const { worker, detach } = await startTraced({ ...orders, session: "main", recoverOnly: true }, ledger, injection);
  const { signal } = await within(60_000, "recovery under strace", worker.ended);
  await detach();
  tally.count(signal === "SIGKILL" ? "recoveries killed" : "recoveries too quick to kill");
  return [];
};

/** A sick disk while opening: a typed refusal or a session, and then the next one tries. */
function faultWhileOpening(driver: SqliteDriver): Blow {
  return async (tally, { path }) => {
    const { random } = tally;
    const error = random.pick(["IOERR", "FULL", "READONLY", "BUSY"]);
    const when = random.below(5) === 0 ? "after" : "before";
    const plan = new FaultPlan("sqlite", random.below(60), { error, when }, random.below(2) === 0);
    try {
      const hf = await createHoldfast({ store: sqlite(path, { driver: faultyDriver(driver, plan), busyLimit: 15 }) });
      try {
        const session = await hf.open("main");
        await session.close();
      } finally {
        await hf.close();
      }
    } catch (error_) {
      if (!HoldfastError.is(error_)) return [`opening with a fault: ${describe(error_)}`];
    }
    tally.count(plan.struck > 0 ? "recoveries with a fault" : "recoveries before their fault");
    return [];
  };
}
