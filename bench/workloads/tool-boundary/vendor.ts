import { peer } from "../../harness/peers.ts";
import type { Entry, State } from "./shape.ts";

type Draft = Record<string, Entry[]>;
type Edit = (state: State, change: (draft: Draft) => void) => State;

export async function mutative(): Promise<{ readonly create: Edit }> {
  return peer("mutative");
}

export async function immer(): Promise<{ readonly produce: Edit }> {
  return peer("immer");
}

export interface Channel {
  readonly lc_graph_name: string;
}

/** A graph that was compiled with a saver. */
interface CompiledGraph {
  invoke(input: object | null, config: object): Promise<unknown>;
  getState(config: object): Promise<{ readonly values: object }>;
  /** Newest first. */
  getStateHistory(config: object): AsyncIterable<{ readonly config: object }>;
}

export interface Saver {
  getTuple(config: object): Promise<unknown>;
}

interface Graph {
  addNode(name: string, run: () => Promise<object>): Graph;
  addEdge(from: string, to: string): Graph;
  addConditionalEdges(from: string, route: () => string, targets: readonly string[]): Graph;
  compile(options: { readonly checkpointer: Saver }): CompiledGraph;
}

/** LangGraph, as far as it is used here. */
export interface LangGraph {
  readonly StateGraph: new (annotation: object) => Graph;
  /** Called, it makes a channel that is written whole. */
  readonly Annotation: (() => Channel) & {
    readonly Root: (channels: Readonly<Record<string, () => Channel>>) => object;
  };
  readonly DeltaChannel: new <V, U>(
    reducer: (state: V, writes: readonly U[]) => V,
    options: { readonly initialValueFactory: () => V; readonly snapshotFrequency?: number },
  ) => Channel;
  readonly MemorySaver: new () => Saver & { readonly storage: object; readonly writes: object };
  readonly START: string;
  readonly END: string;
}

export async function langGraph(): Promise<LangGraph> {
  return peer("@langchain/langgraph");
}

interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): { get(): unknown };
  close(): unknown;
}

/** Its own saver on a connection set to FULL; by itself it would leave what was acknowledged to the next sync. */
export async function sqliteSaver(path: string): Promise<{ readonly saver: Saver; readonly connection: Connection }> {
  const [{ default: Database }, { SqliteSaver }] = await Promise.all([
    peer<{ readonly default: new (path: string) => Connection }>("better-sqlite3"),
    peer<{ readonly SqliteSaver: new (connection: Connection) => Saver & { setup(): void } }>(
      "@langchain/langgraph-checkpoint-sqlite",
    ),
  ]);
  const connection = new Database(path);
  const saver = new SqliteSaver(connection);
  saver.setup();
  connection.exec("PRAGMA synchronous = FULL");
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  if (synchronous !== 2) throw new Error(`synchronous is ${synchronous}`);
  return { saver, connection };
}
