import type { ClockDep } from "../base/clock.ts";
import type { RandomDep } from "../base/random.ts";
import type { Store } from "./store.ts";

/** A store yet to be opened: what `sqlite("…")` answers, so that it is opened with the kernel's own clock and randomness. */
export interface StoreSource {
  open(deps: ClockDep & RandomDep): Promise<Store>;
}
