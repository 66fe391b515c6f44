import { join } from "node:path";
import { defineTrial } from "../../harness/trial.ts";
import { contentOf, Gaps, LAST_WORD, PROMPT, proofOf, TOOL } from "./script.ts";
import { aiSdk, fullSqlite } from "./vendor.ts";

/** The AI SDK's loop. It keeps nothing itself, so each step's messages go into one synced row, as a careful host would. */
export default defineTrial({
  prepare: (task) => task,
  run: async (task, turn) => {
    const gaps = new Gaps(turn);
    const connection = await fullSqlite(join(task.folder, "messages.db"));
    connection.exec("CREATE TABLE steps (seq INTEGER PRIMARY KEY, messages TEXT NOT NULL) STRICT");
    const insert = connection.prepare("INSERT INTO steps (messages) VALUES (?)");
    const { generateText, stepCountIs, model, tool } = await aiSdk({
      answer: async (asked) => {
        await gaps.asked();
        const said = asked < task.size ? { call: { id: `call_${asked}`, nth: asked } } : { text: LAST_WORD };
        gaps.answered();
        return said;
      },
      run: ({ nth }) => gaps.tool(() => contentOf(task.seed, nth)),
      name: TOOL,
    });
    await generateText({
      model,
      prompt: PROMPT,
      tools: { [TOOL]: tool },
      stopWhen: stepCountIs(task.size + 2),
      onStepFinish: ({ response }) =>
        gaps.write(async () => {
          insert.run(JSON.stringify(response.messages));
        }),
    });
    connection.close();
    return gaps;
  },
  figures: (gaps) => gaps.figures(),
  verify: async (_, task) => {
    const connection = await fullSqlite(join(task.folder, "messages.db"));
    const rows = connection.prepare("SELECT messages FROM steps ORDER BY seq").all() as { readonly messages: string }[];
    const messages = rows.flatMap(({ messages: text }) => JSON.parse(text) as StoredMessage[]);
    const outputs = messages.flatMap(({ role, content }) =>
      role === "tool" && typeof content !== "string" ? content.map(({ output }) => output.value) : [],
    );
    connection.close();
    return proofOf(outputs);
  },
});

interface StoredMessage {
  readonly role: string;
  readonly content: string | readonly { readonly output: { readonly value: string } }[];
}
