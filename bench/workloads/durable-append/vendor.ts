import { peer } from "../../harness/peers.ts";
import type { Connection } from "./logs/raw.ts";

type BetterSqlite = new (path: string) => Connection;

export async function betterSqlite(): Promise<BetterSqlite> {
  return (await peer<{ readonly default: BetterSqlite }>("better-sqlite3")).default;
}

export interface Message {
  readonly content: string;
}

interface Checkpoint {
  readonly id: string;
  readonly channel_values: { readonly messages?: readonly Message[] };
  readonly channel_versions: Readonly<Record<string, number>>;
}

export interface Config {
  readonly configurable: {
    readonly thread_id: string;
    readonly checkpoint_ns: string;
    readonly checkpoint_id?: string;
  };
}

interface Tuple {
  readonly config: Config;
  readonly checkpoint: Checkpoint;
  readonly pendingWrites?: readonly (readonly [task: string, channel: string, value: unknown])[];
}

/** LangGraph's SqliteSaver, as far as it is used here. */
interface Saver {
  setup(): void;
  put(config: Config, checkpoint: Checkpoint, metadata: object): Promise<Config>;
  putWrites(config: Config, writes: readonly (readonly [string, unknown])[], task: string): Promise<void>;
  getTuple(config: Config): Promise<Tuple | undefined>;
  list(config: Config): AsyncIterable<Tuple>;
}

interface LangGraph {
  readonly SqliteSaver: new (connection: Connection) => Saver;
  readonly HumanMessage: new (text: string) => Message;
  readonly emptyCheckpoint: () => Checkpoint;
  /** Ids that sort by time and step. */
  readonly uuid6: (step: number) => string;
}

export async function langGraph(): Promise<LangGraph> {
  const [{ SqliteSaver }, { HumanMessage }, { emptyCheckpoint, uuid6 }] = await Promise.all([
    peer<Pick<LangGraph, "SqliteSaver">>("@langchain/langgraph-checkpoint-sqlite"),
    peer<Pick<LangGraph, "HumanMessage">>("@langchain/core/messages"),
    peer<Pick<LangGraph, "emptyCheckpoint" | "uuid6">>("@langchain/langgraph-checkpoint"),
  ]);
  return { SqliteSaver, HumanMessage, emptyCheckpoint, uuid6 };
}
