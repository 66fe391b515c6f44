import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Ledger, Testimony } from "./ledger.ts";
import { ended, startChild } from "./scratch.ts";
import type { WorkerOrders } from "./worker.ts";

/** A process that testifies on fd 3. What has been read from the pipe was said before the process died. */
export interface Witness {
  readonly child: ChildProcess;
  readonly said: readonly Testimony[];
  /** Resolves with the n-th line of this kind, or undefined when the process ended first. */
  heard(kind: Testimony["kind"], nth?: number): Promise<Testimony | undefined>;
  /** Resolves when the process is gone and its last complete line has been read. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  go(): void;
}

export function startWorker(orders: WorkerOrders, ledger: Ledger, env: Readonly<Record<string, string>> = {}): Witness {
  return startWitness("worker.ts", JSON.stringify(orders), (said) => ledger.note(said), env);
}

export function startWitness(
  file: string,
  orders: string,
  note: (said: Testimony) => void,
  env: Readonly<Record<string, string>> = {},
): Witness {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = startChild(process.execPath, ["--disable-warning=ExperimentalWarning", program, orders], {
    stdio: ["pipe", "inherit", "inherit", "pipe"],
    env: { ...process.env, ...env },
  });
  child.stdin?.on("error", () => undefined); // a killed worker reads no more
  const said: Testimony[] = [];
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  let rest = "";
  let drained = false;
  const pipe = child.stdio[3] as NodeJS.ReadableStream;
  const end = new Promise<void>((resolve) => {
    pipe.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const testimony = JSON.parse(line) as Testimony;
        said.push(testimony);
        note(testimony);
      }
      tell();
    });
    pipe.on("close", () => {
      drained = true;
      tell();
      resolve();
    });
  });
  return {
    child,
    said,
    heard: (kind, nth = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = said.filter((testimony) => testimony.kind === kind)[nth - 1];
          if (found === undefined && !drained) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    ended: Promise.all([ended(child), end]).then(([how]) => how),
    go: () => void child.stdin?.write("g"),
  };
}
