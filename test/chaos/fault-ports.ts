import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileBlobs } from "../../src/blobs/files/entry.ts";
import { createHoldfast, HoldfastError, SeededRandom, type StoreSource } from "../../src/index.ts";
import { nodeSqlite, type SqliteDriver, sqlite } from "../../src/stores/sqlite/entry.ts";
import { audit } from "./auditor.ts";
import { type Fault, FaultPlan } from "./fault-plan.ts";
import { faultyDriver, SQLITE_FAULTS } from "./faulty-driver.ts";
import { FaultyFiles, FILE_FAULTS } from "./faulty-files.ts";
import { Ledger, type Testimony } from "./ledger.ts";
import { sample, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { describe, SCRIPT, Workload } from "./workload.ts";

interface Case {
  readonly port: "sqlite" | "files";
  readonly at: number;
  readonly fault: Fault;
  readonly forever: boolean;
}

/** Every I/O call of the script, through our own ports × every error × once and for ever. */
export async function faultPorts(tally: Tally, port: Case["port"], limit: number): Promise<void> {
  const driver = await nodeSqlite();
  const folder = scratchFolder("fault");
  const count = FaultPlan.none();
  const clean = await runCase(driver, join(folder, "count"), count);
  tally.done("no fault at all", clean);
  const all = casesOf(count).filter((one) => one.port === port);
  const cases = limit < all.length ? sample(all, limit, tally.random) : all;
  tally.count(`${port} calls of the script`, count.calls[port].length);
  for (const [index, { at, fault, forever }] of cases.entries()) {
    const plan = new FaultPlan(port, at, fault, forever);
    const place = join(folder, String(index));
    const wrong = await within(60_000, "a case", runCase(driver, place, plan)).catch((error: unknown) => [
      describe(error),
    ]);
    const call = (count.calls[port][at] ?? "").trim().slice(0, 60);
    tally.count("faults struck", plan.struck > 0 ? 1 : 0);
    tally.done(`${port} call ${at} (${call}) ${fault.error} ${fault.when} ${forever ? "for ever" : "once"}`, wrong);
    removeFolder(place);
  }
  removeFolder(folder);
}

function casesOf(count: FaultPlan): readonly Case[] {
  const cases: Case[] = [];
  for (const forever of [false, true]) {
    for (const [at, sql] of count.calls.sqlite.entries()) {
      for (const error of Object.keys(SQLITE_FAULTS)) {
        if ((error === "CANTOPEN") !== (sql === "open")) continue;
        cases.push({ port: "sqlite", at, fault: { error, when: "before" }, forever });
      }
      if (sql === "COMMIT") cases.push({ port: "sqlite", at, fault: { error: "IOERR", when: "after" }, forever });
    }
    for (const [at, call] of count.calls.files.entries())
      for (const error of FILE_FAULTS)
        if (error !== "short" || call === "write")
          cases.push({ port: "files", at, fault: { error, when: "before" }, forever });
  }
  return cases;
}

async function runCase(driver: SqliteDriver, folder: string, plan: FaultPlan): Promise<readonly string[]> {
  mkdirSync(folder);
  const path = join(folder, "store.db");
  const shelves = `${path}.blobs`;
  const files = new FaultyFiles(plan);
  const blobs = fileBlobs(shelves, { files });
  const source = sqlite(path, { driver: faultyDriver(driver, plan), blobs, busyLimit: 15 });
  const ledger = new Ledger();
  const say = (testimony: Testimony) => {
    ledger.note(testimony);
    if (testimony.kind !== "acked") return;
    for (const name of testimony.names ?? []) {
      const place = join(shelves, name.slice(name.indexOf("-") + 1).slice(0, 2), name);
      if (!existsSync(place)) continue; // small content lies in the store; missing content is the auditor's affair
      for (const lost of files.wouldLose(place))
        ledger.note({ kind: "broken", what: `acknowledged, and ${lost.replace(folder, "")} is not synced` });
    }
  };
  const random = new SeededRandom("fault");
  const options = { session: "main", random, say, faults: true };
  let opened = await tryOpen(source, { ...options, run: "faulty" }, ledger);
  if (opened !== undefined) for (const name of SCRIPT) await opened.work.named(name);
  plan.disarm();
  // The fault is gone: the same store goes on without being opened anew, unless it never opened.
  opened ??= await tryOpen(source, { ...options, run: "again" }, ledger);
  if (opened === undefined) return ["the store did not open after the fault was gone"];
  const { hf, work } = opened;
  const healthy = { ...options, faults: false };
  for (const name of ["say", "call", "checkpoint", "largeBlob", "sweep", "say"]) await work.named(name);
  const second = await Workload.open(hf, { ...healthy, session: "second", run: "second" });
  for (const name of ["say", "call", "operation"]) await second.named(name);
  // Not closed: what a crash leaves now is what recovery has to make sense of.
  await hf.close();
  return audit(path, ledger, { source: sqlite(path, { driver }) });
}

async function tryOpen(source: StoreSource, options: Parameters<typeof Workload.open>[1], ledger: Ledger) {
  let hf: Awaited<ReturnType<typeof createHoldfast>> | undefined;
  try {
    hf = await createHoldfast({ store: source });
    return { hf, work: await Workload.open(hf, options) };
  } catch (error) {
    if (!HoldfastError.is(error)) ledger.note({ kind: "broken", what: `open: ${describe(error)}` });
    await hf?.close();
    return undefined;
  }
}
