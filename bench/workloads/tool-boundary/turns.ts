import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import { createHoldfast, defineSlice, defineTool, reducers, SystemClock, SystemRandom } from "../../../src/index.ts";
import { sqlite } from "../../../src/stores/sqlite/entry.ts";
import { mustSucceed } from "./keepers/holdfast.ts";
import { heard } from "./trace.ts";
import { langGraph } from "./vendor.ts";

/** Two messages of 1 KB a turn, kept in the state, as agents do; the size is the number of turns. */
interface Message {
  readonly role: "user" | "tool";
  readonly text: string;
}

function turn(seed: string, index: number): readonly Message[] {
  const text = (role: string) =>
    createHash("shake256", { outputLength: 768 }).update(`${seed}/${index}/${role}`).digest("base64");
  return [
    { role: "user", text: text("user") },
    { role: "tool", text: text("tool") },
  ];
}

/** Everything that reaches the store: journal, checkpoints, content. */
export function turnsInHoldfast(): Trial {
  return defineTrial({
    prepare: async ({ folder, seed, size }) => {
      const messages = defineSlice("messages", {
        initial: [] as readonly Message[],
        on: { said: reducers.append<Message> },
      });
      const turns = Array.from({ length: size }, (_, index) => turn(seed, index));
      const answer = defineTool<{ readonly turn: number }>({
        name: "answer",
        access: "write",
        run: (input, call) => {
          for (const message of turns[input.turn] ?? []) call.dispatch(messages.said(message));
          return "said";
        },
      });
      const store = await sqlite(join(folder, "turns.db")).open({
        clock: new SystemClock(),
        random: new SystemRandom(),
      });
      const written = { bytes: 0 };
      const counted = heard(store, (commit) => {
        for (const size of commit) written.bytes += size;
      });
      const holdfast = await createHoldfast({ store: counted, slices: [messages], tools: [answer] });
      return { holdfast, messages, written, turns, session: await holdfast.open("turns") };
    },
    run: async ({ session, turns, written }, clock) => {
      for (const index of turns.keys()) {
        mustSucceed(await session.runTool({ name: "answer", input: { turn: index } }));
        if (clock.over) await clock.pass();
      }
      return written.bytes;
    },
    figures: (bytes) => ({ bytes }),
    verify: async (_, { holdfast, session, messages, turns }) => {
      await session.close();
      const again = await holdfast.open("turns");
      const kept = again.state.session.get(messages);
      await again.close();
      await holdfast.close();
      return digestOf(kept, turns.length);
    },
  });
}

/** The bytes its MemorySaver holds in the end. */
export function turnsInLangGraph(): Trial {
  return defineTrial({
    prepare: async ({ seed, size }) => {
      const { StateGraph, Annotation, MemorySaver, START, END } = await langGraph();
      const saver = new MemorySaver();
      const turns = Array.from({ length: size }, (_, index) => turn(seed, index));
      let made = 0;
      let messages: readonly Message[] = [];
      const graph = new StateGraph(Annotation.Root({ messages: Annotation }))
        .addNode("answer", async () => {
          messages = [...messages, ...(turns[made] ?? [])];
          made += 1;
          return { messages };
        })
        .addEdge(START, "answer")
        .addEdge("answer", END)
        .compile({ checkpointer: saver });
      return { graph, saver, turns };
    },
    run: async ({ graph, saver, turns }, clock) => {
      const config = { configurable: { thread_id: "turns" }, durability: "sync" };
      for (const _ of turns) {
        await graph.invoke({}, config);
        if (clock.over) await clock.pass();
      }
      return bytesIn(saver.storage) + bytesIn(saver.writes);
    },
    figures: (bytes) => ({ bytes }),
    verify: async (_, { graph, turns }) => {
      const { values } = await graph.getState({ configurable: { thread_id: "turns" } });
      return digestOf((values as { readonly messages: readonly Message[] }).messages, turns.length);
    },
  });
}

function digestOf(messages: readonly Message[], turns: number): string {
  if (messages.length !== 2 * turns) throw new Error(`${messages.length} messages after ${turns} turns`);
  return createHash("sha256")
    .update(messages.map(({ text }) => text).join("\n"))
    .digest("hex");
}

function bytesIn(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + bytesIn(inner), 0);
}
