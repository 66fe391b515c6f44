import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { audit } from "./auditor.ts";
import { Ledger } from "./ledger.ts";
import { sample, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { countCalls, MUTATING, startTraced } from "./strace.ts";
import { SCRIPT } from "./workload.ts";

/**
 * What a system call may answer when the disk is sick, full or taken away. `write` is left to the ports: on the pool's
 * thread it is also how libuv wakes the main loop, and a libuv that cannot do that aborts the process.
 */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  // Nothing written, and no error: the shortest of short writes, and the only one that strace can make honestly.
  pwrite64: ["error=EIO", "error=ENOSPC", "retval=0"],
  fdatasync: ["error=EIO", "error=ENOSPC"],
  fsync: ["error=EIO", "error=ENOSPC"],
  ftruncate: ["error=EIO", "error=EROFS"],
  openat: ["error=EACCES", "error=EMFILE", "error=ENOSPC", "error=EROFS"],
  mkdir: ["error=EACCES", "error=ENOSPC", "error=EROFS"],
  rename: ["error=EIO", "error=ENOSPC", "error=EROFS"],
  link: ["error=EIO", "error=EACCES"],
  unlink: ["error=EIO", "error=EROFS"],
  utimensat: ["error=EIO", "error=EROFS"],
};

/** The same as through the ports, on real system calls: SQLite's own handling, locks and creation included. */
export async function faultSyscalls(tally: Tally, limit: number, seed: string): Promise<void> {
  const folder = scratchFolder("fault-syscalls");
  const ordersAt = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return { path: join(folder, name, "store.db"), seed, run: "faulty", session: "main" };
  };
  const counts = await countCalls((thread) => ({ ...ordersAt(`count-${thread}`), steps: SCRIPT }));
  const all = MUTATING.flatMap(([thread, syscall]) =>
    Array.from({ length: counts.get(`${thread} ${syscall}`) ?? 0 }, (_, index) => String(index + 1)).flatMap((nth) =>
      (EFFECTS[syscall] ?? []).flatMap((effect) => [nth, `${nth}+`].map((when) => ({ thread, syscall, effect, when }))),
    ),
  );
  tally.count("faults of system calls possible", all.length);
  const chosen = limit < all.length ? sample(all, limit, tally.random) : all;
  for (const [index, injection] of chosen.entries()) {
    const orders = ordersAt(String(index));
    const ledger = new Ledger();
    const { worker, detach } = await startTraced({ ...orders, faults: true }, ledger, injection);
    await within(60_000, "a worker with faults", worker.heard("ready", 2));
    await detach();
    worker.go();
    const { code, signal } = await within(60_000, "a worker after its faults", worker.ended);
    const early = code === 0 ? [] : [`the worker ended with ${code ?? signal}`];
    const wrong = [...early, ...(await within(60_000, "audit", audit(orders.path, ledger)))];
    const { thread, syscall, effect, when } = injection;
    tally.done(`${thread} ${syscall} ${effect} at ${when}`, wrong);
    removeFolder(join(folder, String(index)));
  }
  removeFolder(folder);
}
