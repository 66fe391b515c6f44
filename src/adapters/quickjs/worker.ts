/** The other side of `quickjs()`: one program in one engine in one thread, which ends with it. */
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { SystemClock } from "../../base/clock.ts";
import { historyUseOf, mayReadHistory, NOT_LOOKED_AT } from "./history-use.ts";
import { PRELUDE } from "./prelude.ts";
import type { Ended, Task } from "./thread.ts";
import { loadParser, newEngine, type QuickJsContext, type QuickJsHandle } from "./vendor.ts";

const clock = new SystemClock();
const task = workerData as Task;
const port = task.port as MessagePort;
const flag = new Int32Array(task.flag);
let waited = 0;

/** Asks the other thread and stands still until it has answered: to the program it is a call like any other. */
function ask(question: string): string {
  const begun = clock.monotonic();
  port.postMessage({ kind: "question", question });
  Atomics.wait(flag, 0, 0);
  Atomics.store(flag, 0, 0);
  waited += clock.monotonic() - begun;
  return (receiveMessageOnPort(port) as { readonly message: string }).message;
}

async function run(): Promise<Ended> {
  const runtime = await newEngine(task.limits.memoryBytes);
  runtime.setMaxStackSize(task.limits.stackBytes);
  let begun: number | undefined;
  let late = false;
  runtime.setInterruptHandler(() => {
    late = begun !== undefined && clock.monotonic() - begun - waited > task.limits.timeMs;
    return late;
  });
  const engine = runtime.newContext();
  // What the engine itself needs, on a busy system much, is not the program's time.
  const begin = () => {
    begun = clock.monotonic();
    port.postMessage({ kind: "begun" });
  };
  try {
    return walk(engine, begin, () => late);
  } catch (error) {
    // The engine itself gave up, for example inside a call of ours: the program is over in any case.
    return { fault: "broken", message: error instanceof Error ? error.message : String(error) };
  }
}

function walk(engine: QuickJsContext, begin: () => void, isLate: () => boolean): Ended {
  const prelude = engine.evalCode(PRELUDE, "prelude.js");
  if (prelude.error !== undefined) return { fault: "broken", message: textOf(engine, prelude.error) };
  const way = engine.newFunction("ask", (question) =>
    engine.newString(ask(engine.getString(question as QuickJsHandle))),
  );
  const set = engine.callFunction(prelude.value, engine.undefined, way, engine.newString(task.setting));
  if (set.error !== undefined) return faultOf(engine, set.error, isLate());
  begin();
  // Compiled apart, so that what does not parse is told as that, and cannot reach around its own function.
  const made = engine.evalCode(`(function () { "use strict";\n${task.program}\n})`, "program.js");
  if (made.error !== undefined) return faultOf(engine, made.error, isLate());
  const ended = engine.callFunction(made.value, engine.undefined);
  if (ended.error !== undefined) return faultOf(engine, ended.error, isLate(), set.value);
  const told = engine.callFunction(set.value, engine.undefined, ended.value);
  if (told.error !== undefined) return faultOf(engine, told.error, isLate());
  return { text: engine.getString(told.value) };
}

function faultOf(engine: QuickJsContext, error: QuickJsHandle, late: boolean, seen?: QuickJsHandle): Ended {
  const message = textOf(engine, error);
  const told = seen === undefined ? undefined : engine.callFunction(seen, engine.undefined, engine.undefined);
  const text = told === undefined || told.error !== undefined ? {} : { text: engine.getString(told.value) };
  return { fault: late ? "out-of-time" : kindOf(message), message, ...text };
}

function kindOf(message: string): "out-of-memory" | "too-deep" | "syntax" | "threw" {
  if (/^InternalError: out of memory|^null$/.test(message)) return "out-of-memory";
  if (/stack overflow/.test(message)) return "too-deep";
  return message.startsWith("SyntaxError") ? "syntax" : "threw";
}

function textOf(engine: QuickJsContext, error: QuickJsHandle): string {
  const dumped = engine.dump(error);
  if (typeof dumped !== "object" || dumped === null) return String(dumped);
  const { name, message, stack } = dumped as Readonly<Record<"name" | "message" | "stack", unknown>>;
  if (typeof message !== "string") return JSON.stringify(dumped).slice(0, 2_000);
  return `${typeof name === "string" ? name : "Error"}: ${message.slice(0, 2_000)}${lineIn(stack)}`;
}

/** Where in the program: one line stands before it, and its end may be missed only behind it. */
function lineIn(stack: unknown): string {
  const line = /program\.js:(\d+)/.exec(String(stack))?.[1];
  return line === undefined ? "" : ` at line ${Math.min(Number(line) - 1, task.program.split("\n").length)}`;
}

// Before it runs: how it ends is told by somebody else when it does not end by itself.
const { program } = task;
const use = mayReadHistory(program) ? historyUseOf(program, await loadParser()) : { ...NOT_LOOKED_AT, by: "text" };
port.postMessage({ kind: "use", use });
port.postMessage({ kind: "ended", ended: await run() });
