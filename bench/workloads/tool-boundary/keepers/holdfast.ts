import {
  type AnySlice,
  type CallOutcome,
  defineSlice,
  defineTool,
  type Slice,
  type Tool,
} from "../../../../src/index.ts";
import { type Change, type Entry, type State, withPuts } from "../shape.ts";

/** The state as slices, and the tool whose calls change it. */
export function toolOver(start: State) {
  const slices = new Map(
    Object.entries(start).map(([name, initial]) => [name, defineSlice(name, { initial, on: { put: withPuts } })]),
  );
  const change: Tool = defineTool<Change>({
    name: "change",
    access: "write",
    run: ({ slices: changed }, call) => {
      for (const { name, puts } of changed) {
        const slice = slices.get(name);
        if (slice === undefined) return call.fail("no-slice", name);
        call.dispatch(slice.put(puts));
      }
      return changed.length;
    },
  });
  return {
    slices: [...slices.values()] as readonly AnySlice[],
    change,
    /** All slices, through the given reader. */
    read: (get: (slice: Slice<readonly Entry[]>) => readonly Entry[]): State =>
      Object.fromEntries([...slices].map(([name, slice]) => [name, get(slice)])),
  };
}

export function mustSucceed(outcome: CallOutcome): void {
  if (!outcome.ok) throw new Error(`the call failed: ${JSON.stringify(outcome.output)}`);
}
