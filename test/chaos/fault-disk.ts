import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, HoldfastError } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { audit } from "./auditor.ts";
import { DiskImage } from "./disk-image.ts";
import { Ledger } from "./ledger.ts";
import { type Tally, within } from "./rig.ts";
import { mountAt, scratchFolder } from "./scratch.ts";
import { describe, Workload } from "./workload.ts";

const SMALL_MB = 12;

/** A disk that is really full, and then is not: nothing acknowledged that is not there, and work goes on. */
export async function faultDisk(tally: Tally, cases: number): Promise<void> {
  for (let nth = 0; nth < cases; nth += 1) {
    const folder = scratchFolder("fault-disk");
    const kind = nth % 2 === 0 ? "tmpfs" : "ext4";
    const { at, unmount } =
      kind === "tmpfs" ? tmpfs(folder) : DiskImage.make(folder, "small", "ext4", SMALL_MB).mount();
    try {
      const wrong = await within(120_000, "a full disk", fillUp(tally, at, nth)).catch((error: unknown) => [
        describe(error),
      ]);
      tally.done(`full ${kind} ${nth}`, wrong);
    } finally {
      unmount();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function fillUp(tally: Tally, root: string, nth: number): Promise<readonly string[]> {
  const path = join(root, "holdfast", "store.db");
  const filler = join(root, "filler");
  const random = tally.random.split(`disk ${nth}`);
  // So much is taken beforehand that the disk fills at another place each time; now and then while the store is made.
  // Never too little: when it goes, there must be room to work and to recover in.
  writeFileSync(filler, Buffer.alloc(Math.floor((3 + (SMALL_MB - 7) * random.fraction()) * 1024 * 1024)));
  const last = join(root, "last");
  if (nth % 7 === 6) fillCompletely(last);
  const ledger = new Ledger();
  const say = ledger.note.bind(ledger);
  const options = { session: "main", run: "full", random, say, faults: true };
  const source = sqlite(path);
  const opened = await tryOpen(source, options, ledger);
  let full = opened === undefined ? 1 : 0;
  if (opened !== undefined) {
    for (let step = 0; step < 400 && full < 12; step += 1) {
      await opened.work.named(
        random.pick(["say", "call", "largeBlob", "hugeBlob", "group", "operation", "smallBlob", "overlap"]),
      );
      full = ledger.refused.filter((what) => what.endsWith("STORE_FULL")).length;
      if (full > 0 && step % 5 === 0) fillCompletely(last);
    }
  }
  tally.count("refusals because full", full);
  const wrong = full > 0 ? [] : ["the disk never filled up"];
  rmSync(filler, { force: true });
  rmSync(last, { force: true });
  const again = opened ?? (await tryOpen(source, { ...options, run: "again" }, ledger));
  if (again === undefined) return [...wrong, "the store did not open after space was freed"];
  const after = await Workload.open(again.hf, { ...options, session: "after", run: "after", faults: false });
  for (const name of ["say", "call", "largeBlob", "operation", "group"]) await after.named(name);
  await again.work.named("say");
  await again.hf.close();
  return [...wrong, ...(await audit(path, ledger))];
}

/** The last free block too: half a megabyte, then ever less, until nothing fits. */
function fillCompletely(file: string): void {
  for (let size = 512 * 1024; size >= 512; size /= 2) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch {
      // That is what it is for.
    }
  }
}

async function tryOpen(
  source: ReturnType<typeof sqlite>,
  options: Parameters<typeof Workload.open>[1],
  ledger: Ledger,
) {
  let hf: Awaited<ReturnType<typeof createHoldfast>> | undefined;
  try {
    hf = await createHoldfast({ store: source });
    return { hf, work: await Workload.open(hf, options) };
  } catch (error) {
    if (HoldfastError.is(error)) ledger.note({ kind: "refused", step: "open", code: error.code });
    else ledger.note({ kind: "broken", what: `open: ${describe(error)}` });
    await hf?.close();
    return undefined;
  }
}

function tmpfs(folder: string): { readonly at: string; readonly unmount: () => void } {
  const at = join(folder, "tmpfs");
  mkdirSync(at);
  return { at, unmount: mountAt(at, ["-t", "tmpfs", "-o", `size=${SMALL_MB}m`, "tmpfs"]) };
}
