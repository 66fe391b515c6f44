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
  /** Which folder is next, whether the thread has answered, and how many folders it has looked into. */
  readonly shared: SharedArrayBuffer;
}

export interface WalkAnswer {
  readonly walk: number;
  /** Undefined when it failed: whoever asked looks again, and hears of it as it is used to. */
  readonly found?: PackedWalk;
}

export const NEXT = 0;
export const OVER = 1;
export const BEAT = 2;
/** Whether the thread is there, in a place of its own. */
export const THERE = 0;

/** A thread that has looked into no folder for so long is dead: what it took is looked at here. Far less than any lease. */
const PATIENCE_MS = 2_000;

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

  constructor(file?: URL, patienceMs = PATIENCE_MS) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#patienceMs = patienceMs;
    port1.unref();
    try {
      this.#worker = this.#begin(file ?? workerFile(), port2);
    } catch {
      port2.close(); // no thread may be had here, or none is left: walks go on without it
      port1.close();
    }
  }

  /** Whether it can be asked: it takes a moment to begin, and may have ended. */
  get isThere(): boolean {
    return this.#worker !== undefined && Atomics.load(this.#there, THERE) === 1;
  }

  share(base: string, root: HostStat | undefined, folders: readonly string[]): SharedWalk | undefined {
    if (!this.isThere || folders.length === 0) return undefined;
    const shared = new Int32Array(new SharedArrayBuffer(12));
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

  #begin(file: URL, port: MessagePort): Worker {
    const worker = new Worker(file, {
      workerData: { port, there: this.#there.buffer },
      transferList: [port],
      // Nothing of the host's: what it loads before its own code is not for us to load again.
      env: {},
      execArgv: [],
      stdin: false,
    });
    worker.on("error", () => this.close());
    worker.on("exit", () => this.close());
    worker.unref();
    return worker;
  }

  #theirs(walk: number, shared: Int32Array<SharedArrayBuffer>): FoundElsewhere | undefined {
    for (let beat = -1; Atomics.wait(shared, OVER, 0, this.#patienceMs) === "timed-out"; ) {
      const now = Atomics.load(shared, BEAT);
      if (now === beat) {
        this.close();
        return undefined;
      }
      beat = now; // slow, as the disk may be, and alive
    }
    // A walk that failed here has left its answer behind.
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const { walk: of, found } = got.message as WalkAnswer;
      if (of === walk) return found === undefined ? undefined : { ...found, entries: unpacked(found) };
    }
    return undefined;
  }
}

/** Beside this file: as it is written, and as it is built. Whoever bundles this into one file may have neither. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./walk-worker.ts" : "./walk-worker.js", import.meta.url);
}
