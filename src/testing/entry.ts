/** `holdfast/testing`: laws that anybody's store must keep, and doubles for tests. */
export type { Store } from "../contracts/store.ts";
