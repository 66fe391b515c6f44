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
  /**
   * What only whoever started them holds open. A process that was made and has not become a command yet still has all of
   * it, and no mark: it is waited for, until it has.
   */
  readonly coming?: ReadonlySet<string>;
}

interface Found {
  readonly belong: readonly number[];
  /** Some may belong in a moment. */
  readonly doubtful: boolean;
}

/** None where the system does not tell such things of others. */
function belongingTo({ mark, holds, since = 0, coming = NOTHING }: Belonging): Found {
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  const belong: number[] = [];
  let doubtful = false;
  for (const pid of numbersIn("/proc")) {
    try {
      if (pid === here.pid) continue;
      const { state, started } = statOf(pid);
      if (OVER.has(state) || started < since) continue;
      // In this order: one that becomes a command between the two looks has lost what it held, and has its mark by then.
      const held = holds.size + coming.size === 0 ? [] : heldBy(pid);
      const environ = readFileSync(`/proc/${pid}/environ`);
      if (environ.includes(wanted) || held.some((one) => holds.has(one))) belong.push(pid);
      else if (held.some((one) => coming.has(one)) || (coming.size > 0 && environ.length === 0 && isProgram(pid)))
        doubtful = true;
    } catch {
      // gone, or somebody else's
    }
  }
  return { belong, doubtful };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Not a part of the system itself. One without an environment is becoming another program just now, or has none. */
function isProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false; // gone meanwhile, or the system's
  }
}

/** When a process was started, as the system counts; undefined where it does not tell. */
export function startOf(pid: number): number | undefined {
  try {
    return statOf(pid).started;
  } catch {
    return undefined; // gone already
  }
}

function groupOf(pid: number): number | undefined {
  try {
    return statOf(pid).group;
  } catch {
    return undefined; // gone already
  }
}

/** Dead, and waiting for its parent to notice. */
const OVER: ReadonlySet<string> = new Set(["Z", "X"]);
const GROUP = 2;
const STARTED = 19; // counted from the state, which follows the name in brackets

function statOf(pid: number): { readonly state: string; readonly group: number; readonly started: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", group: Number(fields[GROUP]), started: Number(fields[STARTED]) };
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

export function isRunning(belonging: Belonging): boolean {
  return belongingTo(belonging).belong.length > 0;
}

/** Asks a group, if there is one, and every process that belongs to the command and has left it to end: each of them once. */
export function askBelonging(belonging: Belonging, group?: number): void {
  const others = belongingTo(belonging).belong.filter((pid) => group === undefined || groupOf(pid) !== group);
  for (const pid of group === undefined ? others : [-group, ...others]) endProcess(pid, "SIGTERM");
}

/** Ends every process that belongs to a command. Answers how many there were. */
export async function endBelonging(belonging: Belonging, pause: () => Promise<void>): Promise<number> {
  const ended = new Set<number>();
  let doubts = 0;
  // What is being ended may start another one meanwhile.
  for (let round = 0; round < ROUNDS + doubts; round += 1) {
    const { belong, doubtful } = belongingTo(belonging);
    if (belong.length === 0 && (!doubtful || doubts === DOUBTS)) return ended.size;
    if (belong.length === 0) doubts += 1;
    for (const pid of belong) {
      ended.add(pid);
      endProcess(pid, "SIGKILL");
    }
    await pause();
  }
  return ended.size;
}

/** Whoever is ended needs a moment of the processor for it, and a busy machine may be long in giving it one. */
const ROUNDS = 400;
/** So often is waited for somebody who may belong in a moment. */
const DOUBTS = 100;

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
