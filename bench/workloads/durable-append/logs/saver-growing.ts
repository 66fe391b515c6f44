import type { Log, OpenLog } from "../log.ts";
import type { Config, Message } from "../vendor.ts";
import { openSaver } from "./saver.ts";

const THREAD: Config = { configurable: { thread_id: "bench", checkpoint_ns: "" } };

/** What LangGraph does at every step of a conversation: the messages channel, whole, in a new checkpoint. */
const growing: Log = {
  async open(folder): Promise<OpenLog> {
    const { saver, connection, message, put } = await openSaver(folder);
    const messagesNow = async () => (await saver.getTuple(THREAD))?.checkpoint.channel_values.messages ?? [];
    let messages: readonly Message[] = await messagesNow();
    return {
      async append(texts) {
        messages = [...messages, ...texts.map(message)];
        await put(messages);
      },
      async *texts() {
        for (const { content } of await messagesNow()) yield content;
      },
      async newest() {
        return (await messagesNow()).at(-1)?.content;
      },
      close() {
        connection.close();
      },
    };
  },
};
export default growing;
