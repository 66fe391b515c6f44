import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { WorkerOrders } from "./worker.ts";
import { startWorker, type Witness } from "./child.ts";
import { Ledger } from "./ledger.ts";
import { within } from "./rig.ts";
import { ended, startChild } from "./scratch.ts";

/** SQLite works on the main thread, Node's own files on the pool's; strace counts each thread by itself. */
export type Thread = "main" | "pool";

/** Every system call that changes what is on the disk. */
export const MUTATING: readonly (readonly [Thread, string])[] = [
  ["main", "pwrite64"],
  ["main", "fdatasync"],
  ["main", "fsync"],
  ["main", "ftruncate"],
  ["main", "unlink"],
  ["main", "openat"],
  ["pool", "openat"],
  ["pool", "write"],
  ["pool", "fsync"],
  ["pool", "mkdir"],
  ["pool", "rename"],
  ["pool", "link"],
  ["pool", "unlink"],
  ["pool", "utimensat"],
];

export interface Injection {
  readonly thread: Thread;
  readonly syscall: string;
  /** `signal=SIGKILL` or `error=ENOSPC`. */
  readonly effect: string;
  /** `5`, or `5+` for every call from the fifth on. */
  readonly when: string;
}

export interface Traced {
  readonly worker: Witness;
  /** Takes the fault out of the world; the worker goes on. */
  readonly detach: () => Promise<void>;
}

/** Why strace cannot inject here, if it cannot. */
export function straceMissing(): string | undefined {
  if (process.platform !== "linux") return "strace needs Linux";
  const version = spawnSync("strace", ["--version"], { encoding: "utf8" });
  if (version.error !== undefined) return "strace is not installed (apt-get install strace)";
  const works = spawnSync("strace", ["-e", "trace=none", "true"], { encoding: "utf8" });
  return works.status === 0 ? undefined : `strace may not trace here: ${works.stderr.trim().split("\n")[0]}`;
}

/** A worker that has not yet touched its store, with the injection in place, let go. */
export async function startTraced(orders: WorkerOrders, ledger: Ledger, injection: Injection): Promise<Traced> {
  const worker = startWorker({ ...orders, wait: true }, ledger, { UV_THREADPOOL_SIZE: "1" });
  await within(30_000, "start of a worker", worker.heard("ready"));
  const { syscall, effect, when } = injection;
  const detach = await attach(threadOf(worker, injection.thread), [
    "-e",
    `trace=${syscall}`,
    "-e",
    `inject=${syscall}:${effect}:when=${when}`,
    "-o",
    "/dev/null",
  ]);
  worker.go();
  return { worker, detach };
}

/** How often an untouched script makes each call. */
export async function countCalls(orders: (thread: Thread) => WorkerOrders): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const thread of ["main", "pool"] as const) {
    const calls = MUTATING.filter(([on]) => on === thread).map(([, syscall]) => syscall);
    const worker = startWorker({ ...orders(thread), wait: true }, new Ledger(), { UV_THREADPOOL_SIZE: "1" });
    await worker.heard("ready");
    const log = `${orders(thread).path}.strace`;
    const detach = await attach(threadOf(worker, thread), ["-e", `trace=${calls.join(",")}`, "-o", log]);
    worker.go();
    await worker.ended;
    await detach();
    for (const line of readFileSync(log, "utf8").split("\n")) {
      const syscall = /^(\w+)\(/.exec(line)?.[1];
      if (syscall !== undefined) counts.set(`${thread} ${syscall}`, (counts.get(`${thread} ${syscall}`) ?? 0) + 1);
    }
  }
  return counts;
}

async function attach(tid: number, args: readonly string[]): Promise<() => Promise<void>> {
  const strace = startChild("strace", ["-p", String(tid), ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const attached = new Promise<void>((resolve, reject) => {
    let said = "";
    strace.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
      if (said.includes("attached")) resolve();
    });
    strace.once("exit", () => reject(new Error(`strace ended: ${said}`)));
  });
  await within(10_000, "strace", attached);
  return async () => {
    strace.kill("SIGTERM");
    await ended(strace);
  };
}

function threadOf(worker: Witness, thread: Thread): number {
  const pid = worker.child.pid ?? 0;
  if (thread === "main") return pid;
  const found = readdirSync(`/proc/${pid}/task`).find((tid) =>
    readFileSync(`/proc/${pid}/task/${tid}/comm`, "utf8").startsWith("libuv-worker"),
  );
  if (found === undefined) throw new Error("the worker has no thread named libuv-worker");
  return Number(found);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function has(command: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`], {
      stdio: "ignore",
      env: { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` },
    });
    return true;
  } catch {
    return false;
  }
}
