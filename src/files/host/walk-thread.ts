import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { type PackedWalk, unpacked } from "./packed-walk.ts";
import type { HostStat } from "./port.ts";
import type { FoundElsewhere, SecondWalker, SharedWalk } from "./walk.ts";

/** One walk, as the thread is told of it. */
export interface WalkTask {
  /** Comes back with the answer. */
  readonly walk: number;
  readonly base: string;
  readonly root: HostStat | undefined;
  readonly folders: readonly string[];
  /** Which folder is next, and whether the thread has answered. */
  readonly shared: SharedArrayBuffer;
}

export interface WalkAnswer {
  readonly walk: number;
  /** Undefined when it failed: whoever asked looks again, and hears of it as it is used to. */
  readonly found?: PackedWalk;
}

export const NEXT = 0;
export const OVER = 1;
/** Whether the thread is there, in a place of its own. */
export const THERE = 0;

/** A thread that has not answered after so long will not: what it took is looked at here. */
const PATIENCE_MS = 30_000;

/**
 * Looks at one half of a large tree on another core: what a walk costs is the system's time for each name, and nothing else
 * makes it less. Whatever goes wrong with it costs time and nothing else.
 */
export class WalkThread implements SecondWalker {
  readonly #there = new Int32Array(new SharedArrayBuffer(4));
  readonly #port: MessagePort;
  readonly #patienceMs: number;
  #worker: Worker | undefined;
  #walks = 0;

  constructor(file: URL = new URL(FILE, import.meta.url), patienceMs = PATIENCE_MS) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#patienceMs = patienceMs;
    const worker = new Worker(file, {
      workerData: { port: port2, there: this.#there.buffer },
      transferList: [port2],
      env: {},
      stdin: false,
    });
    worker.on("error", () => this.close()); // walks go on without it
    worker.unref();
    port1.unref();
    this.#worker = worker;
  }

  /** Whether it can be asked: it takes a moment to begin, and may have ended. */
  get isThere(): boolean {
    return this.#worker !== undefined && Atomics.load(this.#there, THERE) === 1;
  }

  share(base: string, root: HostStat | undefined, folders: readonly string[]): SharedWalk | undefined {
    if (!this.isThere) return undefined;
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const walk = (this.#walks += 1);
    const task: WalkTask = { walk, base, root, folders, shared: shared.buffer };
    this.#port.postMessage(task);
    return { next: () => Atomics.add(shared, NEXT, 1), theirs: () => this.#theirs(walk, shared) };
  }

  close(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#port.close();
  }

  #theirs(walk: number, shared: Int32Array<SharedArrayBuffer>): FoundElsewhere | undefined {
    if (Atomics.wait(shared, OVER, 0, this.#patienceMs) === "timed-out") {
      this.close();
      return undefined;
    }
    // A walk that failed here has left its answer behind.
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const { walk: of, found } = got.message as WalkAnswer;
      if (of === walk) return found === undefined ? undefined : { ...found, entries: unpacked(found) };
    }
    return undefined;
  }
}

/** Beside this file: as it is written, and as it is built. */
const FILE = import.meta.url.endsWith(".ts") ? "./walk-worker.ts" : "./walk-worker.js";
