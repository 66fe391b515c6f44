import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type { Branch, Savepoint } from "../state/branch.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { Slice, SliceEvent } from "../state/slice.ts";
import type { Failure } from "./tool.ts";

/** What a handler works with. It is its own, private and mortal: when the call has ended, every use is refused. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  /** Aborts when the call is canceled or its time is up. Ignoring it is safe, only useless. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Random by call id: the same call draws the same numbers in every run. */
  readonly random: Random;
  get<T>(slice: Slice<T>): T;
  dispatch(event: SliceEvent): void;
  /** A resource that cannot branch: this call has it alone, and it is put back if the call is discarded. */
  resource<T>(key: ResourceKey<T>): Promise<T>;
  fail(code: string, message: string, payload?: Json): Failure;
  /** Undoes what came after it when rolled back. */
  savepoint(): { rollback(): void };
  /** Keeps what `work` changed, or, when it throws, nothing of it. */
  transaction<T>(work: () => Promise<T> | T): Promise<T>;
  effect(name: string, args: Json, options: { readonly key: string }): Promise<Json>;
}

export interface CallParts {
  readonly id: string;
  readonly tool: string;
  readonly branch: Branch;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly acquire: <T>(key: ResourceKey<T>) => Promise<T>;
  readonly effect: (name: string, args: Json, key: string) => Promise<Json>;
  readonly onLate: (what: string) => void;
}

/** A handle and the way to end its life. */
export function openHandle(parts: CallParts): { readonly call: Call; close(): void } {
  let open = true;
  const { id, tool, branch } = parts;
  const guard = <T>(what: string, use: () => T): T => {
    if (open) return use();
    parts.onLate(what);
    throw new HoldfastError("CALL_CLOSED", { call: id, tool, attempted: what });
  };
  const back = (savepoint: Savepoint) => branch.rollbackTo(savepoint);
  const call: Call = {
    id,
    tool,
    signal: parts.signal,
    clock: parts.clock,
    random: parts.random,
    get: (slice) => guard("get", () => branch.get(slice)),
    dispatch: (event) => guard("dispatch", () => branch.dispatch(event)),
    resource: (key) => guard("resource", () => parts.acquire(key)),
    fail: (code, message, payload) => ({ ok: false, code, message, ...(payload === undefined ? {} : { payload }) }),
    savepoint: () => {
      const savepoint = guard("savepoint", () => branch.savepoint());
      return { rollback: () => guard("rollback", () => back(savepoint)) };
    },
    transaction: async (work) => {
      const savepoint = guard("transaction", () => branch.savepoint());
      try {
        return await work();
      } catch (error) {
        guard("rollback", () => back(savepoint));
        throw error;
      }
    },
    effect: (name, args, { key }) => guard("effect", () => parts.effect(name, args, key)),
  };
  return {
    call,
    close: () => {
      open = false;
    },
  };
}
