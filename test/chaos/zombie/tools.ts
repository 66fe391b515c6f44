import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Call, Session, Tool } from "../../../src/index.ts";
import { defineSlice, defineTool, HoldfastError, reducers } from "../../../src/index.ts";

export const steps = defineSlice("steps", {
  initial: [] as readonly string[],
  on: { added: reducers.append<string> },
});

/** What every other call does. */
export const good = defineTool<{ readonly step: string }>({
  name: "good",
  access: "write",
  async run({ step }, call) {
    call.dispatch(steps.added(step));
    await call.files.writeText(`${step}.txt`, step);
    return step;
  },
});

/** What a misbehaving tool works with, beside its handle. */
interface Mischief {
  readonly delay: number;
  readonly folder: string;
  /** Tries to change the session after its end, by the handle; counts what was tried and what was refused. */
  readonly attempt: (call: Call) => void;
  /** Leaves a process behind; the rig ends it. */
  readonly leave: (pid: number | undefined) => void;
}

export interface Misbehaviour {
  /** How its call ends, or that the process does not survive it. */
  readonly ends: "canceled" | "success" | "failed" | "process-gone";
  /** Whether it goes on after its end, and is refused. */
  readonly late?: true;
  readonly run: (call: Call, mischief: Mischief) => unknown;
  /** Runs it otherwise than alone. */
  readonly drive?: (session: Session, bad: Tool, stop: AbortController) => Promise<void>;
}

const never = () => new Promise<never>(() => {});
const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
let keptHandle: Call | undefined;

/** The fourteen. Each changes the session first, so that there is something to take back. */
export const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  "ignores-abort": {
    ends: "canceled",
    late: true,
    run: async (call, { delay, attempt }) => {
      await after(delay * 3);
      attempt(call);
      return "as if nothing had happened";
    },
  },
  "writes-late": {
    ends: "failed",
    late: true,
    run: (call, { delay, attempt }) => {
      for (const ms of [1, 5, 20, delay * 2]) void after(ms).then(() => attempt(call));
      return call.fail("early", "it failed, and goes on");
    },
  },
  "resolves-twice": {
    ends: "success",
    run: () => ({
      // oxlint-disable-next-line no-thenable -- what it is here to be
      then: (resolve: (value: string) => void) => {
        resolve("once");
        resolve("twice");
      },
    }),
  },
  "throws-after-success": {
    ends: "success",
    run: () =>
      new Promise((resolve) => {
        resolve("fine");
        throw new Error("not fine");
      }),
  },
  "never-settles": { ends: "canceled", run: never },
  spins: {
    ends: "process-gone",
    run: () => {
      for (;;);
    },
  },
  grandchild: {
    ends: "canceled",
    run: (_, { folder, leave }) => {
      leave(spawn("sh", ["-c", `(sleep 0.3; echo late > ${join(folder, "grandchild")}) & sleep 5`]).pid);
      return never();
    },
  },
  "child-of-its-own-session": {
    ends: "canceled",
    run: (_, { folder, leave }) => {
      const script = `sleep 0.3; echo late > ${join(folder, "own-session")}`;
      const child = spawn("sh", ["-c", script], { detached: true, stdio: "ignore" });
      child.unref();
      leave(child.pid);
      return never();
    },
  },
  "raw-files": {
    ends: "failed",
    run: (call, { folder }) => {
      writeFileSync(join(folder, "bad.txt"), "behind everybody's back");
      writeFileSync(join(folder, "raw"), "behind everybody's back");
      return call.fail("raw", "it wrote past its handle");
    },
  },
  "unhandled-rejection": {
    ends: "process-gone",
    run: () => {
      void Promise.reject(new Error("nobody waits for this"));
      return never();
    },
  },
  "keeps-its-handle": {
    ends: "success",
    late: true,
    run: (call, { attempt }) => {
      if (keptHandle !== undefined) attempt(keptHandle);
      keptHandle = call;
      return "kept";
    },
    drive: async (session, bad, stop) => {
      for (const input of [1, 2]) await session.runTool({ name: bad.name, input }, { signal: stop.signal });
    },
  },
  "writes-where-another-does": {
    ends: "canceled",
    run: async (call) => {
      await call.files.writeText("during.txt", "not its own");
      return never();
    },
    drive: async (session, bad, stop) => {
      const running = session.runTool({ name: bad.name, input: null }, { signal: stop.signal });
      await session.runTool({ name: "good", input: { step: "during" } });
      await running;
    },
  },
  exits: { ends: "process-gone", run: () => process.exit(0) },
  "rewrites-the-clock": {
    ends: "failed",
    run: (call) => {
      Date.now = () => 0; // and with it every lease: the epoch guards what time does not
      performance.now = () => Number.NaN;
      return call.fail("clock", "it is 1970");
    },
  },
};

/** By the handle, in every way there is. */
export function attemptAll(call: Call, count: (refused: boolean) => void): void {
  const ways: readonly (() => unknown)[] = [
    () => call.dispatch(steps.added("late")),
    () => call.get(steps),
    () => call.savepoint(),
    () => call.files.writeText("late.txt", "late"),
    () => call.files.delete("before.txt"),
    () => call.run({ name: "good", input: { step: "late" } }),
    () => call.effect("none", null, { key: "late" }),
  ];
  for (const way of ways) {
    const refused = (error: unknown) => count(HoldfastError.is(error, "CALL_CLOSED"));
    try {
      const going = way();
      if (going instanceof Promise) going.then(() => count(false), refused);
      else count(false);
    } catch (error) {
      refused(error);
    }
  }
}
