import type { Store } from "../../contracts/store.ts";

export interface StoreUnderLaw {
  /**
   * Opens the store at a place. A place that was never named before is empty; the same place again is the same store once
   * more, as another process would open it, while the first is open or after it was closed.
   */
  readonly open: (place: string) => Promise<Store>;
  readonly can: {
    /** Others commit while somebody reads. Without it a commit waits for the readers. */
    readonly commitDuringRead: boolean;
  };
}

export interface StoreContext {
  readonly can: StoreUnderLaw["can"];
  /** The law's own place, once more with every call. */
  readonly open: () => Promise<Store>;
}
