import type { CompositeSnapshot } from "../../../src/state/snapshot.ts";
import { lookAt } from "../script/look.ts";
import type { ModelState } from "../script/model.ts";

/** A snapshot that was kept, and what it looked like when it was. */
export interface KeptSnapshot {
  readonly session: string;
  readonly snapshot: CompositeSnapshot;
  readonly looks: ModelState;
}

/** A snapshot holds no logs. */
export function lookAtSnapshot({ session, resources }: CompositeSnapshot): ModelState {
  return lookAt(new Map([["diary", []], ...session.slices]), (resources.get("box") as number | undefined) ?? 0);
}

export function restoredTo(state: ModelState, { counter, table, steps, files, box }: ModelState): ModelState {
  return { ...state, counter, table, steps, files, box };
}
