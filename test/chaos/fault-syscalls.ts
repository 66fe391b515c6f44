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
const ERRORS: Readonly<Record<string, readonly string[]>> = {
  pwrite64: ["EIO", "ENOSPC"],
  fdatasync: ["EIO", "ENOSPC"],
  fsync: ["EIO", "ENOSPC"],
  ftruncate: ["EIO", "EROFS"],
  openat: ["EACCES", "EMFILE", "ENOSPC", "EROFS"],
  mkdir: ["EACCES", "ENOSPC", "EROFS"],
  rename: ["EIO", "ENOSPC", "EROFS"],
  link: ["EIO", "EACCES"],
  unlink: ["EIO", "EROFS"],
  utimensat: ["EIO", "EROFS"],
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
      (ERRORS[syscall] ?? []).flatMap((error) =>
        [nth, `${nth}+`].map((when) => ({ thread, syscall, effect: `error=${error}`, when })),
      ),
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
