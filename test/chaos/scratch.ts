import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Everything a rig leaves in the world while it runs. Undone in reverse order, on success, failure and Ctrl-C alike. */
const undo: (() => void)[] = [];
const children = new Map<ChildProcess, NodeJS.Signals>();

export function scratchFolder(rig: string): string {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${rig}-`));
  undo.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** `end` is how it is ended if the rig is: a child that is a rig itself must be let clean up. */
export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  end: NodeJS.Signals = "SIGKILL",
): ChildProcess {
  const child = spawn(command, args, options);
  children.set(child, end);
  child.once("exit", () => children.delete(child));
  child.once("error", () => children.delete(child));
  return child;
}

export function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode });
    else child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** Mounts, and remembers to unmount. */
export function mountAt(folder: string, args: readonly string[]): () => void {
  execFileSync("mount", [...args, folder], { stdio: ["ignore", "ignore", "pipe"] });
  let mounted = true;
  const unmount = () => {
    if (!mounted) return;
    mounted = false;
    try {
      execFileSync("umount", [folder], { stdio: "ignore" });
    } catch {
      execFileSync("umount", ["-l", folder], { stdio: "ignore" }); // somebody still looks at it; the kernel lets go later
    }
  };
  undo.push(unmount);
  return unmount;
}

export function cleanUp(): void {
  for (const [child, end] of children) child.kill(end);
  for (const step of undo.splice(0).reverse()) {
    try {
      step();
    } catch (error) {
      process.stderr.write(`chaos: clean-up: ${String(error)}\n`);
    }
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    cleanUp();
    process.exit(130);
  });
}
process.once("exit", cleanUp);
