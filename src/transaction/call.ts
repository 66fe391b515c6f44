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
import type { CallResources } from "./call-resources.ts";
import type { Failure } from "./ending.ts";
import type { LazySignal } from "./lazy-signal.ts";
import type { AttemptFailure } from "./validators.ts";
import type { CallOutcome } from "./outcome.ts";

/**
 * Takes something back to where it was marked. `callGoesOn`: only a part of the call is undone, and the call goes on.
 */
export type TakeBack = (callGoesOn?: boolean) => Promise<void>;

/** A state that works for a call, such as a sub-agent's session. When the call is discarded, it is taken back. */
export interface Rewindable {
  /** Marks where it stands; the returned function takes it back there. */
  mark(): Promise<TakeBack>;
  /** Called when the call has settled and will not take it back any more. */
  release?(): Promise<void>;
}

/** What a handler works with: state and files on the call's own branch. After the call, every use is refused. */
export interface Call {
  /** What outcomes and checkpoints name `callId`. */
  readonly id: string;
  /** The name of the tool. */
  readonly tool: string;
  /** Aborts when the call ends. Ignoring it does no harm, but the work that goes on is wasted. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Which attempt at this call this is, from 1. */
  readonly attempt: number;
  /** Why the tool's validators refused the earlier results. Empty on the first attempt. */
  readonly refused: readonly AttemptFailure[];
  /** Seeded with the call id: the same call draws the same numbers in every run. */
  readonly random: Random;
  /** The workspace, as this call sees and changes it. */
  readonly files: Filesystem;
  /** The value of a slice, as this call sees it. */
  get<T>(slice: Slice<T>): T;
  /** Applies an event to its slice, on this call's branch. */
  dispatch(event: SliceEvent): void;
  /** A part of the root that is not a slice, as this call sees it. The call counts as having read it. */
  read<V>(part: Part<V>): V;
  /** Changes such a part now. `redo` runs again at the commit if others have changed the part meanwhile. */
  change<V>(part: Part<V>, redo: (now: V) => V): void;
  /** A resource that cannot branch. This call has it to itself, and it is put back if the call is discarded. */
  resource<T>(key: ResourceKey<T>): Promise<T>;
  /** Reports the tool's output so far. If the call is stopped, the newest report is part of its output. */
  progress(text: string): void;
  /**
   * Adds fields to the call's record. They are kept however the call ends, and programs can read them. Fields that the
   * record has anyway cannot be replaced. `speaker: "agent"` says that another agent spoke.
   */
  note(fields: JsonObject): void;
  /**
   * Makes a failure to return: everything the call changed is undone. The model reads `message`; `payload` is logged.
   */
  fail(code: string, message: string, payload?: unknown): Failure;
  /**
   * A point to roll back to. A rollback undoes everything that came after it: changes, calls inside this one, effects
   * and children. Savepoints made later become void.
   */
  savepoint(): { rollback(): void };
  /**
   * Keeps all that `work` did, here and outside, or none of it if it throws. Several may run at once, kept apart. Await it:
   * a call that ends while one is running fails.
   */
  transaction<T>(work: () => Promise<T> | T): Promise<T>;
  /** Runs a declared effect once per key, journalled before and after. Arguments and result are kept as JSON. */
  effect(name: string, args: unknown, options: { readonly key: string }): Promise<Json>;
  /** Runs another tool inside this call: on the same branch, and undone with it. */
  run(call: { readonly name: string; readonly input: unknown }): Promise<CallOutcome>;
  /**
   * Makes a child's work part of this call: if the call is discarded, the child is taken back to where it stood. Close a
   * child in its `release`, not in the handler: a closed session cannot be taken back.
   */
  child(child: Rewindable): Promise<void>;
  /**
   * Runs a command in the workspace until it ends. Its changes belong to this call: all are kept if the call commits,
   * none if it does not. The exit code is reported, and what it means is up to you. Only for tools with access
   * `execute`.
   */
  exec(command: ExecCommand, options?: ExecOptions): Promise<ExecResult>;
  /**
   * Starts a background command on the files as they are. None of it is undone. Only for tools with access `external`.
   */
  exec(command: ExecCommand, options: BackgroundOptions): Promise<BackgroundCommand>;
}

export interface CallParts extends Pick<Call, "id" | "tool" | "clock" | "attempt" | "refused" | "progress" | "note"> {
  readonly run: (call: Parameters<Call["run"]>[0], around: Stretch) => Promise<CallOutcome>;
  readonly child: (child: Rewindable, around: () => Stretch) => Promise<void>;
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
  readonly resources: CallResources;
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
  /** Transactions that have begun and not ended. */
  #running = 0;
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
      if (resources.areHeld) throw doom(new HoldfastError("RESOURCE_SAVEPOINT", { call: this.id }));
    };
    return { rollback };
  }

  async transaction<T>(work: () => Promise<T> | T): Promise<T> {
    const { branch, resources } = this.#use("transaction");
    const stretch = branch.stretch(this.#stretch());
    this.#running += 1;
    try {
      return await this.#wholly(work, stretch);
    } finally {
      this.#running -= 1;
      resources.leave(stretch);
    }
  }

  async effect(name: string, args: unknown, options: { readonly key: string }): Promise<Json> {
    const { key } = Object(options) as typeof options; // left out, it is refused by name like any other that is no key
    return this.#use("effect").effect(name, args, key, this.#stretch());
  }

  async run(call: { readonly name: string; readonly input: unknown }): Promise<CallOutcome> {
    return this.#use("run").run(call, this.#stretch());
  }

  async child(child: Rewindable): Promise<void> {
    return this.#parts.child(child, () => {
      this.#use("child");
      return this.#stretch();
    });
  }

  exec(command: ExecCommand, options?: ExecOptions): Promise<ExecResult>;
  exec(command: ExecCommand, options: BackgroundOptions): Promise<BackgroundCommand>;
  async exec(command: ExecCommand, options: ExecOptions | BackgroundOptions = {}): Promise<unknown> {
    const { exec, background } = this.#use("exec");
    this.#stretch(); // refused, when it is part of what was rolled back
    return "background" in options ? background(command, options) : exec(command, options);
  }

  /** Whether a transaction has begun and not ended: half of it is on the branch. */
  get hasHalves(): boolean {
    return this.#running > 0;
  }

  /** Every later use is refused. */
  close(): void {
    this.#isOpen = false;
  }

  async #wholly<T>(work: () => Promise<T> | T, stretch: Stretch): Promise<T> {
    const { branch, runs, resources, doom } = this.#parts;
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
    }
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
