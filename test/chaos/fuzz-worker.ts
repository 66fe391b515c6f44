/** One span of fuzz cases on a thread of its own: a fresh engine that has seen one format runs it twice as fast. */
import { parentPort, workerData } from "node:worker_threads";
import { fuzzSpan, type Span } from "./fuzz.ts";

interface Job extends Span {
  /** Milliseconds, from when the thread has begun: a busy machine takes a while to start one. */
  readonly share: number;
  /** Holds the number of the case that runs now. */
  readonly shared: SharedArrayBuffer;
}

const job = workerData as Job;
const now = new Int32Array(job.shared);
Error.stackTraceLimit = 0; // thousands of parses fail on purpose, and nobody reads where
const started = performance.now();
const outcome = await fuzzSpan(job, {
  isOver: () => performance.now() - started > job.share,
  begins: (nth) => Atomics.store(now, 0, nth),
});
parentPort?.postMessage(outcome);
