import type { Log } from "./log.ts";

/** Every way to keep records that is compared here. Loaded one at a time. */
export const LOGS = {
  "raw node:sqlite": () => import("./logs/raw-node.ts"),
  "raw better-sqlite3": () => import("./logs/raw-better.ts"),
  "JSONL + fsync": () => import("./logs/jsonl.ts"),
  "LangGraph SqliteSaver": () => import("./logs/saver.ts"),
  "LangGraph SqliteSaver, growing channel": () => import("./logs/saver-growing.ts"),
  "Holdfast node:sqlite": () => import("./logs/holdfast-node.ts"),
  "Holdfast better-sqlite3": () => import("./logs/holdfast-better.ts"),
} as const satisfies Record<string, () => Promise<{ readonly default: Log }>>;

export type LogName = keyof typeof LOGS;
