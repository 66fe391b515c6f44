/** `holdfast/adapters/quickjs`: runs programs that a model wrote, in QuickJS in WebAssembly in a thread of its own. */
import { type ClockDep, SystemClock } from "../../base/clock.ts";
import { checkOptions, OBJECT, overDefaults, whole } from "../../base/options.ts";
import type { CodeRunner } from "../../contracts/code-runner.ts";
import { type CodeLimits, runInThread } from "./thread.ts";
import { requireEngine } from "./vendor.ts";

export type { CodeLimits };
export type { CodeRunner };

const DEFAULTS: CodeLimits = {
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 512 * 1024,
  timeMs: 5_000,
  resultCharacters: 1024 * 1024,
};

/** Options of `quickjs`. */
export interface QuickJsOptions extends Partial<ClockDep> {
  readonly limits?: Partial<CodeLimits>;
}

/** The engine begins with this much. */
const LEAST_MEMORY = 16 * 1024 * 1024;

/**
 * Runs programs in QuickJS: without network, files, timers or objects of the host. A program reaches only what its host
 * answers.
 */
export function quickjs({ clock = new SystemClock(), limits = {} }: QuickJsOptions = {}): CodeRunner {
  checkOptions({ limits }, { limits: OBJECT });
  checkOptions(limits, {
    memoryBytes: whole(LEAST_MEMORY, 1024 ** 3),
    stackBytes: whole(64 * 1024, 16 * 1024 * 1024),
    timeMs: whole(1, 600_000),
    resultCharacters: whole(2, 32 * 1024 * 1024),
  });
  requireEngine();
  return {
    name: "quickjs",
    run: (program, host, signal) =>
      runInThread(program, host, { limits: overDefaults(DEFAULTS, limits), clock, signal }),
  };
}
