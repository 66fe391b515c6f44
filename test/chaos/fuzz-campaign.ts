/** Fuzzes all formats on several threads until each has had its cases, or time is up. */
import { Worker } from "node:worker_threads";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";
import type { SpanOutcome } from "./fuzz.ts";
import { type FuzzProgress, readProgress, writeProgress } from "./fuzz-progress.ts";

export interface Campaign {
  readonly seed: string;
  /** For each format. */
  readonly cases: number;
  readonly seconds?: number;
  readonly formats?: readonly FormatId[];
  readonly workers: number;
  /** Where progress is kept, so that a later run goes on. */
  readonly state?: string;
  readonly say?: (progress: FuzzProgress) => void;
}

/** Cases that one thread runs before it is replaced by a fresh one. */
const SPAN = 20_000;
/** What a thread gets at least, when time is short. */
const SHARE_MS = 300;
/** A case is over in a millisecond; one that takes this long will not end. */
const HANGS_MS = 60_000;
/** Looked at in steps: a process that was stopped for an hour has not been hanging for one. */
const STEPS = 6;
const ENOUGH_VIOLATIONS = 100;

export async function campaign(options: Campaign): Promise<FuzzProgress> {
  const { cases, seconds = Infinity, formats = FORMAT_IDS, workers, state, say } = options;
  let progress = readProgress(state, options.seed);
  const until = Date.now() + seconds * 1000;
  const busy = new Set<FormatId>();
  const share = Math.max(SHARE_MS, (seconds * 1000 * workers) / formats.length); // so that every format has its turn
  const doneOf = (format: FormatId) => progress.done[format] ?? 0;
  const next = () =>
    formats
      .filter((format) => !busy.has(format) && doneOf(format) < cases)
      .toSorted((one, other) => doneOf(one) - doneOf(other))[0];

  const lane = async (): Promise<void> => {
    for (let format = next(); format !== undefined; format = next()) {
      if ((Date.now() > until && doneOf(format) > 0) || progress.violations.length >= ENOUGH_VIOLATIONS) return;
      busy.add(format);
      const from = doneOf(format);
      const { next: reached, violations } = await span({
        seed: progress.seed,
        format,
        from,
        to: Math.min(cases, from + SPAN),
        share: Math.max(SHARE_MS, Math.min(share, until - Date.now())),
      });
      busy.delete(format);
      progress = {
        ...progress,
        done: { ...progress.done, [format]: reached },
        violations: [...progress.violations, ...violations],
      };
      writeProgress(state, progress);
      say?.(progress);
    }
  };
  await Promise.all(Array.from({ length: workers }, lane));
  return progress;
}

interface Job {
  readonly seed: string;
  readonly format: FormatId;
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/** One thread for one span. A thread that stands still, or dies, is a violation that names its case. */
function span(job: Job): Promise<SpanOutcome> {
  const shared = new SharedArrayBuffer(4);
  const now = new Int32Array(shared);
  Atomics.store(now, 0, job.from);
  const worker = new Worker(new URL("./fuzz-worker.ts", import.meta.url), {
    workerData: { ...job, shared }, // a bound of Infinity passes as it is
  });
  return new Promise((resolve) => {
    const blame = (what: string): SpanOutcome => {
      const nth = Atomics.load(now, 0);
      return { next: nth + 1, violations: [`${job.seed}/${job.format}/${nth}: ${what}`] };
    };
    let before = -1;
    let still = 0;
    const watch = setInterval(() => {
      const nth = Atomics.load(now, 0);
      still = nth === before ? still + 1 : 0;
      before = nth;
      if (still >= STEPS) finish(blame(`did not end within ${HANGS_MS} ms`));
    }, HANGS_MS / STEPS);
    const finish = (outcome: SpanOutcome): void => {
      clearInterval(watch);
      void worker.terminate();
      resolve(outcome);
    };
    worker.once("message", (outcome: SpanOutcome) => finish(outcome));
    worker.once("error", (error) => finish(blame(`killed its thread: ${String(error)}`)));
    worker.once("exit", (code) => finish(blame(`ended its thread with ${code}`)));
  });
}
