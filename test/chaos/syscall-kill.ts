import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { audit } from "./auditor.ts";
import { Ledger } from "./ledger.ts";
import { type Rig, sample, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { countCalls, MUTATING, startTraced, straceMissing } from "./strace.ts";
import { SCRIPT } from "./workload.ts";

/** Creation, ten calls and everything else of the script, killed at the first, second, … of every mutating system call. */
export const syscallKill: Rig = {
  about: "SIGKILL at every mutating system call of a script (strace)",
  cases: 0,
  quickCases: 15,
  skip: straceMissing,
  async run(tally, { cases, seed, extra }) {
    const folder = scratchFolder("syscall-kill");
    const ordersAt = (name: string) => {
      mkdirSync(join(folder, name), { recursive: true });
      return { path: join(folder, name, "store.db"), seed, run: "killed", session: "main", steps: SCRIPT };
    };
    const counts = await countCalls((thread) => ordersAt(`count-${thread}`));
    const all = MUTATING.flatMap(([thread, syscall]) =>
      // Two beyond the count: runs differ by a call or so, and the last ones must find an untouched end.
      Array.from({ length: (counts.get(`${thread} ${syscall}`) ?? 0) + 2 }, (_, index) => ({
        thread,
        syscall,
        nth: index + 1,
      })),
    );
    const only = extra.get("only")?.split(",");
    const named = only === undefined ? undefined : all.filter(({ syscall }) => only.includes(syscall));
    const chosen = named?.slice(0, cases || named.length) ?? (cases > 0 ? sample(all, cases, tally.random) : all);
    for (const [index, { thread, syscall, nth }] of chosen.entries()) {
      const orders = ordersAt(String(index));
      const ledger = new Ledger();
      const injection = { thread, syscall, effect: "signal=SIGKILL", when: String(nth) };
      const { worker, detach } = await startTraced(orders, ledger, injection);
      const { signal } = await within(60_000, "a worker under strace", worker.ended);
      await detach();
      tally.count(signal === "SIGKILL" ? "killed" : "ran to the end");
      tally.done(`${thread} ${syscall} ${nth}`, await within(60_000, "audit", audit(orders.path, ledger)));
      removeFolder(join(folder, String(index)));
    }
    removeFolder(folder);
  },
};
