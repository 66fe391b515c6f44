import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { checkOptions, whole } from "../base/options.ts";
import { argvOf, type ExecCommand, type ExecOptions, PLACE_OPTIONS } from "./command.ts";
import { Output } from "./output.ts";
import { askBelonging, type Belonging, endBelonging, endProcess, heldBy, isRunning, MARK } from "./processes.ts";
import { drained, GO, GRACE_MS, spawned, TAG } from "./spawn.ts";

/**
 * Options for a command that keeps running after its call has ended, such as a server. Nothing that it does is undone.
 */
export interface BackgroundOptions extends Pick<ExecOptions, "cwd" | "env"> {
  readonly background: true;
  /** How many of the newest bytes of each stream are kept. Default 32 KB. */
  readonly shownBytes?: number;
}

/** A command that works directly on the files, without protection, until it is stopped or its session is closed. */
export interface BackgroundCommand {
  readonly pid: number;
  readonly protection: "none";
  /** Its newest output. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves when the command has ended. Reading this property keeps the Node process alive until then. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
  /** Ends the command and everything it started. */
  stop(): Promise<void>;
}

export interface BackgroundGround {
  /** The folder it runs in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly mark: string;
}

const SHOWN = 32 * 1024;

/** A bound that is no number would be none, for as long as the command runs. */
export function checkBackgroundOptions(given: BackgroundOptions): void {
  const background = {
    wants: "true, or nothing for a command that its call waits for",
    fits: (is: unknown) => is === true,
  };
  checkOptions(given, { ...PLACE_OPTIONS, background, shownBytes: whole(1) });
}

/** Commands of a session that run beside its calls. They end with the session. */
export class Backgrounds {
  readonly #running = new Set<Running>();

  async start(command: ExecCommand, ground: BackgroundGround, shown: number = SHOWN): Promise<BackgroundCommand> {
    const argv = ["-c", GO, "sh", ground.folder, ...argvOf(command)];
    const env = { ...ground.env, [MARK]: ground.mark };
    const child = await spawned("/bin/sh", argv, env, "ignore");
    const started = new Running(child, ground, shown);
    this.#running.add(started);
    // Its first process may have ended long before what that left running.
    void started.gone.then(() => {
      if (!started.isRunning) this.#running.delete(started);
    });
    return started;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.stop()));
  }
}

class Running implements BackgroundCommand {
  readonly pid: number;
  readonly protection = "none";
  /** Its first process has ended, and nobody holds the pipe any more that everything it started has inherited. */
  readonly gone: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #ended: BackgroundCommand["ended"];
  readonly #ground: BackgroundGround;
  readonly #belonging: Belonging;
  readonly #outputs: { readonly stdout: Output; readonly stderr: Output };
  #isGone = false;

  constructor(child: ChildProcess, ground: BackgroundGround, shown: number) {
    this.pid = child.pid ?? 0;
    this.#child = child;
    this.#ground = ground;
    this.#belonging = { mark: ground.mark, holds: new Set(heldBy(this.pid, TAG)) };
    this.#outputs = { stdout: new Output(shown), stderr: new Output(shown) };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.on("data", (piece: Buffer) => this.#outputs[name].addLast(piece));
      child[name]?.on("error", () => {}); // its end is told by the process
    }
    this.#ended = new Promise((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })));
    const tag = child.stdio[TAG] as Socket;
    const letGo = new Promise((resolve) => tag.once("close", resolve));
    tag.on("error", () => {});
    tag.resume().unref();
    this.gone = Promise.all([this.#ended, letGo]).then(() => (this.#isGone = true));
    child.unref();
  }

  get ended(): BackgroundCommand["ended"] {
    this.#child.ref(); // nothing else may keep the process alive that waits for it
    return this.#ended;
  }

  /** Something that it started is running, also when it has let go of everything that it inherited but its environment. */
  get isRunning(): boolean {
    return !this.#isGone || isRunning(this.#belonging);
  }

  output(): { readonly stdout: string; readonly stderr: string } {
    const { stdout, stderr } = this.#outputs;
    return { stdout: stdout.text, stderr: stderr.text };
  }

  async stop(): Promise<void> {
    const { clock } = this.#ground;
    askBelonging(this.#belonging, this.#isGone ? undefined : this.pid); // the number of a group that is gone may be another's
    const late = new AbortController();
    // Cut short, it has nobody to wait for any more.
    await Promise.race([this.gone, clock.sleep(GRACE_MS, late.signal, "keep-alive").catch(() => {})]);
    late.abort();
    if (!this.#isGone) endProcess(-this.pid, "SIGKILL");
    await endBelonging(this.#belonging, () => clock.sleep(5, undefined, "keep-alive"));
    await this.ended;
    await drained(this.#child, clock);
  }
}
