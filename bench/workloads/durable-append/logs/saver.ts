import { join } from "node:path";
import type { Log, OpenLog } from "../log.ts";
import { betterSqlite, type Config, langGraph, type Message } from "../vendor.ts";

const THREAD: Config = { configurable: { thread_id: "bench", checkpoint_ns: "" } };

/** LangGraph's own saver on a connection set to FULL; by itself it would leave what was acknowledged to the next sync. */
export async function openSaver(folder: string) {
  const { SqliteSaver, HumanMessage, emptyCheckpoint, uuid6 } = await langGraph();
  const connection = new (await betterSqlite())(join(folder, "saver.db"));
  const saver = new SqliteSaver(connection);
  saver.setup();
  connection.exec("PRAGMA synchronous = FULL");
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  if (synchronous !== 2) throw new Error(`synchronous is ${synchronous}`);
  let at = THREAD;
  let step = 0;
  return {
    saver,
    connection,
    message: (text: string) => new HumanMessage(text),
    /** One checkpoint with these messages in its channel, after the one before. */
    put: async (messages: readonly Message[]) => {
      step += 1;
      const versions = { channel_values: { messages }, channel_versions: { messages: step } };
      const checkpoint = { ...emptyCheckpoint(), id: uuid6(step), ...versions };
      at = await saver.put(at, checkpoint, { source: "loop", step, parents: {} });
      return at;
    },
  };
}

/**
 * As cheap as the saver can be made: a checkpoint per record that holds only this record, and for a batch the pending
 * writes of one task. LangGraph itself puts the whole channel every time; that is `saver-growing.ts`.
 */
const saver: Log = {
  async open(folder): Promise<OpenLog> {
    const { saver, connection, message, put } = await openSaver(folder);
    let root: Config | undefined;
    let tasks = 0;
    const newestFirst = async () => Array.fromAsync(saver.list(THREAD));
    return {
      async append(texts) {
        const [only] = texts;
        if (texts.length === 1 && only !== undefined) {
          await put([message(only)]);
          return;
        }
        root ??= await put([]);
        tasks += 1;
        const writes = texts.map((text) => ["messages", message(text)] as const);
        await saver.putWrites(root, writes, String(tasks).padStart(8, "0"));
      },
      async *texts() {
        for (const { checkpoint, pendingWrites = [] } of (await newestFirst()).reverse()) {
          for (const { content } of checkpoint.channel_values.messages ?? []) yield content;
          for (const [, , value] of pendingWrites) yield (value as Message).content;
        }
      },
      async newest() {
        return (await saver.getTuple(THREAD))?.checkpoint.channel_values.messages?.at(-1)?.content;
      },
      close() {
        connection.close();
      },
    };
  },
};
export default saver;
