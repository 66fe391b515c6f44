import type { Keeper } from "./keeper.ts";

/** Every way to keep a state that is compared here. Loaded one at a time. */
export const KEEPERS = {
  "hand sharing": () => import("./keepers/hand-sharing.ts"),
  mutative: () => import("./keepers/mutative.ts"),
  immer: () => import("./keepers/immer.ts"),
  structuredClone: () => import("./keepers/structured-clone.ts"),
  "LangGraph MemorySaver": () => import("./keepers/memory-saver.ts"),
  "LangGraph DeltaChannel": () => import("./keepers/delta-channel.ts"),
  "LangGraph SqliteSaver": () => import("./keepers/sqlite-saver.ts"),
  Holdfast: () => import("./keepers/holdfast-memory.ts"),
  "Holdfast node:sqlite": () => import("./keepers/holdfast-sqlite.ts"),
  "Holdfast, watched": () => import("./keepers/holdfast-watched.ts"),
} as const satisfies Record<string, () => Promise<{ readonly default: Keeper }>>;

export type KeeperName = keyof typeof KEEPERS;
