import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Diverged } from "../files/host/apply.ts";
import type { StagedChange, StagedDifference } from "../files/host/aside.ts";
import { ABSENT, type HostEntry, sameEntry } from "../files/host/entry.ts";
import { hostError, inOurWords, readError } from "../files/host/failures.ts";
import { layInto } from "../files/host/lay.ts";
import { stage, type Touched, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { isHostPart, type HostPart } from "../files/host/session.ts";
import { View } from "../files/host/view.ts";
import type { Uncovered } from "../files/host/walk.ts";
import { namesIn } from "../files/path.ts";
import { differences, lookUp } from "../files/sorted-map.ts";
import type { Workspace } from "../files/host/workspace.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { Branch } from "../state/branch.ts";
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
import {
  type BackgroundCommand,
  type BackgroundOptions,
  type Backgrounds,
  checkBackgroundOptions,
} from "./background.ts";
import type { Drivers } from "./choose.ts";
import type { DriverDeps, Enclosure } from "./driver.ts";
import { here } from "./here.ts";
import { type ExecNote, execPart, withEvidence } from "./evidence.ts";
import type { Output } from "./output.ts";
import { MARK } from "./processes.ts";
import { programAt } from "./programs.ts";
import { GO, runToEnd, type Spawned } from "./spawn.ts";

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

/** A path that the call has changed. */
interface StagedPath {
  readonly path: string;
  readonly touched: Touched;
  readonly staged: NonNullable<Touched["staged"]>;
}

const PATHS_TOLD = 50;
const COMMAND_KEPT = 400;

/**
 * The commands of one call. They run one after the other in one enclosure; what they changed is staged on the call's
 * branch like any other change of its files, so the call's commit is theirs, and so is its end.
 */
export class CallCommands {
  readonly #host: ExecHost;
  readonly #call: CommandsCall;
  #enclosure: Enclosure | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** What the newest command left otherwise than it was before the first. */
  #left: ReadonlyMap<string, HostEntry> = new Map();
  /** How many have been started. */
  runs = 0;
  /** Why the call can no longer be kept. */
  doomed: Error | undefined;

  constructor(host: ExecHost, call: CommandsCall) {
    this.#host = host;
    this.#call = call;
  }

  /** One after the other: two at once would be told apart by nobody. */
  run(command: ExecCommand, options: ExecOptions = {}): Promise<ExecResult> {
    const turn = this.#last.then(() => this.#run(command, options));
    this.#last = turn.catch(() => {});
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
    await this.#lay(enclosure, part);
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
    const found = await this.#orDoomed(() => enclosure.difference()).catch((error: unknown) => {
      this.#note(command, spawned, enclosure, enclosure.uncovered); // what it put out is kept, however the call ends
      throw error;
    });
    const uncovered = [...enclosure.uncovered, ...found.uncovered];
    const note = this.#note(command, spawned, enclosure, uncovered);
    call.signal.throwIfAborted();
    if (options.uncovered !== "report") this.#refuseUncovered(uncovered);
    this.#refuseConflicts(found.conflicts);
    this.#stage(part, found);
    const { stdout, stderr, ...ended } = spawned;
    const { why = "" } = this.#host.drivers.chosen ?? {};
    return {
      ...ended,
      stdout: told(stdout, note.stdout),
      stderr: told(stderr, note.stderr),
      changed: changesIn(found.changes),
      protection: { driver: enclosure.driver, why, uncovered, unbounded: bounds.unbounded },
    };
  }

  /** What was laid out for it is in the tree now, and would be taken for somebody else's work at the commit. */
  async #notRun(enclosure: Enclosure, part: HostPart, error: unknown): Promise<never> {
    if (HoldfastError.is(error, "EXEC_NOT_STARTED"))
      this.#stage(part, await this.#orDoomed(() => enclosure.difference()));
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

  /** What the call has written before is there for its command to find. */
  async #lay(enclosure: Enclosure, part: HostPart): Promise<void> {
    const { branch } = this.#call;
    const now = branch.peek(part);
    const view = new View(part.host, now);
    const fresh = this.#staged(now).filter((one) => !isLeft(one, enclosure.id));
    if (fresh.length === 0) return;
    const { workspace } = this.#host;
    const isInPlace = enclosure.inside === workspace.path;
    const expected = new Map(fresh.map(({ path, staged }) => [path, this.#left.get(path) ?? staged.from]));
    if (isInPlace) await this.#orDoomed(() => refuseTheirs(part, expected));
    const laid = fresh.map(({ path, touched, staged: { content } }) => ({
      path,
      to: touched.now,
      content: () => view.content(touched, path),
      moves: touched.now.kind === "file" && (content === undefined || "at" in content),
    }));
    const ground = { workspace: workspace.execs.ground, exec: enclosure.id, inside: enclosure.inside };
    const checked = isInPlace ? { expected: (path: string) => expected.get(path) ?? ABSENT } : {};
    await this.#orDoomed(() => layInto({ ...ground, ...checked }, laid));
  }

  /** What they did is the call's own change from here on; what an earlier one did and this one undid is none. */
  #stage(part: HostPart, { changes }: StagedDifference): void {
    const { branch } = this.#call;
    const now = branch.peek(part);
    this.#left = new Map(changes.map(({ path, to }) => [path, to]));
    const changed = new Set(changes.map(({ path }) => path));
    const undone = this.#staged(now).flatMap(({ path, staged: { from } }) =>
      changed.has(path) ? [] : [{ path, from, to: from, content: { at: path } }],
    );
    const all: readonly StagedChange[] = [...undone, ...changes];
    if (all.length === 0) return;
    const befores = new Map(all.map(({ path }) => [path, lookUp(now.paths, path)]));
    branch.change(part, (value: WorkspaceValue) =>
      all.reduce(
        (next, { path, from, to, content }) => stage(next, path, to, { before: befores.get(path), from }, content),
        value,
      ),
    );
  }

  #staged(now: WorkspaceValue): readonly StagedPath[] {
    const base = this.#call.branch.base.get(WORKSPACE_PART) as WorkspaceValue;
    return [...differences(base.paths, now.paths)].flatMap(({ key: path, after: touched }) =>
      touched?.staged === undefined ? [] : [{ path, touched, staged: touched.staged }],
    );
  }

  #note(command: ExecCommand, spawned: Spawned, enclosure: Enclosure, uncovered: readonly Uncovered[]): ExecNote {
    const { branch, id } = this.#call;
    const { end, exitCode, signal } = spawned;
    const { redact } = this.#host; // now: a note that is made anew later would have lost the content it names
    const wholes = [this.#kept(spawned.stdout), this.#kept(spawned.stderr)];
    const outputs = wholes.filter((whole) => whole !== undefined);
    const [stdout, stderr] = wholes.map((whole) => (whole === undefined ? undefined : nameOfBytes(whole)));
    const words = typeof command === "string" ? command : command.join(" ");
    const note: ExecNote = {
      callId: id,
      command: redact(words).slice(0, COMMAND_KEPT).toWellFormed(),
      end,
      driver: enclosure.driver,
      ...(exitCode === null ? {} : { exitCode }),
      ...(signal === null ? {} : { signal }),
      ...(uncovered.length === 0
        ? {}
        : { uncovered: uncovered.slice(0, PATHS_TOLD).map(({ path, why }) => redact(`${why}: ${path}`)) }),
      ...(stdout === undefined ? {} : { stdout }),
      ...(stderr === undefined ? {} : { stderr }),
    };
    if (branch.part(execPart.name) !== undefined) branch.change(execPart, withEvidence(note, outputs));
    return note;
  }

  /** The whole of an output that the result does not hold whole, without the secrets in it. */
  #kept({ truncated, whole }: Output): Uint8Array | undefined {
    if (!truncated) return undefined;
    const text = Buffer.from(whole).toString("utf8");
    const clean = this.#host.redact(text);
    return clean === text ? whole : Buffer.from(clean);
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

/** The files themselves are about to be replaced: somebody else's would be gone, and nobody would have said so. */
async function refuseTheirs({ host: { disk } }: HostPart, expected: ReadonlyMap<string, HostEntry>): Promise<void> {
  for (const [path, entry] of expected)
    if (!sameEntry(await disk.entry(namesIn(path), entry), entry))
      throw new HoldfastError("FILE_CONFLICT", { path, found: "changed by somebody else" });
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

/** It is in the tree as it is to be: a command left it so, or undid what was done to it. */
function isLeft({ path, touched: { now }, staged: { from, content } }: StagedPath, id: string): boolean {
  if (content === undefined) return false;
  if ("at" in content) return content.at === path && sameEntry(from, now);
  return ("lies" in content && content.exec === id) || ("placed" in content && content.placed === id);
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
