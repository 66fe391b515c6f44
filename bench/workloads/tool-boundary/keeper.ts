import type { Change, State } from "./shape.ts";

/** A way to keep a state and a checkpoint for every call. */
export interface Keeper {
  /** One that copies everything makes fewer calls, or a run would never end. */
  readonly pace: "fast" | "slow";
  open(state: State, folder: string): Promise<OpenKeeper>;
}

export interface OpenKeeper {
  /** Makes the calls one after the other, each with a checkpoint that can be returned to; `between` follows every one. */
  calls(changes: readonly Change[], between: () => Promise<void> | void): Promise<void>;
  /** Back to where it stood after the call with this number, counted from 0. At least the newest 20 are kept. */
  rollback(after: number): Promise<void> | void;
  state(): Promise<State> | State;
  /** Bytes handed to a store so far, where they can be heard. */
  written?(): number;
  close(): Promise<void> | void;
}

/** How many checkpoints keepers hold whose own way is to hold them all: as many as Holdfast does. */
const KEPT = 100;

/** For keepers whose checkpoint is a value. */
export function keeperOf(pace: Keeper["pace"], how: ValueKeeper): Keeper {
  return {
    pace,
    open: async (start) => {
      let now = how.capture(start);
      const kept: State[] = [];
      let made = 0;
      return {
        async calls(changes, between) {
          for (const change of changes) {
            now = how.call(now, change);
            kept.push(how.capture(now));
            if (kept.length > KEPT) kept.shift();
            made += 1;
            await between();
          }
        },
        rollback(after) {
          const found = kept[kept.length - (made - after)];
          if (found === undefined) throw new RangeError(`checkpoint ${after} is gone`);
          now = how.capture(found);
        },
        state: () => now,
        close: () => {},
      };
    },
  };
}

export interface ValueKeeper {
  call(now: State, change: Change): State;
  /** What is kept, or put back: a reference, or a copy where calls change in place. */
  capture(now: State): State;
}
