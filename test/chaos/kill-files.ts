import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../src/index.ts";
import { startWitness } from "./child.ts";
import {
  type Driver,
  type FilesPlace,
  lay,
  leftRunning,
  manifest,
  openFiles,
  reached,
  treeOf,
  unlikeness,
} from "./files-model.ts";
import type { Testimony } from "./ledger.ts";
import { pause, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { describe } from "./workload.ts";

const LIVES = 12;

/**
 * Kills a process that commits and rewinds calls with files, or calls that run commands: afterwards the folder is before or
 * after, never a mix, and nothing of a command is running.
 */
export async function killFiles(tally: Tally, cases: number, seed: string, driver?: Driver): Promise<void> {
  const { random } = tally;
  for (let life = 0; life < cases; ) {
    const folder = scratchFolder("kill-files");
    const paths = { root: join(folder, "root"), store: join(folder, "store.db") };
    const place: FilesPlace = driver === undefined ? paths : { ...paths, driver };
    mkdirSync(place.root);
    lay(place.root);
    let at = 0;
    for (let here = 0; here < LIVES && life < cases; here += 1, life += 1) {
      const orders = JSON.stringify({ ...place, seed: `${seed}/${life}` });
      const worker = startWitness("files-worker.ts", orders, () => undefined);
      if (random.below(6) > 0) await within(30_000, "start of a worker", worker.heard("ready"));
      else await pause(100);
      await pause(random.below(random.below(3) === 0 ? 400 : 90));
      const wrong: string[] = [];
      if (random.below(8) === 0 && worker.said.length > 0) {
        worker.child.kill("SIGSTOP");
        wrong.push(...(await keepsOut(place)));
      }
      worker.child.kill("SIGKILL");
      const { signal, code } = await worker.ended;
      if (signal !== "SIGKILL") wrong.push(`the worker ended by itself with ${code}`);
      wrong.push(...brokenIn(worker.said));
      // Commands that work on the files themselves are in the middle of it, until somebody opens the folder.
      if (driver !== "portable") wrong.push(...mixIn(place, at, worker.said));
      const audited = await within(60_000, "audit", audit(place, mayBe(at, worker.said)));
      at = audited.at;
      for (const pid of leftRunning(place.root)) wrong.push(`process ${pid} of a command outlived its session`);
      tally.count(
        driver === undefined ? "file calls" : `${driver} calls`,
        worker.said.filter(({ kind }) => kind === "reached").length,
      );
      tally.done(`${driver ?? "file"} life ${life}`, [...wrong, ...audited.wrong]);
    }
    removeFolder(folder);
  }
}

function brokenIn(said: readonly Testimony[]): readonly string[] {
  return said.flatMap((one) => (one.kind === "broken" ? [one.what] : []));
}

/** Where the workspace may stand: at what was last reached, or at what was aimed for after it. */
function mayBe(start: number, said: readonly Testimony[]): readonly number[] {
  let [reachedNow, aimed] = [start, start];
  for (const one of said) {
    if (one.kind === "aiming") aimed = one.n;
    if (one.kind === "reached") [reachedNow, aimed] = [one.n, one.n];
  }
  return [...new Set([reachedNow, aimed])];
}

/** Before anybody mends it: every file that is there is whole, and of one of the two moments. */
function mixIn({ root }: FilesPlace, start: number, said: readonly Testimony[]): readonly string[] {
  const moments = mayBe(start, said).map(manifest);
  return [...treeOf(root)].flatMap(([path, what]) => {
    if (path.split("/").some((name) => name.startsWith(".holdfast-"))) return []; // waits beside its target
    return moments.some((moment) => moment.get(path) === what) ? [] : [`${path} was torn: ${what.slice(0, 40)}`];
  });
}

async function audit(place: FilesPlace, may: readonly number[]) {
  const wrong: string[] = [];
  let at = may[0] ?? 0;
  for (const time of ["first", "second"]) {
    try {
      const { holdfast, session } = await openFiles(place);
      const now = session.state.session.get(reached);
      if (time === "first" && !may.includes(now)) wrong.push(`the session says ${now} and may say ${may.join(" or ")}`);
      if (time === "second" && now !== at) wrong.push(`a second opening says ${now} after ${at}`);
      at = now;
      wrong.push(...unlikeness(treeOf(place.root), manifest(now)).map((what) => `${time} opening, at ${now}: ${what}`));
      await session.close();
      await holdfast.close();
    } catch (error) {
      wrong.push(`${time} opening: ${describe(error)}`);
    }
  }
  return { wrong, at };
}

/** A holder that sleeps is alive: nobody else gets into its folder, whichever store they bring. */
async function keepsOut({ root, store }: FilesPlace): Promise<readonly string[]> {
  try {
    const { holdfast, session } = await openFiles({ root, store: `${store}.other` });
    await session.close();
    await holdfast.close();
    return ["a second process got into the folder of one that only slept"];
  } catch (error) {
    return HoldfastError.is(error, "WORKSPACE_BUSY") ? [] : [`a second process was refused oddly: ${describe(error)}`];
  }
}
