import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Diverged } from "../files/host/apply.ts";
import type { StagedChange } from "../files/host/aside.ts";
import { hostError, inOurWords, readError } from "../files/host/failures.ts";
import { WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { type HostPart, isHostPart } from "../files/host/session.ts";
import { View } from "../files/host/view.ts";
import type { Uncovered } from "../files/host/walk.ts";
import type { Workspace } from "../files/host/workspace.ts";
import { namesIn } from "../files/path.ts";
import type { Branch } from "../state/branch.ts";
import {
  type BackgroundCommand,
  type BackgroundOptions,
  type Backgrounds,
  checkBackgroundOptions,
} from "./background.ts";
import type { Drivers } from "./choose.ts";
import { CommandFiles } from "./command-files.ts";
import {
  argvOf,
  checkExecOptions,
  type ExecCommand,
  type ExecLimits,
  type ExecOptions,
  type ExecOutput,
  type ExecResult,
  limitsOf,
} from "./command.ts";
import type { DriverDeps, Enclosure } from "./driver.ts";
import { keepNote } from "./evidence.ts";
import { here } from "./here.ts";
import type { Output } from "./output.ts";
import { MARK } from "./processes.ts";
import { programAt } from "./programs.ts";
import { GO, runToEnd } from "./spawn.ts";

/** What the commands of a session share. */
export interface ExecHost {
  readonly workspace: Workspace;
  readonly drivers: Drivers;
  readonly cover: DriverDeps["cover"];
  readonly limits: Partial<ExecLimits>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes secrets out of what is kept of the output. */
  readonly redact: (text: string) => string;
  /** Hears of what somebody else changed since the last boundary. */
  readonly tell: (diverged: readonly Diverged[], callId: string) => Promise<void>;
  /** Hears which folder the commands of a call run in, and when they are settled. */
  readonly began: (callId: string, exec: string) => void;
  readonly ended: (callId: string) => void;
  /** Commands that run beside the calls. */
  readonly backgrounds: Backgrounds;
}

/** Starts a command that runs on, unprotected, when its call has ended. */
export async function startBackground(
  host: ExecHost,
  { branch, clock }: Pick<CommandsCall, "branch" | "clock">,
  command: ExecCommand,
  options: BackgroundOptions,
): Promise<BackgroundCommand> {
  checkBackgroundOptions(options);
  const { cwd, env, shownBytes } = options;
  const part = partOnDisk(branch);
  const { workspace, backgrounds } = host;
  // What the call itself has made is not on the disk yet, where the command runs.
  const onDisk = branch.base.get(WORKSPACE_PART) as WorkspaceValue;
  const folder = `${workspace.path}/${await folderOf(new View(part.host, onDisk), cwd)}`;
  const ground = { folder, clock, env: environment(here.env, host.env, env), mark: workspace.freshExec() };
  return backgrounds.start(command, ground, shownBytes);
}

/** The call that runs them. */
export interface CommandsCall {
  readonly id: string;
  readonly branch: Branch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

const PATHS_TOLD = 50;

/**
 * The commands of one call. They run one after the other in one enclosure; what they changed is staged on the call's
 * branch like any other change of its files, so the call's commit is theirs, and so is its end.
 */
export class CallCommands {
  readonly #host: ExecHost;
  readonly #call: CommandsCall;
  readonly #files: CommandFiles;
  #enclosure: Enclosure | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** How many have been started. */
  runs = 0;
  /** Why the call can no longer be kept. */
  doomed: Error | undefined;

  constructor(host: ExecHost, call: CommandsCall) {
    this.#host = host;
    this.#call = call;
    this.#files = new CommandFiles(host.workspace, call.branch);
  }

  /** One after the other: two at once would be told apart by nobody. */
  run(command: ExecCommand, options: ExecOptions = {}): Promise<ExecResult> {
    const turn = this.#last.then(() => this.#run(command, options));
    this.#last = turn.catch(() => {}); // told to whoever asked for it
    return turn;
  }

  /** When the call has ended. Nothing of theirs is running afterwards; without `kept` nothing of theirs is left. */
  async end(kept: boolean): Promise<void> {
    await this.#last;
    const enclosure = this.#enclosure;
    if (enclosure === undefined) return;
    try {
      await (kept ? enclosure.leave() : enclosure.drop());
      this.#enclosure = undefined;
    } finally {
      this.#host.ended(this.#call.id);
    }
  }

  doom<E extends Error>(error: E): E {
    this.doomed ??= error;
    return error;
  }

  async #run(command: ExecCommand, options: ExecOptions): Promise<ExecResult> {
    const { call, part } = this.#ready();
    checkExecOptions(options);
    const argv = argvOf(command);
    const limits = limitsOf(this.#host.limits, options.limits);
    const cwd = await folderOf(new View(part.host, call.branch.peek(part)), options.cwd);
    const enclosure = await this.#enclosed();
    if (options.uncovered !== "report") this.#refuseUncovered(enclosure.uncovered);
    await this.#orDoomed(() => enclosure.changing?.());
    await this.#orDoomed(() => this.#files.lay(enclosure, part));
    this.runs += 1;
    const bounds = boundsOf(limits, part.host.disk.root.port.platform);
    const spawned = await runToEnd({
      argv: enclosure.argv(["/bin/sh", "-c", GO, "sh", `${this.#host.workspace.path}/${cwd}`, ...bounds.argv, ...argv]),
      env: environment(here.env, this.#host.env, options.env, { [MARK]: enclosure.id }),
      ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
      limits,
      signal: call.signal,
      clock: call.clock,
      onOutput: (text, stream) => {
        call.progress(text);
        options.onOutput?.(text, stream);
      },
      onStart: (pid) => enclosure.started?.(pid),
      ask: (group) => enclosure.ask(group),
      endStrays: () => enclosure.endStrays(),
    }).catch((error: unknown) => this.#notRun(enclosure, part, error));
    const ran = { callId: call.id, command, spawned, driver: enclosure.driver };
    const note = (uncovered: readonly Uncovered[]) => keepNote(call.branch, { ...ran, uncovered }, this.#host.redact);
    const found = await this.#orDoomed(() => enclosure.difference()).catch((error: unknown) => {
      note(enclosure.uncovered); // what it put out is kept, however the call ends
      throw error;
    });
    const uncovered = [...enclosure.uncovered, ...found.uncovered];
    const kept = note(uncovered);
    call.signal.throwIfAborted();
    if (options.uncovered !== "report") this.#refuseUncovered(uncovered);
    this.#refuseConflicts(found.conflicts);
    this.#files.stage(part, found);
    const { stdout, stderr, ...ended } = spawned;
    const { why = "" } = this.#host.drivers.chosen ?? {};
    return {
      ...ended,
      stdout: told(stdout, kept.stdout),
      stderr: told(stderr, kept.stderr),
      changed: changesIn(found.changes),
      protection: { driver: enclosure.driver, why, uncovered, unbounded: bounds.unbounded },
    };
  }

  /** What was laid out for it is in the tree now, and would be taken for somebody else's work at the commit. */
  async #notRun(enclosure: Enclosure, part: HostPart, error: unknown): Promise<never> {
    if (HoldfastError.is(error, "EXEC_NOT_STARTED"))
      this.#files.stage(part, await this.#orDoomed(() => enclosure.difference()));
    throw error;
  }

  /** Of what is not known nothing can be kept; in place it would stay, without a record, if the tool went on. */
  async #orDoomed<T>(look: () => T | Promise<T>): Promise<T> {
    try {
      return await look();
    } catch (error) {
      const told = hostError(error, "");
      throw told instanceof Error ? this.doom(told) : told;
    }
  }

  #ready(): { readonly call: CommandsCall; readonly part: HostPart } {
    const call = this.#call;
    if (this.doomed !== undefined) throw this.doomed;
    call.signal.throwIfAborted();
    return { call, part: partOnDisk(call.branch) };
  }

  /** Where they run, from the first one on. Whatever was decided before is in place then. */
  async #enclosed(): Promise<Enclosure> {
    if (this.#enclosure !== undefined) return this.#enclosure;
    const { workspace, drivers, cover, began } = this.#host;
    await this.#host.tell(await workspace.settle(), this.#call.id);
    const id = workspace.freshExec();
    this.#enclosure = await drivers.open({ workspace, cover, clock: this.#call.clock }, id);
    began(this.#call.id, id);
    return this.#enclosure;
  }

  #refuseUncovered(uncovered: readonly Uncovered[]): void {
    if (uncovered.length === 0) return;
    const first = uncovered.slice(0, 20).map(({ path, why }) => `${path} (${why})`);
    throw this.doom(new HoldfastError("EXEC_NOT_COVERED", { uncovered: first, all: uncovered.length }));
  }

  #refuseConflicts([path]: readonly string[]): void {
    if (path === undefined) return;
    throw this.doom(
      new HoldfastError("FILE_CONFLICT", { path, found: "changed by somebody else while the command ran" }),
    );
  }
}

/** The files of a session whose files are those of the folder: in any other, a command would work on somebody else's. */
function partOnDisk(branch: Branch): HostPart {
  const part = branch.part(WORKSPACE_PART);
  if (!isHostPart(part) || part.host.mode !== "host") throw new HoldfastError("EXEC_UNAVAILABLE");
  return part;
}

/**
 * Where a command is to run. Told by the shell, a folder that is not there would come with a code that may be the command's
 * own; and through a link a command would begin outside the workspace, where nothing of it is undone.
 */
function folderOf(view: View, cwd = ""): Promise<string> {
  const names = namesIn(cwd);
  const look = async () => {
    const { node } = view.locate(names, true);
    if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path: cwd });
    if (node.kind !== "folder") throw new HoldfastError("FILE_NOT_FOLDER", { path: cwd });
    return names.join("/");
  };
  return inOurWords(cwd, look, readError);
}

function told(output: Output, whole: ExecOutput["whole"]): ExecOutput {
  const { text, bytes, truncated } = output;
  return { text: text.toWellFormed(), bytes, truncated, ...(whole === undefined ? {} : { whole }) };
}

function changesIn(changes: readonly StagedChange[]): ExecResult["changed"] {
  const created = changes.filter(({ from }) => from.kind === "absent").length;
  const removed = changes.filter(({ to }) => to.kind === "absent").length;
  const paths = changes.slice(0, PATHS_TOLD).map(({ path }) => path);
  return { created, removed, modified: changes.length - created - removed, paths };
}

/** Bounds of the system around the program, as far as this one has them. */
function boundsOf({ memoryBytes, processes }: ExecLimits, platform: string) {
  const asked = [
    ...(memoryBytes === undefined ? [] : [["memoryBytes", `--as=${Math.floor(memoryBytes)}`] as const]),
    ...(processes === undefined ? [] : [["processes", `--nproc=${Math.floor(processes)}`] as const]),
  ];
  if (asked.length === 0) return { argv: [], unbounded: [] };
  if (platform !== "linux") return { argv: [], unbounded: asked.map(([name]) => name) };
  return { argv: [programAt("prlimit"), ...asked.map(([, flag]) => flag), "--"], unbounded: [] };
}

function environment(
  ...all: readonly (Readonly<Record<string, string | undefined>> | undefined)[]
): Readonly<Record<string, string>> {
  const merged: Record<string, string> = {};
  for (const one of all)
    for (const [name, value] of Object.entries(one ?? {})) {
      if (value === undefined) delete merged[name];
      else merged[name] = value;
    }
  return merged;
}
