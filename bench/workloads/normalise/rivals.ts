import { fileURLToPath, pathToFileURL } from "node:url";
import type { Task, Trial } from "../../harness/contract.ts";
import { peer } from "../../harness/peers.ts";
import { defineTrial } from "../../harness/trial.ts";
import { repairMessages, writeMessages } from "../../../src/index.ts";
import { buildHistory } from "./build.ts";

/** Rivals work on their own message types, so each is given the same history written down in its own. */

const TIMES = 3;
const AGENTS = "@openai/agents-core";
const history = (task: Task, faults = true) => buildHistory(task.size, task.round + 1, faults).items;

/** Ours on raw messages of the same format, reading and writing included. */
export function holdfastMessages(format: "openai-responses" | "openai-chat" | "ai-sdk"): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => writeMessages(history(task), format).messages,
    run: (messages) => repairMessages(messages, { format }),
    verify: ({ messages }) => (messages.length > 0 ? undefined : fail("no messages")),
  });
}

interface Middleware {
  readonly beforeAgent: { hook(state: object): unknown } | ((state: object) => unknown);
}

export function deepagents(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: async (task) => {
      const { AIMessage, HumanMessage, ToolMessage } =
        await peer<Record<string, new (fields: object) => object>>("@langchain/core/messages");
      const { createPatchToolCallsMiddleware } = await peer<{ createPatchToolCallsMiddleware: () => Middleware }>(
        "deepagents",
      );
      const { messages } = writeMessages(history(task), "openai-chat");
      const make = (kind: (new (fields: object) => object) | undefined, fields: object) =>
        kind === undefined ? fail("no message class") : new kind(fields);
      const theirs = (messages as readonly Chat[]).map((message) => {
        if (message.role === "tool")
          return make(ToolMessage, { content: message.content, tool_call_id: message.tool_call_id });
        if (message.role === "user") return make(HumanMessage, { content: message.content });
        const calls = message.tool_calls?.map(({ id, function: { name } }) => ({
          id,
          name,
          args: {},
          type: "tool_call",
        }));
        return make(AIMessage, { content: message.content ?? "", tool_calls: calls ?? [] });
      });
      const { beforeAgent } = createPatchToolCallsMiddleware();
      const hook = typeof beforeAgent === "function" ? beforeAgent : (state: object) => beforeAgent.hook(state);
      return { hook, state: { messages: theirs } };
    },
    run: ({ hook, state }) => hook(state),
    verify: (done) => (typeof done === "object" && done !== null ? undefined : fail("nothing was patched")),
  });
}

interface Chat {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

export function openaiAgents(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: async (task) => {
      // Not exported, so it is taken from the file: there is no other pairing guard in the package.
      const inside = new URL(`${AGENTS}/dist/runner/items.mjs`, new URL("../../node_modules/", import.meta.url));
      const { dropOrphanToolCalls } = await peer<{ dropOrphanToolCalls: (items: object[]) => object[] }>(
        pathToFileURL(fileURLToPath(inside)).href,
      );
      const items = history(task).map((item): object => {
        if (item.kind === "call")
          return { type: "function_call", callId: item.callId, name: item.name, arguments: "{}", status: "completed" };
        if (item.kind === "output")
          return {
            type: "function_call_result",
            callId: item.callId,
            name: "read_file",
            status: "completed",
            output: { type: "text", text: "ok" },
          };
        return { type: "message", role: item.kind === "user" ? "user" : "assistant", content: [] };
      });
      return { dropOrphanToolCalls, items };
    },
    run: ({ dropOrphanToolCalls, items }) => dropOrphanToolCalls(items),
    verify: (done, { items }) => (done.length < items.length ? undefined : fail("nothing was dropped")),
  });
}

/** The SDK stops at the first missing result, so it is given a valid history: what its guard costs when all is well. */
export function aiSdk(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: async (task) => {
      const { generateText } = await peer<{ generateText: (options: object) => Promise<{ readonly text: string }> }>(
        "ai",
      );
      const { MockLanguageModelV4 } = await peer<{ MockLanguageModelV4: new (options: object) => object }>("ai/test");
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
      const model = new MockLanguageModelV4({
        doGenerate: async () => ({
          content: [{ type: "text", text: "ok" }],
          finishReason: { unified: "stop" },
          usage,
          warnings: [],
        }),
      });
      return { generateText, model, messages: writeMessages(history(task, false), "ai-sdk").messages };
    },
    run: ({ generateText, model, messages }) => generateText({ model, messages }),
    verify: ({ text }) => (text === "ok" ? undefined : fail("no answer")),
  });
}

function fail(why: string): never {
  throw new Error(why);
}
