import { join } from "node:path";
import { defineTrial } from "../../harness/trial.ts";
import { contentOf, Gaps, LAST_WORD, PROMPT, proofOf, TOOL } from "./script.ts";
import { type ChatMessage, fullSqlite, langGraphAgent, sqliteSaver } from "./vendor.ts";

const THREAD = { configurable: { thread_id: "bench" } };

/** LangGraph's own agent over its own SqliteSaver, which is set to FULL; a checkpoint after every step, as it does. */
export default defineTrial({
  prepare: (task) => task,
  run: async (task, turn) => {
    const gaps = new Gaps(turn);
    const connection = await fullSqlite(join(task.folder, "saver.db"));
    const agent = await langGraphAgent({
      saver: await sqliteSaver(connection),
      tool: { name: TOOL, run: ({ nth }) => gaps.tool(() => contentOf(task.seed, nth)) },
      answer: async (asked) => {
        await gaps.asked();
        const said = asked < task.size ? { call: { id: `call_${asked}`, nth: asked } } : { text: LAST_WORD };
        gaps.answered();
        return said;
      },
    });
    // Every answer and every tool call is a step of the graph. `sync`: a step is saved before the next one begins.
    const how = { ...THREAD, recursionLimit: 2 * task.size + 10, durability: "sync" };
    await agent.invoke({ messages: [{ role: "user", content: PROMPT }] }, how);
    connection.close();
    return gaps;
  },
  figures: (gaps) => gaps.figures(),
  verify: async (_, task) => {
    const connection = await fullSqlite(join(task.folder, "saver.db"));
    const saver = await sqliteSaver(connection);
    const kept = await saver.getTuple(THREAD);
    const messages: readonly ChatMessage[] = kept?.checkpoint.channel_values.messages ?? [];
    const outputs = messages.flatMap((message) => (message.getType() === "tool" ? [message.content] : []));
    connection.close();
    return proofOf(outputs);
  },
});
