import type { ClockDep } from "../base/clock.ts";
import type { RandomDep } from "../base/random.ts";
import type { Store } from "./store.ts";

/** A store to be opened, as `sqlite("…")` returns it. It is opened with the kernel's own clock and randomness. */
export interface StoreSource {
  open(deps: ClockDep & RandomDep): Promise<Store>;
}
