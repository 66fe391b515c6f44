import { kill } from "node:process";
import { readdirSync, readFileSync } from "node:fs";

/** Under this name every command finds the folder it belongs to in its environment, and so do its children. */
export const MARK = "HOLDFAST_EXEC";

/**
 * Processes that carry a mark in their environment. The way to find what has left its process group: a daemon, a `setsid`.
 * None where the system does not tell the environment of others.
 */
function markedProcesses(mark: string): readonly number[] {
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  return numbersIn("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(wanted) && !isOver(pid);
    } catch {
      return false; // gone, or somebody else's
    }
  });
}

/** Ends every process that carries a mark. Answers how many there were. */
export async function endMarked(mark: string, pause: () => Promise<void>): Promise<number> {
  const ended = new Set<number>();
  // What is being ended may start another one meanwhile.
  for (let round = 0; round < 20; round += 1) {
    const found = markedProcesses(mark);
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
    return kill(pid, signal);
  } catch {
    return false; // it has ended, or is no longer ours
  }
}

/** Dead, and waiting for its parent to notice. */
function isOver(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
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
