/** One span of fuzz cases on a thread of its own: a fresh engine that has seen one format runs it twice as fast. */
import { parentPort, workerData } from "node:worker_threads";
import { fuzzSpan, type Span } from "./fuzz.ts";

interface Job extends Span {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Holds the number of the case that runs now. */
  readonly shared: SharedArrayBuffer;
}

const job = workerData as Job;
const now = new Int32Array(job.shared);
Error.stackTraceLimit = 0; // thousands of parses fail on purpose, and nobody reads where
const outcome = await fuzzSpan(job, {
  isOver: () => Date.now() > job.until,
  begins: (nth) => Atomics.store(now, 0, nth),
});
parentPort?.postMessage(outcome);
