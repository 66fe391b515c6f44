/**
 * A real process that works until it is killed. What it says on fd 3 is written with writeSync after the commit returned,
 * so a line that the parent has read is a promise.
 *
 *   node worker.ts '{"path": …, "seed": …, "run": …}'
 */
import { readSync, writeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { createHoldfast, type Holdfast, HoldfastError, SeededRandom } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { Testimony } from "./ledger.ts";
import { scriptKernel } from "./script/outside.ts";
import { describe, SCRIPT, Workload } from "./workload.ts";

export interface WorkerOrders {
  readonly path: string;
  readonly seed: string;
  readonly run: string;
  readonly session: string;
  /** These steps in this order; without, at random for ever. */
  readonly steps?: readonly string[];
  /** Stays when the steps are done, with everything open, until it is killed. */
  readonly stay?: boolean;
  /** Says `ready` and waits for a byte on fd 0 before it touches the store, and again before it closes. */
  readonly wait?: boolean;
  readonly faults?: boolean;
  readonly durability?: "power" | "process";
  /** An operation of an earlier life that has no answer. */
  readonly resend?: { readonly run: string; readonly batch: number; readonly operation: string };
  /** Opens, recovers, closes; for kills during recovery. */
  readonly recoverOnly?: boolean;
}

const ACKS = 3;
const orders = JSON.parse(process.argv[2] ?? "{}") as WorkerOrders;

function say(testimony: Testimony): void {
  writeSync(ACKS, `${JSON.stringify(testimony)}\n`);
}

function waitForParent(): void {
  readSync(0, new Uint8Array(1));
}

async function work(): Promise<void> {
  if (orders.wait) {
    await stat(".").catch(() => undefined); // the file thread exists before anybody looks for it
    say({ kind: "ready" });
    waitForParent();
  }
  const random = new SeededRandom(`${orders.seed}/${orders.run}`);
  const { durability = "power", faults = false } = orders;
  const store = sqlite(orders.path, { durability, ...(faults ? { busyLimit: 200 } : {}) });
  if (faults) return workThroughFaults(store, random);
  await using hf = await createHoldfast({ store, ...scriptKernel(orders.path) });
  const work = await Workload.open(hf, { ...orders, random, say, faults });
  if (!orders.wait) say({ kind: "ready" });
  if (orders.recoverOnly) {
    await work.session.close();
    return;
  }
  if (orders.resend !== undefined) {
    const { run, batch, operation } = orders.resend;
    await work.resend(run, batch, operation);
  }
  if (orders.steps === undefined) for (;;) await work.step();
  for (const name of orders.steps) await work.named(name);
  if (orders.stay) {
    say({ kind: "done" });
    waitForParent();
  }
  await work.session.close();
}

/** Opening may be refused too; it is tried again when the parent says that the fault is gone. */
async function workThroughFaults(store: ReturnType<typeof sqlite>, random: SeededRandom): Promise<void> {
  const options = { ...orders, random, say, faults: true };
  let opened = await tryOpen(store, options);
  if (opened !== undefined) for (const name of SCRIPT) await opened.work.named(name);
  say({ kind: "ready" });
  waitForParent();
  opened ??= await tryOpen(store, { ...options, run: `${orders.run}-after` });
  if (opened === undefined) return say({ kind: "broken", what: "the store did not open after the fault was gone" });
  const after = await Workload.open(opened.hf, {
    ...options,
    run: `${orders.run}-cleared`,
    session: "after",
    faults: false,
  });
  for (const name of ["say", "call", "largeBlob", "operation"]) await after.named(name);
  await after.session.close();
  await opened.hf.close();
}

async function tryOpen(store: ReturnType<typeof sqlite>, options: Parameters<typeof Workload.open>[1]) {
  let hf: Holdfast | undefined;
  try {
    hf = await createHoldfast({ store });
    return { hf, work: await Workload.open(hf, options) };
  } catch (error) {
    if (HoldfastError.is(error)) say({ kind: "refused", step: "open", code: error.code });
    else say({ kind: "broken", what: `open: ${describe(error)}` });
    // A lease whose release failed with everything else is held by this owner; closing ends the owner, and the lease.
    await hf?.close();
    return undefined;
  }
}

try {
  await work();
  say({ kind: "done" });
} catch (error) {
  say({ kind: "broken", what: describe(error) });
  process.exitCode = 1;
}
