import { peer } from "../../harness/peers.ts";

/** Rivals by the shape that is used of them. */
interface Said {
  readonly call?: { readonly id: string; readonly nth: number };
  readonly text?: string;
}

interface Zod {
  readonly z: { readonly object: (shape: object) => object; readonly number: () => object };
}

type Answering = (asked: number) => Promise<Said>;
type Running = (input: { readonly nth: number }) => string;

export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: readonly unknown[]): unknown; all(): unknown[]; get(): unknown };
  close(): void;
}

/** WAL and FULL, read back: what is acknowledged survives the loss of power. */
export async function fullSqlite(path: string): Promise<Connection> {
  const { default: Database } = await peer<{ readonly default: new (path: string) => Connection }>("better-sqlite3");
  const connection = new Database(path);
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  if (synchronous !== 2) throw new Error(`synchronous is ${synchronous}`);
  return connection;
}

export interface ChatMessage {
  readonly content: string;
  getType(): string;
}

interface Saver {
  getTuple(
    config: object,
  ): Promise<
    { readonly checkpoint: { readonly channel_values: { readonly messages?: readonly ChatMessage[] } } } | undefined
  >;
}

export async function sqliteSaver(connection: Connection): Promise<Saver> {
  const { SqliteSaver } = await peer<{
    readonly SqliteSaver: new (connection: Connection) => Saver & { setup(): void };
  }>("@langchain/langgraph-checkpoint-sqlite");
  const saver = new SqliteSaver(connection);
  saver.setup();
  connection.exec("PRAGMA synchronous = FULL"); // its setup leaves the connection as it was made
  return saver;
}

interface Agent {
  invoke(input: object, config: object): Promise<unknown>;
}

interface ChatModelClass {
  new (fields: object): object;
}

/** LangGraph's prebuilt agent with a chat model that answers at once. */
export async function langGraphAgent(parts: {
  readonly saver: Saver;
  readonly tool: { readonly name: string; readonly run: Running };
  readonly answer: Answering;
}): Promise<Agent> {
  const { createReactAgent } = await peer<{ readonly createReactAgent: (options: object) => Agent }>(
    "@langchain/langgraph/prebuilt",
  );
  const { BaseChatModel } = await peer<{ BaseChatModel: ChatModelClass }>(
    "@langchain/core/language_models/chat_models",
  );
  const { AIMessage } = await peer<{ AIMessage: new (fields: object) => object }>("@langchain/core/messages");
  const { tool } = await peer<{ readonly tool: (run: Running, fields: object) => object }>("@langchain/core/tools");
  const { z } = await peer<Zod>("zod");
  let asked = 0;
  class Scripted extends BaseChatModel {
    _llmType(): string {
      return "scripted";
    }
    bindTools(): this {
      return this;
    }
    async _generate(): Promise<object> {
      const { call, text = "" } = await parts.answer(asked);
      asked += 1;
      const calls = call === undefined ? [] : [{ id: call.id, name: parts.tool.name, args: { nth: call.nth } }];
      return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] };
    }
  }
  const schema = z.object({ nth: z.number() });
  return createReactAgent({
    llm: new Scripted({}),
    tools: [tool(parts.tool.run, { name: parts.tool.name, description: "Reads a file.", schema })],
    checkpointSaver: parts.saver,
  });
}

interface StepFinished {
  readonly response: { readonly messages: readonly object[] };
}

interface AiSdk {
  readonly generateText: (options: {
    readonly model: object;
    readonly prompt: string;
    readonly tools: Readonly<Record<string, object>>;
    readonly stopWhen: object;
    readonly onStepFinish: (step: StepFinished) => Promise<void>;
  }) => Promise<unknown>;
  readonly stepCountIs: (most: number) => object;
  readonly model: object;
  readonly tool: object;
}

/** The AI SDK's loop with its own mock model, which answers at once. */
export async function aiSdk(parts: {
  readonly answer: Answering;
  readonly run: Running;
  readonly name: string;
}): Promise<AiSdk> {
  const sdk = await peer<Pick<AiSdk, "generateText" | "stepCountIs"> & { readonly tool: (spec: object) => object }>(
    "ai",
  );
  const { MockLanguageModelV4 } = await peer<{ MockLanguageModelV4: new (options: object) => object }>("ai/test");
  const { z } = await peer<Zod>("zod");
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let asked = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const { call, text = "" } = await parts.answer(asked);
      asked += 1;
      const content =
        call === undefined
          ? [{ type: "text", text }]
          : [
              {
                type: "tool-call",
                toolCallId: call.id,
                toolName: parts.name,
                input: JSON.stringify({ nth: call.nth }),
              },
            ];
      const finishReason = { unified: call === undefined ? "stop" : "tool-calls" };
      return { content, finishReason, usage, warnings: [] };
    },
  });
  const tool = sdk.tool({
    description: "Reads a file.",
    inputSchema: z.object({ nth: z.number() }),
    execute: async (input: { readonly nth: number }) => parts.run(input),
  });
  return { generateText: sdk.generateText, stepCountIs: sdk.stepCountIs, model, tool };
}
