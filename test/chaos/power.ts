import { readFileSync } from "node:fs";
import { join } from "node:path";
import { audit } from "./auditor.ts";
import { startWorker, type Witness } from "./child.ts";
import { DiskImage, type FileSystem, imagesMissing, isFileSystem } from "./disk-image.ts";
import { Ledger } from "./ledger.ts";
import { pause, type Rig, type RigOptions, type Tally, within } from "./rig.ts";
import { scratchFolder } from "./scratch.ts";

const CUTS_PER_DISK = 8;

/**
 * The power goes: the worker is stopped where it stands, and the file that its disk lies in is copied. The copy holds
 * what had been flushed and nothing else. What was acknowledged before must be on it.
 */
export const power: Rig = {
  about: "power cuts on a disk of its own: stop, copy the image, replay, audit (root)",
  cases: 40,
  quickCases: 8,
  skip: (options) => {
    const fs = fileSystem(options);
    return fs === undefined ? "--fs knows ext4, xfs and btrfs" : imagesMissing(fs);
  },
  async run(tally, options) {
    const fs = fileSystem(options) ?? "ext4";
    const control = options.extra.has("control");
    let cutsWithLoss = 0;
    for (let cut = 0; cut < options.cases; cut += CUTS_PER_DISK) {
      const folder = scratchFolder("power");
      const disk = DiskImage.make(folder, "disk", fs);
      const ledger = new Ledger();
      for (let here = cut; here < Math.min(cut + CUTS_PER_DISK, options.cases); here += 1) {
        const wrong = await cutOnce(tally, disk, ledger, { seed: options.seed, run: `p${here}`, control });
        if (control && wrong.length > 0) cutsWithLoss += 1;
        tally.done(`cut ${here} on ${fs}`, control ? [] : wrong);
      }
      disk.remove();
    }
    if (!control) return;
    tally.count("cuts that lost acknowledged work", cutsWithLoss);
    if (cutsWithLoss === 0) tally.done("control", ["a store without syncs lost nothing: the rig is blind"]);
  },
};

async function cutOnce(
  tally: Tally,
  disk: DiskImage,
  ledger: Ledger,
  { seed, run, control }: { readonly seed: string; readonly run: string; readonly control: boolean },
): Promise<readonly string[]> {
  const { random } = tally;
  const running = disk.mount();
  const place = (root: string) => join(root, "holdfast", "store.db");
  const durability = control ? "process" : "power";
  const worker = startWorker({ path: place(running.at), seed, run, session: "main", durability }, ledger);
  await within(120_000, "start of a worker", worker.heard("ready"));
  await pause(20 + random.below(random.below(4) === 0 ? 2_500 : 500));
  worker.child.kill("SIGSTOP");
  await stopped(worker);
  const copy = disk.copy(run);
  worker.child.kill("SIGKILL");
  await worker.ended;
  tally.count("acks", worker.said.filter(({ kind }) => kind === "acked").length);
  running.unmount();
  const left = copy.mount();
  try {
    return await within(60_000, "audit", audit(place(left.at), ledger));
  } finally {
    left.unmount();
    copy.remove();
  }
}

/** A stop is not instant: an acknowledgement given after the copy was begun would be blamed on the store. */
async function stopped({ child }: Witness): Promise<void> {
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8"))) await pause(1);
}

function fileSystem({ extra }: RigOptions): FileSystem | undefined {
  const asked = extra.get("fs") ?? "ext4";
  return isFileSystem(asked) ? asked : undefined;
}
