import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, type JsonObject, KEPT_LIMITS } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { BackgroundCommand, BackgroundOptions } from "../exec/background.ts";
import type { ExecCommand, ExecOptions, ExecResult } from "../exec/command.ts";
import { filesOnBranch } from "../files/access.ts";
import type { Branch, Savepoint } from "../state/branch.ts";
import type { Part } from "../state/part.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { Slice, SliceEvent } from "../state/slice.ts";
import type { Failure } from "./ending.ts";
import type { LazySignal } from "./lazy-signal.ts";
import type { AttemptFailure } from "./validators.ts";
import type { CallOutcome } from "./outcome.ts";

/** A state of its own that works for a call: when the call is discarded, its span goes too. */
export interface Rewindable {
  /** Marks where it stands; the answer takes it back there. */
  mark(): Promise<() => Promise<void>>;
  /** The call has settled, and will not take it back any more. */
  release?(): Promise<void>;
}

/** What a handler works with. It is its own, private and mortal: when the call has ended, every use is refused. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  /** Aborts when the call ends. Ignoring it is safe, only useless. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Which attempt at this call it is, from 1. */
  readonly attempt: number;
  /** What was wrong with the results before, when the tool's validators refused them. */
  readonly refused: readonly AttemptFailure[];
  /** Random by call id: the same call draws the same numbers in every run. */
  readonly random: Random;
  /** The workspace, as this call sees and changes it. */
  readonly files: Filesystem;
  get<T>(slice: Slice<T>): T;
  dispatch(event: SliceEvent): void;
  /** A part of the root that is no slice, as this call sees it. It counts as read. */
  read<V>(part: Part<V>): V;
  /** Changes such a part now, and again at the commit if others have changed it meanwhile. */
  change<V>(part: Part<V>, redo: (now: V) => V): void;
  /** A resource that cannot branch: this call has it alone, and it is put back if the call is discarded. */
  resource<T>(key: ResourceKey<T>): Promise<T>;
  /** Tells whoever follows what has been put out so far. A call that is stopped leaves the newest of it in its output. */
  progress(text: string): void;
  /**
   * Tells more of the call in its record, by field: it is kept however the call ends, and read by programs. What the record
   * tells by itself cannot be told otherwise; `speaker: "agent"` says that another agent spoke.
   */
  note(fields: JsonObject): void;
  fail(code: string, message: string, payload?: Json): Failure;
  /** Undoes what came after it when rolled back. */
  savepoint(): { rollback(): void };
  /** Keeps what `work` changed, or, when it throws, nothing of it. */
  transaction<T>(work: () => Promise<T> | T): Promise<T>;
  /** Does something outside, once per key, written down before and after. */
  effect(name: string, args: Json, options: { readonly key: string }): Promise<Json>;
  /** Another tool inside this call: on its branch, undone with it. */
  run(call: { readonly name: string; readonly input: unknown }): Promise<CallOutcome>;
  /** A child's work counts as this call's: discarded, the child is taken back to where it stood. */
  child(child: Rewindable): Promise<void>;
  /**
   * Runs a command in the workspace, to its end. What it changed belongs to this call: kept whole if the call commits,
   * undone whole if it does not. Its exit code is told and judged by nobody here. Only for tools with access `execute`.
   */
  exec(command: ExecCommand, options?: ExecOptions): Promise<ExecResult>;
  /** Starts one that runs on, on the files as they are: nothing of it is undone. Only for tools with access `external`. */
  exec(command: ExecCommand, options: BackgroundOptions): Promise<BackgroundCommand>;
}

export interface CallParts
  extends Pick<
    Call,
    "id" | "tool" | "clock" | "attempt" | "refused" | "progress" | "note" | "resource" | "run" | "child"
  > {
  readonly exec: (command: ExecCommand, options: ExecOptions) => Promise<ExecResult>;
  readonly background: (command: ExecCommand, options: BackgroundOptions) => Promise<BackgroundCommand>;
  readonly stop: LazySignal;
  readonly random: () => Random;
  readonly branch: Branch;
  readonly effect: (name: string, args: Json, key: string) => Promise<Json>;
  /** How many commands it has run. */
  readonly runs: () => number;
  /** The resources that it has alone. */
  readonly resources: {
    readonly holdsAny: () => boolean;
    readonly mark: () => Promise<ReadonlyMap<string, unknown>>;
    readonly backTo: (mark: ReadonlyMap<string, unknown>) => Promise<void>;
  };
  /** A part of what it did was to be undone, and cannot be but with all of it. */
  readonly doom: <E extends Error>(error: E) => E;
  /** Hears of every use after the end. */
  readonly onLate: (what: string) => void;
}

/** A note is about the call; what it returned is its result. */
const NOTE_LIMITS = { ...KEPT_LIMITS, characters: 16 * 1024 };

/**
 * A call's handle, until it is closed. A class, because a getter on an object that is made anew for every call leaves a
 * shape behind for every call, and with it all that the call had.
 */
export class CallHandle implements Call {
  readonly id: string;
  readonly tool: string;
  readonly clock: Clock;
  readonly attempt: number;
  readonly refused: readonly AttemptFailure[];
  readonly #parts: CallParts;
  #isOpen = true;
  // Made when they are first asked for: most calls need neither.
  #random: Random | undefined;
  #files: Filesystem | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.tool = parts.tool;
    this.clock = parts.clock;
    this.attempt = parts.attempt;
    this.refused = parts.refused;
  }

  get signal(): AbortSignal {
    return this.#parts.stop.signal;
  }

  get random(): Random {
    this.#random ??= this.#parts.random();
    return this.#random;
  }

  get files(): Filesystem {
    this.#files ??= filesOnBranch(this.#parts.branch, (what, work) => {
      this.#use(what);
      return work();
    });
    return this.#files;
  }

  get<T>(slice: Slice<T>): T {
    return this.#use("get").branch.get(slice);
  }

  dispatch(event: SliceEvent): void {
    this.#use("dispatch").branch.dispatch(event);
  }

  read<V>(part: Part<V>): V {
    return this.#use("read").branch.look(part, "", (value) => value, Object.is);
  }

  change<V>(part: Part<V>, redo: (now: V) => V): void {
    const { branch } = this.#use("change");
    // Asked by name: whatever was handed in, the part that would change is the one that is registered.
    if (branch.part(part.name)?.reserved === true)
      throw new HoldfastError("PART_RESERVED", { part: part.name, tool: this.tool });
    branch.change(part, redo);
  }

  async resource<T>(key: ResourceKey<T>): Promise<T> {
    return this.#use("resource").resource(key);
  }

  progress(text: string): void {
    this.#use("progress").progress(text);
  }

  note(fields: JsonObject): void {
    const { note } = this.#use("note");
    const checked = checkJson(fields, NOTE_LIMITS);
    if (!checked.ok)
      throw new HoldfastError("VALUE_NOT_JSON", { path: checked.error.path, detail: checked.error.detail });
    note(checked.value.value as JsonObject);
  }

  fail(code: string, message: string, payload?: Json): Failure {
    return { ok: false, code, message, ...(payload === undefined ? {} : { payload }) };
  }

  savepoint(): { rollback(): void } {
    const { branch, runs } = this.#use("savepoint");
    const [savepoint, before] = [branch.savepoint(), runs()];
    const rollback = () => {
      this.#rollback(savepoint, before);
      const { resources, doom } = this.#parts;
      if (resources.holdsAny()) throw doom(new HoldfastError("RESOURCE_SAVEPOINT", { call: this.id }));
    };
    return { rollback };
  }

  async transaction<T>(work: () => Promise<T> | T): Promise<T> {
    const { branch, runs, resources, doom } = this.#use("transaction");
    const mark = await resources.mark();
    const [savepoint, before] = [branch.savepoint(), runs()];
    try {
      return await work();
    } catch (error) {
      this.#rollback(savepoint, before);
      await resources.backTo(mark).catch((refused: Error) => {
        throw doom(refused);
      });
      throw error;
    }
  }

  async effect(name: string, args: Json, { key }: { readonly key: string }): Promise<Json> {
    return this.#use("effect").effect(name, args, key);
  }

  async run(call: { readonly name: string; readonly input: unknown }): Promise<CallOutcome> {
    return this.#use("run").run(call);
  }

  async child(child: Rewindable): Promise<void> {
    return this.#use("child").child(child);
  }

  exec(command: ExecCommand, options?: ExecOptions): Promise<ExecResult>;
  exec(command: ExecCommand, options: BackgroundOptions): Promise<BackgroundCommand>;
  async exec(command: ExecCommand, options: ExecOptions | BackgroundOptions = {}): Promise<unknown> {
    const { exec, background } = this.#use("exec");
    return "background" in options ? background(command, options) : exec(command, options);
  }

  /** Every later use is refused. */
  close(): void {
    this.#isOpen = false;
  }

  #rollback(savepoint: Savepoint, runsBefore: number): void {
    const { branch, runs, doom } = this.#use("rollback");
    branch.rollbackTo(savepoint);
    if (runs() === runsBefore) return;
    throw doom(new HoldfastError("EXEC_SAVEPOINT", { call: this.id }));
  }

  #use(what: string): CallParts {
    if (this.#isOpen) return this.#parts;
    this.#parts.onLate(what);
    throw new HoldfastError("CALL_CLOSED", { call: this.id, tool: this.tool, attempted: what });
  }
}
