import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, type JsonObject, KEPT_LIMITS } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { BackgroundCommand, BackgroundOptions } from "../exec/background.ts";
import type { ExecCommand, ExecOptions, ExecResult } from "../exec/command.ts";
import { filesOnBranch } from "../files/access.ts";
import type { Branch, Savepoint, Stretch } from "../state/branch.ts";
import type { Part } from "../state/part.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { Slice, SliceEvent } from "../state/slice.ts";
import type { Failure } from "./ending.ts";
import type { LazySignal } from "./lazy-signal.ts";
import type { AttemptFailure } from "./validators.ts";
import type { CallOutcome } from "./outcome.ts";

/** Takes something back to where it was marked. `callGoesOn`: with a part of a call, which may have it work on. */
export type TakeBack = (callGoesOn?: boolean) => Promise<void>;

/** A state of its own that works for a call: when the call is discarded, its span goes too. */
export interface Rewindable {
  /** Marks where it stands; the answer takes it back there. */
  mark(): Promise<TakeBack>;
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
  fail(code: string, message: string, payload?: unknown): Failure;
  /**
   * Undoes what came after it when rolled back, calls inside this one, effects and children included; later savepoints are
   * void then.
   */
  savepoint(): { rollback(): void };
  /** Keeps what `work` did, here and outside, or, when it throws, nothing of it. Two at once keep out of each other's way. */
  transaction<T>(work: () => Promise<T> | T): Promise<T>;
  /** Does something outside, once per key, written down before and after. Arguments and result are kept as JSON. */
  effect(name: string, args: unknown, options: { readonly key: string }): Promise<Json>;
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

export interface CallParts extends Pick<Call, "id" | "tool" | "clock" | "attempt" | "refused" | "progress" | "note"> {
  readonly run: (call: Parameters<Call["run"]>[0], around: Stretch) => Promise<CallOutcome>;
  readonly child: (child: Rewindable, around: Stretch) => Promise<void>;
  readonly exec: (command: ExecCommand, options: ExecOptions) => Promise<ExecResult>;
  readonly background: (command: ExecCommand, options: BackgroundOptions) => Promise<BackgroundCommand>;
  readonly stop: LazySignal;
  readonly random: () => Random;
  readonly branch: Branch;
  /** What it changes there is its own. */
  readonly stretch: Stretch;
  /** What else goes with a part of it: calls inside it, told so at once, effects outside, children. */
  readonly letGo: (savepoint: Savepoint) => Promise<unknown>;
  readonly effect: (name: string, args: unknown, key: string, around: Stretch) => Promise<Json>;
  /** How many commands it has run. */
  readonly runs: () => number;
  /** The resources that it has alone. */
  readonly resources: {
    readonly get: <T>(key: ResourceKey<T>, stretch: Stretch) => Promise<T>;
    readonly holdsAny: () => boolean;
    readonly mark: (stretch: Stretch) => Promise<ReadonlyMap<string, unknown>>;
    readonly backTo: (mark: ReadonlyMap<string, unknown>, stretch: Stretch) => Promise<void>;
    /** The stretch has ended. */
    readonly leave: (stretch: Stretch) => void;
  };
  /** A part of what it did was to be undone, and cannot be but with all of it. */
  readonly doom: <E extends Error>(error: E) => E;
  /** Hears of every use after the end. */
  readonly onLate: (what: string) => void;
}

/** Where code runs: in a transaction of a handle, which may itself run inside another. */
interface Inside {
  readonly handle: CallHandle;
  readonly stretch: Stretch;
  /** It was rolled back: what still runs of it changes nothing any more. */
  isOver: boolean;
  readonly around: Inside | undefined;
}

/** Transactions of one handle may overlap, so whose change it is hangs on where the code runs, not on when. */
const transactions = new AsyncLocalStorage<Inside>();

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
      return work(this.#stretch());
    });
    return this.#files;
  }

  get<T>(slice: Slice<T>): T {
    return this.#use("get").branch.get(slice);
  }

  dispatch(event: SliceEvent): void {
    this.#use("dispatch").branch.dispatch(event, this.#stretch());
  }

  read<V>(part: Part<V>): V {
    return this.#use("read").branch.look(part, "", (value) => value, Object.is);
  }

  change<V>(part: Part<V>, redo: (now: V) => V): void {
    const { branch } = this.#use("change");
    // Asked by name: whatever was handed in, the part that would change is the one that is registered.
    if (branch.part(part.name)?.reserved === true)
      throw new HoldfastError("PART_RESERVED", { part: part.name, tool: this.tool });
    branch.change(part, redo, this.#stretch());
  }

  async resource<T>(key: ResourceKey<T>): Promise<T> {
    return this.#use("resource").resources.get(key, this.#stretch());
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

  fail(code: string, message: string, payload?: unknown): Failure {
    return { ok: false, code, message, ...(payload === undefined ? {} : { payload }) };
  }

  savepoint(): { rollback(): void } {
    const { branch, runs, resources, doom } = this.#use("savepoint");
    const [savepoint, before] = [branch.savepoint(this.#stretch()), runs()];
    const rollback = () => {
      if (branch.isVoid(savepoint)) throw new HoldfastError("SAVEPOINT_VOID", { call: this.id });
      void this.#rollback(savepoint, before);
      if (resources.holdsAny()) throw doom(new HoldfastError("RESOURCE_SAVEPOINT", { call: this.id }));
    };
    return { rollback };
  }

  async transaction<T>(work: () => Promise<T> | T): Promise<T> {
    const { branch, runs, resources, doom } = this.#use("transaction");
    const stretch = branch.stretch(this.#stretch());
    const mark = await resources.mark(stretch);
    const [savepoint, before] = [branch.savepoint(stretch), runs()];
    const inside: Inside = { handle: this, stretch, isOver: false, around: transactions.getStore() };
    try {
      const result = await transactions.run(inside, work);
      if (branch.isVoid(savepoint)) throw new HoldfastError("SAVEPOINT_VOID", { call: this.id });
      return result;
    } catch (error) {
      inside.isOver = true;
      await this.#rollback(savepoint, before);
      await resources.backTo(mark, stretch).catch((refused: Error) => {
        throw doom(refused);
      });
      throw error;
    } finally {
      resources.leave(stretch);
    }
  }

  async effect(name: string, args: unknown, { key }: { readonly key: string }): Promise<Json> {
    return this.#use("effect").effect(name, args, key, this.#stretch());
  }

  async run(call: { readonly name: string; readonly input: unknown }): Promise<CallOutcome> {
    return this.#use("run").run(call, this.#stretch());
  }

  async child(child: Rewindable): Promise<void> {
    return this.#use("child").child(child, this.#stretch());
  }

  exec(command: ExecCommand, options?: ExecOptions): Promise<ExecResult>;
  exec(command: ExecCommand, options: BackgroundOptions): Promise<BackgroundCommand>;
  async exec(command: ExecCommand, options: ExecOptions | BackgroundOptions = {}): Promise<unknown> {
    const { exec, background } = this.#use("exec");
    this.#stretch(); // refused, when it is part of what was rolled back
    return "background" in options ? background(command, options) : exec(command, options);
  }

  /** Every later use is refused. */
  close(): void {
    this.#isOpen = false;
  }

  #rollback(savepoint: Savepoint, runsBefore: number): Promise<unknown> {
    const { branch, runs, doom, letGo } = this.#use("rollback");
    try {
      branch.rollbackTo(savepoint);
    } catch (error) {
      throw doom(error as Error);
    }
    const undoing = letGo(savepoint);
    if (runs() === runsBefore) return undoing;
    throw doom(new HoldfastError("EXEC_SAVEPOINT", { call: this.id }));
  }

  /** Whose change it is: that of the handle's transaction in which this code runs, or else the call's own. */
  #stretch(): Stretch {
    for (let at = transactions.getStore(); at !== undefined; at = at.around) {
      if (at.handle !== this) continue;
      if (at.isOver) throw new HoldfastError("SAVEPOINT_VOID", { call: this.id });
      return at.stretch;
    }
    return this.#parts.stretch;
  }

  #use(what: string): CallParts {
    if (this.#isOpen) return this.#parts;
    this.#parts.onLate(what);
    throw new HoldfastError("CALL_CLOSED", { call: this.id, tool: this.tool, attempted: what });
  }
}
