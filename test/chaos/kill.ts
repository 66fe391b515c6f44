import { join } from "node:path";
import { audit } from "./auditor.ts";
import { startWorker } from "./child.ts";
import { killFiles } from "./kill-files.ts";
import { driverMissing } from "./files-model.ts";
import { Ledger } from "./ledger.ts";
import { partsFrom, pause, type Rig, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import type { WorkerOrders } from "./worker.ts";

/** Hardly anything but content that is cut off and swept: most kills meet a sweep. */
const SWEEPS: readonly string[] = Array.from({ length: 500 }, () => ["largeBlob", "say", "largeBlob", "tidy"]).flat();

/** So many lives share a store before a fresh one begins: recovery on top of recovery, without a store that only grows. */
const LIVES = 20;

export const kill: Rig = {
  about:
    "SIGKILL at seeded delays, reopen, audit, and on with the same store; the same with calls that change files or run commands",
  cases: 300,
  quickCases: 9,
  async run(tally, { cases, seed, extra, quick }) {
    const parts = partsFrom({ extra }, ["records", "sweeps", "files", "commands"]);
    const works: [cases: number, work: (cases: number) => Promise<void>][] = [];
    if (parts.includes("files"))
      works.push([Math.ceil(quick ? cases / 3 : cases), (lives) => killFiles(tally, lives, seed)]);
    for (const driver of parts.includes("commands") ? (["overlay", "portable"] as const) : []) {
      const why = driverMissing(driver);
      if (why !== undefined) tally.skipped.push(`${driver}: ${why}`);
      else works.push([Math.ceil(quick ? cases / 3 : cases / 2), (lives) => killFiles(tally, lives, seed, driver)]);
    }
    if (parts.includes("records")) works.push([cases, (lives) => killRecords(tally, lives, { seed })]);
    if (parts.includes("sweeps"))
      works.push([Math.ceil(cases / 4), (lives) => killRecords(tally, lives, { seed, steps: SWEEPS })]);
    tally.expected = works.reduce((sum, [lives]) => sum + lives, 0);
    for (const [lives, work] of works) await work(lives);
  },
};

async function killRecords(tally: Tally, cases: number, work: Pick<WorkerOrders, "seed" | "steps">): Promise<void> {
  const { random } = tally;
  for (let life = 0; life < cases; ) {
    const folder = scratchFolder("kill");
    const path = join(folder, "store.db");
    const ledger = new Ledger();
    for (let here = 0; here < LIVES && life < cases; here += 1, life += 1) {
      const run = `r${life}`;
      const resend = ledger.unanswered;
      ledger.unanswered = undefined;
      const orders = { path, ...work, run, session: "main", ...(resend === undefined ? {} : { resend }) };
      const worker = startWorker(orders, ledger);
      // Most die at work; some while the store is still being made, opened or recovered.
      if (random.below(5) > 0) await within(120_000, "start of a worker", worker.heard("ready"));
      else await pause(80);
      await pause(random.below(random.below(3) === 0 ? 600 : 120));
      worker.child.kill("SIGKILL");
      const { signal, code } = await worker.ended;
      const early = signal === "SIGKILL" ? [] : [`the worker ended by itself with ${code}`];
      tally.count("acks", worker.said.filter(({ kind }) => kind === "acked").length);
      tally.done(`life ${life}`, [...early, ...(await within(60_000, "audit", audit(path, ledger)))]);
    }
    removeFolder(folder);
  }
}
