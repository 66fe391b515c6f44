import {
  type AnySlice,
  type CallOutcome,
  defineSlice,
  defineTool,
  type Slice,
  type Tool,
} from "../../../../src/index.ts";
import { type Change, type Entry, type State, withPuts } from "../shape.ts";

/** The state as slices, and a tool that finds out what to change: its arguments name the call, as they would a file. */
export function toolOver(start: State) {
  const slices = new Map(
    Object.entries(start).map(([name, initial]) => [name, defineSlice(name, { initial, on: { put: withPuts } })]),
  );
  let changes: readonly Change[] = [];
  const change: Tool = defineTool<{ readonly at: number }>({
    name: "change",
    access: "write",
    run: ({ at }, call) => {
      for (const { name, puts } of changes[at]?.slices ?? []) {
        const slice = slices.get(name);
        if (slice === undefined) return call.fail("no-slice", name);
        call.dispatch(slice.put(puts));
      }
      return "changed";
    },
  });
  return {
    slices: [...slices.values()] as readonly AnySlice[],
    change,
    /** What the calls will change, by their place. */
    expect: (coming: readonly Change[]) => {
      changes = coming;
    },
    /** All slices, through the given reader. */
    read: (get: (slice: Slice<readonly Entry[]>) => readonly Entry[]): State =>
      Object.fromEntries([...slices].map(([name, slice]) => [name, get(slice)])),
  };
}

export function mustSucceed(outcome: CallOutcome): void {
  if (!outcome.ok) throw new Error(`the call failed: ${JSON.stringify(outcome.output)}`);
}
