import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { here } from "./here.ts";

/** Under this name every command finds the folder it belongs to in its environment, and so do its children. */
export const MARK = "HOLDFAST_EXEC";

/** How processes that belong to a command are known, when they have left its group: a daemon, a `setsid`. */
export interface Belonging {
  /** In their environment. */
  readonly mark: string;
  /** Something they hold open, as the system calls it: it is inherited, too, also by those who clear their environment. */
  readonly holds: ReadonlySet<string>;
  /** When the first of them was started, as the system counts: whatever is older is somebody else's. */
  readonly since?: number;
}

/** None where the system does not tell such things of others. */
function belongingTo({ mark, holds, since = 0 }: Belonging): readonly number[] {
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  return numbersIn("/proc").filter((pid) => {
    try {
      if (pid === here.pid) return false;
      const { state, started } = statOf(pid);
      if (OVER.has(state) || started < since) return false;
      return readFileSync(`/proc/${pid}/environ`).includes(wanted) || heldBy(pid).some((one) => holds.has(one));
    } catch {
      return false; // gone, or somebody else's
    }
  });
}

/** When a process was started, as the system counts; undefined where it does not tell. */
export function startOf(pid: number): number | undefined {
  try {
    return statOf(pid).started;
  } catch {
    return undefined; // gone already
  }
}

/** Dead, and waiting for its parent to notice. */
const OVER: ReadonlySet<string> = new Set(["Z", "X"]);
const STARTED = 19; // counted from the state, which follows the name in brackets

function statOf(pid: number): { readonly state: string; readonly started: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", started: Number(fields[STARTED]) };
}

/** What a process holds open under a number, or everything. */
export function heldBy(pid: number, number?: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const numbers = number === undefined ? numbersIn(folder) : [number];
  return numbers.flatMap((one) => {
    try {
      return [readlinkSync(`${folder}/${one}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** Ends every process that belongs to a command. Answers how many there were. */
export async function endBelonging(belonging: Belonging, pause: () => Promise<void>): Promise<number> {
  const ended = new Set<number>();
  // What is being ended may start another one meanwhile.
  for (let round = 0; round < 20; round += 1) {
    const found = belongingTo(belonging);
    if (found.length === 0) return ended.size;
    for (const pid of found) {
      ended.add(pid);
      endProcess(pid, "SIGKILL");
    }
    await pause();
  }
  return ended.size;
}

/** False when there is no such process. A negative number means the group of it. */
export function endProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return here.kill(pid, signal);
  } catch {
    return false; // it has ended, or is no longer ours
  }
}

export function numbersIn(proc: string): readonly number[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
  } catch {
    return []; // a system without it
  }
}
