import type { Keeper, OpenKeeper } from "../keeper.ts";
import { type Change, type Entry, type State, withPuts } from "../shape.ts";
import { type Channel, type LangGraph, langGraph, type Saver } from "../vendor.ts";

const THREAD = { thread_id: "bench" };

/** How a slice becomes a channel, and a change an update of it. */
export interface ChannelKind {
  channel(lib: LangGraph, start: readonly Entry[]): () => Channel;
  update(now: readonly Entry[], puts: readonly Entry[]): unknown;
}

/** A channel that is written whole. */
export const LAST_VALUE: ChannelKind = {
  channel: ({ Annotation }) => Annotation,
  update: withPuts,
};

/** Its beta: a checkpoint keeps the updates, and the value is worked out by replaying them. */
export const DELTA: ChannelKind = {
  channel:
    ({ DeltaChannel }, start) =>
    () =>
      new DeltaChannel<readonly Entry[], readonly Entry[]>((state, writes) => withPuts(state, writes.flat()), {
        initialValueFactory: () => start,
      }),
  update: (_, puts) => puts,
};

/**
 * As an agent runs under LangGraph: every slice a channel, a node for the tool call, a step and a checkpoint for each, put
 * before the next begins. All calls are steps of one run, which is its cheapest way.
 */
export function langGraphKeeper(
  kind: ChannelKind,
  saverIn: (folder: string) => Promise<{ readonly saver: Saver; close(): void }>,
): Keeper {
  return {
    pace: "slow",
    open: async (start, folder): Promise<OpenKeeper> => {
      const lib = await langGraph();
      const { StateGraph, Annotation, START, END } = lib;
      const opened = await saverIn(folder);
      let queue: readonly Change[] = [];
      let between: () => Promise<void> | void = () => {};
      let made = 0;
      let now: State = start;
      const checkpoints: object[] = [];
      const step = async () => {
        if (made > 0) await between();
        const change = queue[made];
        made += 1;
        if (change === undefined) throw new RangeError("no call is left");
        const update: Record<string, unknown> = {};
        const next = { ...now };
        for (const { name, puts } of change.slices) {
          update[name] = kind.update(now[name] ?? [], puts);
          next[name] = withPuts(now[name] ?? [], puts);
        }
        now = next;
        return update;
      };
      const channels = Object.entries(start).map(([name, entries]) => [name, kind.channel(lib, entries)] as const);
      const graph = new StateGraph(Annotation.Root(Object.fromEntries(channels)))
        .addNode("call", step)
        .addEdge(START, "call")
        .addConditionalEdges("call", () => (made < queue.length ? "call" : END), ["call", END])
        .compile({ checkpointer: opened.saver });
      const config = { configurable: THREAD };
      return {
        async calls(changes, pause) {
          queue = changes;
          between = pause;
          const input = kind === DELTA ? { [Object.keys(start)[0] ?? ""]: [] } : start;
          await graph.invoke(input, { ...config, durability: "sync", recursionLimit: changes.length + 2 });
          await pause();
          for await (const { config: at } of graph.getStateHistory(config)) checkpoints.unshift(at);
        },
        async rollback(after) {
          const found = checkpoints[checkpoints.length - (made - after)];
          if (found === undefined) throw new RangeError(`checkpoint ${after} is gone`);
          now = (await graph.getState(found)).values as State;
        },
        state: () => now,
        close: () => opened.close(),
      };
    },
  };
}
