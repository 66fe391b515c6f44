import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { type Json, parseAsWritten, parseJson } from "../../base/json.ts";
import type {
  CodeAnswer,
  CodeFault,
  CodeHost,
  CodeQuestion,
  CodeResult,
  CodeSeen,
  HistoryUse,
} from "../../contracts/code-runner.ts";
import { NOT_LOOKED_AT } from "./history-use.ts";

/** Limits of one program. */
export interface CodeLimits {
  /** Memory of the engine in bytes, including what it needs itself; at least 16 MB. Default 64 MB. */
  readonly memoryBytes: number;
  /** The engine's stack in bytes. Default 512 KB. */
  readonly stackBytes: number;
  /** How long the program itself may run, in milliseconds; waiting for tools does not count. Default 5000. */
  readonly timeMs: number;
  /** Length of what the program returns, in characters. Default 1 MB. */
  readonly resultCharacters: number;
}

/** What the thread is given. */
export interface Task {
  readonly program: string;
  readonly setting: string;
  readonly limits: CodeLimits;
  readonly flag: SharedArrayBuffer;
  readonly port: unknown;
}

/** How it ended in there: with a text, or with a fault. */
export interface Ended {
  readonly text?: string;
  readonly fault?: CodeFault;
  readonly message?: string;
}

/** Beyond its time, for an engine that hangs where it cannot be interrupted. */
const GRACE_MS = 2_000;
const EVERY_MS = 250;

/** What the program itself tells; what its text says is known apart from it. */
type Seen = Omit<CodeSeen, "historyUse">;
type Result = CodeResult extends infer R ? (R extends unknown ? Omit<R, "historyUse"> : never) : never;
const NOTHING: Seen = { log: [], recordsRead: 0 };

/** What the thread says, and in which order: what the text of the program says, that it begins, questions, the end. */
type Message =
  | { readonly kind: "use"; readonly use: HistoryUse }
  | { readonly kind: "begun" }
  | { readonly kind: "question"; readonly question: string }
  | { readonly kind: "ended"; readonly ended: Ended };

/** One program in a thread of its own, which is gone when this resolves, whatever the program does. */
export async function runInThread(
  program: string,
  host: CodeHost,
  how: { readonly limits: CodeLimits; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<CodeResult> {
  const { limits, clock, signal } = how;
  if (signal.aborted)
    return { ...failed("aborted", "The call was canceled before the program began."), historyUse: NOT_LOOKED_AT };
  const { port1: ours, port2: theirs } = new MessageChannel();
  const { now, seed, records, tools, slices, input } = host;
  const flag = new SharedArrayBuffer(4);
  const setting = JSON.stringify({ now, seed, records, tools, slices, input });
  const task: Task = { program, setting, limits, flag, port: theirs };
  const worker = new Worker(new URL(FILE, import.meta.url), {
    workerData: task,
    transferList: [theirs],
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const over = Promise.withResolvers<Result>();
  let historyUse = NOT_LOOKED_AT;
  const stop = new AbortController();
  const answering: Answering = { since: clock.monotonic(), asked: false, crossed: 0 };
  // Cut off, it tells nothing any more: what had crossed to it is the most that it has read.
  const cutOff = (fault: CodeFault, message: string) =>
    over.resolve({ ...failed(fault, message), recordsRead: answering.crossed });
  const hear = (message: Message) => {
    if (message.kind === "use") historyUse = message.use;
    else if (message.kind === "begun") answering.since = clock.monotonic();
    else if (message.kind === "ended") over.resolve(resultOf(message.ended, limits));
    else void answer(host, message.question, ours, flag, answering, clock);
  };
  ours.on("message", hear);
  worker.on("error", (error) => cutOff("broken", error.message));
  worker.on("exit", () => {
    // Its last word may still be on the way when it is gone.
    for (let last = receiveMessageOnPort(ours); last !== undefined; last = receiveMessageOnPort(ours))
      hear(last.message as Message);
    cutOff("broken", "The engine ended without a result.");
  });
  signal.addEventListener("abort", () => cutOff("aborted", "The call was canceled."), {
    once: true,
    signal: stop.signal,
  });
  void watch(answering, limits, clock, stop.signal).then((late) => {
    if (late) cutOff("out-of-time", outOfTime(limits));
  });
  try {
    return { ...(await over.promise), historyUse };
  } finally {
    stop.abort();
    ours.close();
    await worker.terminate();
  }
}

interface Answering {
  /** Since when the program has been at work without asking. */
  since: number;
  asked: boolean;
  /** How many records it was given. */
  crossed: number;
}

async function answer(
  host: CodeHost,
  question: string,
  port: MessagePort,
  flag: SharedArrayBuffer,
  answering: Answering,
  clock: Clock,
): Promise<void> {
  answering.asked = true;
  let text: string;
  try {
    const parsed = parseAsWritten(question);
    const asked = parsed.ok ? (parsed.value as unknown as CodeQuestion) : undefined;
    const answered = asked === undefined ? NOT_JSON : await host.answer(asked);
    text = JSON.stringify(answered);
    if (asked?.kind === "records" && answered.ok && Array.isArray(answered.value))
      answering.crossed += answered.value.length;
  } catch (error) {
    text = JSON.stringify({ ok: false, message: error instanceof Error ? error.message : String(error) });
  }
  answering.asked = false;
  answering.since = clock.monotonic();
  port.postMessage(text);
  const shared = new Int32Array(flag);
  Atomics.store(shared, 0, 1);
  Atomics.notify(shared, 0);
}

const NOT_JSON: CodeAnswer = { ok: false, message: "not JSON" };

/** True when the engine works on and on, and does not even listen to its own limit. */
async function watch(
  answering: Answering,
  { timeMs }: CodeLimits,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await clock.sleep(EVERY_MS, signal, "keep-alive");
    } catch {
      return false;
    }
    if (!answering.asked && clock.monotonic() - answering.since > timeMs + GRACE_MS) return true;
  }
}

function resultOf({ text, fault, message = "" }: Ended, limits: CodeLimits): Result {
  const parsed = text === undefined ? undefined : parseJson(text, { depth: 96, characters: limits.resultCharacters });
  const told = parsed?.ok === true ? (parsed.value as unknown as Told) : undefined;
  const seen = told === undefined ? NOTHING : { log: told.log, recordsRead: told.read };
  if (fault !== undefined) return { ...seen, ok: false, fault, message: limitWords(limits)[fault] ?? message };
  if (told === undefined)
    return {
      ...seen,
      ok: false,
      fault: "too-large",
      message: parsed?.ok === false ? `The result is too large: ${parsed.error.detail}.` : "The program has no result.",
    };
  return { ...seen, ok: true, value: told.value };
}

/** The engine says only `interrupted`, of which a model makes nothing. */
function limitWords(limits: CodeLimits): Readonly<Partial<Record<CodeFault, string>>> {
  return {
    "out-of-time": outOfTime(limits),
    "out-of-memory": `The program needed more than ${limits.memoryBytes} bytes of memory.`,
    "too-deep": "The program's calls were nested too deeply.",
  };
}

function outOfTime({ timeMs }: CodeLimits): string {
  return `The program ran for longer than ${timeMs} ms and was stopped.`;
}

/** As the prelude puts it together. */
interface Told {
  readonly value: Json;
  readonly log: readonly string[];
  readonly read: number;
}

function failed(fault: CodeFault, message: string) {
  return { ...NOTHING, ok: false, fault, message } as const;
}

/** Beside this file: as it is written, and as it is built. */
const FILE = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./quickjs-worker.js";
