import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import { filesOnBranch } from "../files/access.ts";
import type { Branch, Savepoint } from "../state/branch.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { Slice, SliceEvent } from "../state/slice.ts";
import type { Failure } from "./ending.ts";
import type { AttemptFailure } from "./validators.ts";
import type { CallOutcome } from "./outcome.ts";

/** A state of its own that works for a call: when the call is discarded, its span goes too. */
export interface Rewindable {
  /** Marks where it stands; the answer takes it back there. */
  mark(): Promise<() => Promise<void>>;
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
  /** A resource that cannot branch: this call has it alone, and it is put back if the call is discarded. */
  resource<T>(key: ResourceKey<T>): Promise<T>;
  /** Tells whoever follows what has been put out so far. A call that is stopped leaves the newest of it in its output. */
  progress(text: string): void;
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
}

export interface CallParts
  extends Pick<
    Call,
    "id" | "tool" | "signal" | "clock" | "attempt" | "refused" | "progress" | "resource" | "run" | "child"
  > {
  readonly random: () => Random;
  readonly branch: Branch;
  readonly effect: (name: string, args: Json, key: string) => Promise<Json>;
  /** Hears of every use after the end. */
  readonly onLate: (what: string) => void;
}

/** A handle and the way to end its life. */
export function openHandle(parts: CallParts): { readonly call: Call; close(): void } {
  let open = true;
  // Made when they are first asked for: most calls need neither.
  let random: Random | undefined;
  let files: Filesystem | undefined;
  const { id, tool, branch } = parts;
  const use = <T>(what: string, work: () => T): T => {
    if (open) return work();
    parts.onLate(what);
    throw new HoldfastError("CALL_CLOSED", { call: id, tool, attempted: what });
  };
  const rollback = (savepoint: Savepoint) => use("rollback", () => branch.rollbackTo(savepoint));
  const call: Call = {
    id,
    tool,
    signal: parts.signal,
    clock: parts.clock,
    attempt: parts.attempt,
    refused: parts.refused,
    get random() {
      random ??= parts.random();
      return random;
    },
    get files() {
      files ??= filesOnBranch(branch, use);
      return files;
    },
    get: (slice) => use("get", () => branch.get(slice)),
    dispatch: (event) => use("dispatch", () => branch.dispatch(event)),
    resource: async (key) => use("resource", () => parts.resource(key)),
    progress: (text) => use("progress", () => parts.progress(text)),
    fail: (code, message, payload) => ({ ok: false, code, message, ...(payload === undefined ? {} : { payload }) }),
    savepoint: () => {
      const savepoint = use("savepoint", () => branch.savepoint());
      return { rollback: () => rollback(savepoint) };
    },
    transaction: async (work) => {
      const savepoint = use("transaction", () => branch.savepoint());
      try {
        return await work();
      } catch (error) {
        rollback(savepoint);
        throw error;
      }
    },
    effect: async (name, args, { key }) => use("effect", () => parts.effect(name, args, key)),
    run: async (inner) => use("run", () => parts.run(inner)),
    child: async (child) => use("child", () => parts.child(child)),
  };
  return {
    call,
    close: () => {
      open = false;
    },
  };
}
