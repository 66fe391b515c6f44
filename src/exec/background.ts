import { type ChildProcess, spawn } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { argvOf, type ExecCommand, type ExecOptions } from "./command.ts";
import { Output } from "./output.ts";
import { endBelonging, endProcess, heldBy, MARK } from "./processes.ts";
import { GO, GRACE_MS, TAG } from "./spawn.ts";

/** For what runs on when its call has ended, a server for example. Nothing of what it does is undone. */
export interface BackgroundOptions extends Pick<ExecOptions, "cwd" | "env"> {
  readonly background: true;
  /** Bytes of each stream that are remembered, the newest. Default 32 KB. */
  readonly shownBytes?: number;
}

/** A command that runs on the files as they are, unprotected, until it is stopped or its session is closed. */
export interface BackgroundCommand {
  readonly pid: number;
  readonly protection: "none";
  /** What it put out last. */
  output(): { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has ended. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
  /** Ends it and everything it started. */
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

/** Commands of a session that run beside its calls. They end with the session. */
export class Backgrounds {
  readonly #running = new Set<BackgroundCommand>();

  async start(command: ExecCommand, ground: BackgroundGround, shown: number = SHOWN): Promise<BackgroundCommand> {
    const argv = ["-c", GO, "sh", ground.folder, ...argvOf(command)];
    const env = { ...ground.env, [MARK]: ground.mark };
    const child = spawn("/bin/sh", argv, { env, cwd: "/", detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(new HoldfastError("EXEC_NOT_STARTED", { program: "/bin/sh" }, { cause })));
    });
    const started = new Running(child, ground, shown);
    this.#running.add(started);
    void started.ended.then(() => this.#running.delete(started));
    return started;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.stop()));
  }
}

class Running implements BackgroundCommand {
  readonly pid: number;
  readonly protection = "none";
  readonly ended: BackgroundCommand["ended"];
  readonly #ground: BackgroundGround;
  readonly #holds: ReadonlySet<string>;
  readonly #outputs: { readonly stdout: Output; readonly stderr: Output };

  constructor(child: ChildProcess, ground: BackgroundGround, shown: number) {
    this.pid = child.pid ?? 0;
    this.#ground = ground;
    this.#holds = new Set(heldBy(this.pid, TAG));
    this.#outputs = { stdout: new Output(shown), stderr: new Output(shown) };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.on("data", (piece: Buffer) => this.#outputs[name].addLast(piece));
      child[name]?.on("error", () => {}); // its end is told by the process
    }
    this.ended = new Promise((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })));
    child.unref();
  }

  output(): { readonly stdout: string; readonly stderr: string } {
    const { stdout, stderr } = this.#outputs;
    return { stdout: stdout.text, stderr: stderr.text };
  }

  async stop(): Promise<void> {
    const { clock, mark } = this.#ground;
    endProcess(-this.pid, "SIGTERM");
    const late = new AbortController();
    await Promise.race([this.ended, clock.sleep(GRACE_MS, late.signal, "keep-alive").catch(() => {})]);
    late.abort();
    endProcess(-this.pid, "SIGKILL");
    await endBelonging({ mark, holds: this.#holds }, () => clock.sleep(5, undefined, "keep-alive"));
    await this.ended;
  }
}
