import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { ExecEnd } from "./command.ts";
import { Output } from "./output.ts";
import { endProcess } from "./processes.ts";

export interface SpawnRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly limits: { readonly timeMs: number; readonly outputBytes: number; readonly shownBytes: number };
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly onOutput: (text: string, stream: "stdout" | "stderr") => void;
  readonly onStart?: (pid: number) => void;
  /** Asks everything that the command has started to end. Its own group is that of its first process. */
  readonly ask: (group: number) => Promise<void> | void;
  /** Ends whatever the command has left running, by force. Answers how many there were. */
  readonly endStrays: () => Promise<number>;
}

export interface Spawned {
  readonly end: ExecEnd;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly elapsed: number;
  readonly strays: number;
}

/** Starts where it is told to; what does not exist there is told by the shell. */
export const GO = 'cd -- "$1" || exit 126; shift; exec "$@"';
/** A pipe that nobody uses: whoever holds it comes from this command. */
export const TAG = 3;
/** Asked to end, a process has so long to do it. With what follows the whole tree is gone within two seconds. */
export const GRACE_MS = 500;
/** Output that is under way when the last process has ended arrives within this time, or belongs to nobody we know. */
const DRAIN_MS = 500;

/**
 * Runs a program to its end, in a group of its own. Whatever ends it, when this resolves nothing that it started is
 * running. How it ended is what the system says, and nothing is read into its output.
 */
export async function runToEnd(request: SpawnRequest): Promise<Spawned> {
  const { clock, limits, signal } = request;
  const started = clock.monotonic();
  const stdout = new Output(limits.shownBytes);
  const stderr = new Output(limits.shownBytes);
  const [program = "", ...args] = request.argv;
  const child = await spawned(program, args, request.env, "pipe");
  if (child.pid !== undefined) request.onStart?.(child.pid);
  const over = new AbortController();
  let cause: ExecEnd | undefined;
  let ending: Promise<number> | undefined;
  const gone = Promise.all([ended(child), released(child)]);
  const stop = (why: ExecEnd) => {
    if (cause !== undefined || over.signal.aborted) return;
    cause = why;
    ending = endTree(child, request, gone);
  };
  listen(child, "stdout", stdout, request, () => stdout.bytes + stderr.bytes, stop);
  listen(child, "stderr", stderr, request, () => stdout.bytes + stderr.bytes, stop);
  const onAbort = () => stop("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  clock.sleep(limits.timeMs, over.signal, "keep-alive").then(
    () => stop("timeout"),
    () => {}, // it was in time
  );
  feed(child, request.stdin);
  const { exitCode, died } = await ended(child);
  over.abort();
  signal.removeEventListener("abort", onAbort);
  // What is around the program, or the program itself, may have ended before those who still clean up.
  const strays = ((await ending) ?? 0) + (await request.endStrays());
  await drained(child, clock);
  const end = cause ?? (died === null ? "exited" : "signaled");
  return { end, exitCode, signal: died, stdout, stderr, elapsed: clock.monotonic() - started, strays };
}

/** Started in a group of its own, with the pipe that tells whose it is; or a typed refusal. */
export async function spawned(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: "pipe" | "ignore",
): Promise<ChildProcess> {
  try {
    const child = spawn(program, args, { env, cwd: "/", detached: true, stdio: [stdin, "pipe", "pipe", "pipe"] });
    await once(child, "spawn");
    return child;
  } catch (cause) {
    // Also thrown at once: for a line that is too long, for example.
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw new HoldfastError("EXEC_NOT_STARTED", { program, system: code }, { cause });
  }
}

function listen(
  child: ChildProcess,
  name: "stdout" | "stderr",
  output: Output,
  { limits, onOutput }: SpawnRequest,
  sum: () => number,
  stop: (why: ExecEnd) => void,
): void {
  const decoder = new TextDecoder();
  child[name]?.on("data", (piece: Buffer) => {
    const room = limits.outputBytes - sum();
    if (room > 0) output.add(piece.subarray(0, room));
    if (piece.length > room) stop("output-limit");
    try {
      onOutput(decoder.decode(piece, { stream: true }), name);
    } catch {
      // Whoever listens has failed, not the command.
    }
  });
  child[name]?.on("error", () => {}); // its end is told by the process
}

/** A program that does not read what it is given closes the pipe, and that is no failure. */
function feed(child: ChildProcess, stdin: string | Uint8Array | undefined): void {
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
}

/** Asks everything to end, and when it has had its time ends it by force. Answers how many that were. */
async function endTree(child: ChildProcess, request: SpawnRequest, gone: Promise<unknown>): Promise<number> {
  const { clock, ask, endStrays } = request;
  const pid = child.pid ?? 0;
  const late = new AbortController();
  const patience = clock.sleep(GRACE_MS, late.signal, "keep-alive").catch(() => {}); // cut short: it is gone
  await ask(pid);
  await Promise.race([gone, patience]);
  late.abort();
  endProcess(-pid, "SIGKILL");
  return endStrays().catch(() => 0); // tried again when the command itself has ended
}

/** Nobody holds the pipe any more that everything the command starts has inherited. */
function released(child: ChildProcess): Promise<void> {
  const tag = child.stdio[TAG] as Readable;
  tag.on("error", () => {}).resume();
  return new Promise((resolve) => tag.once("close", () => resolve()));
}

function ended(child: ChildProcess): Promise<{ readonly exitCode: number | null; readonly died: string | null }> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ exitCode: child.exitCode, died: child.signalCode });
    else child.once("exit", (exitCode, died) => resolve({ exitCode, died }));
  });
}

/** Hears what is still under way, and lets go of the pipes. */
export async function drained(child: ChildProcess, clock: Clock): Promise<void> {
  (child.stdio[TAG] as { destroy(): void } | null | undefined)?.destroy();
  const streams = [child.stdout, child.stderr];
  const closed = Promise.all(
    streams.map((stream) =>
      stream === null || stream.closed
        ? Promise.resolve()
        : new Promise<void>((done) => void stream.once("close", done)),
    ),
  );
  const late = new AbortController();
  // Cut short, it has nobody to wait for any more.
  await Promise.race([closed, clock.sleep(DRAIN_MS, late.signal, "keep-alive").catch(() => {})]);
  late.abort();
  for (const stream of streams) stream?.destroy();
}
