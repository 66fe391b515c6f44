import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, type Session } from "../../src/index.ts";
import { type Fault, FaultPlan } from "./fault-plan.ts";
import { DONE_AND_DENIED, faultyHost, HOST_FAULTS } from "./faulty-host.ts";
import { type Driver, type FilesPlace, lay, manifest, openFiles, reached, treeOf, unlikeness } from "./files-model.ts";
import { sample, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { describe } from "./workload.ts";

interface Case {
  readonly at: number;
  readonly fault: Fault;
  readonly forever: boolean;
}

/** Every touch of the workspace by a script of calls with files × every error × once and for ever. */
export async function faultHost(tally: Tally, limit: number, driver?: Driver): Promise<void> {
  const folder = scratchFolder("fault-host");
  const count = FaultPlan.none();
  tally.done("no fault at all", await runCase(join(folder, "count"), count, driver));
  const all = casesOf(count.calls.host);
  tally.count(
    `touches of the workspace by the script${driver === undefined ? "" : ` with ${driver}`}`,
    count.calls.host.length,
  );
  for (const [index, { at, fault, forever }] of (limit < all.length
    ? sample(all, limit, tally.random)
    : all
  ).entries()) {
    const plan = new FaultPlan("host", at, fault, forever);
    const place = join(folder, String(index));
    const wrong = await within(60_000, "a case", runCase(place, plan, driver)).catch((error: unknown) => [
      describe(error),
    ]);
    tally.count("faults struck", plan.struck > 0 ? 1 : 0);
    const call = `${count.calls.host[at] ?? ""} (${at})`;
    tally.done(`${call} ${fault.error} ${fault.when} ${forever ? "for ever" : "once"}`, wrong);
    removeFolder(place);
  }
  removeFolder(folder);
}

function casesOf(calls: readonly string[]): readonly Case[] {
  const cases: Case[] = [];
  for (const forever of [false, true])
    for (const [at, call] of calls.entries()) {
      for (const error of HOST_FAULTS)
        if (error !== "short" || call === "write") cases.push({ at, fault: { error, when: "before" }, forever });
      if (DONE_AND_DENIED.has(call)) cases.push({ at, fault: { error: "EIO", when: "after" }, forever });
    }
  return cases;
}

async function runCase(folder: string, plan: FaultPlan, driver: Driver | undefined): Promise<readonly string[]> {
  const paths = { root: join(folder, "root"), store: join(folder, "store.db") };
  const place: FilesPlace = driver === undefined ? paths : { ...paths, driver };
  mkdirSync(place.root, { recursive: true });
  lay(place.root);
  const wrong: string[] = [];
  let opened: Awaited<ReturnType<typeof openFiles>> | undefined;
  try {
    opened = await openFiles(place, { workspace: { root: place.root, port: faultyHost(plan) } });
    await script(opened.session);
  } catch (error) {
    if (!HoldfastError.is(error)) wrong.push(`untyped: ${describe(error)}`);
  }
  plan.disarm();
  // The fault is gone: what was decided goes in, and the same session goes on, unless it never opened.
  if (opened !== undefined) {
    await opened.session.close().catch((error: unknown) => wrong.push(`close: ${describe(error)}`));
    await opened.holdfast.close();
  }
  return [...wrong, ...(await audit(place))];
}

/** Calls and a rewind. Whatever is refused is refused in our words. */
async function script(session: Session): Promise<void> {
  const now = () => session.state.session.get(reached);
  for (const act of ["call", "call", "rewind", "call"]) {
    const last = session.checkpoints.list().findLast(({ rewound, status }) => !rewound && status === "success");
    if (act === "call") await session.runTool({ name: "step", input: { n: now() + 1 } });
    else if (last !== undefined) await session.rewind({ before: last.callId });
  }
}

async function audit(place: FilesPlace): Promise<readonly string[]> {
  try {
    const { holdfast, session } = await openFiles(place);
    const wrong = checkNow(place, session);
    for await (const entry of session.read())
      if (entry.kind === "file-diverged") wrong.push(`${entry.path} was taken for somebody else's`);
    const { ok } = await session.runTool({ name: "step", input: { n: session.state.session.get(reached) + 1 } });
    if (!ok) wrong.push("the next call failed, without any fault");
    wrong.push(...checkNow(place, session));
    await session.close();
    await holdfast.close();
    return wrong;
  } catch (error) {
    return [`after the fault was gone: ${describe(error)}`];
  }
}

function checkNow({ root }: FilesPlace, session: Session): string[] {
  const now = session.state.session.get(reached);
  return unlikeness(treeOf(root), manifest(now)).map((what) => `at ${now}: ${what}`);
}
