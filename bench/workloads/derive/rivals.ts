import type { Trial } from "../../harness/contract.ts";
import { peer } from "../../harness/peers.ts";
import { defineTrial } from "../../harness/trial.ts";
import { writeMessages } from "../../../src/index.ts";
import { BUDGET, itemsOf } from "./build.ts";

/** Rivals keep nothing between turns: every turn is a pass over all messages, so a few turns tell what one costs. */
const TIMES = 5;

interface Chat {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

type Message = { readonly content: unknown };
type Messages = Readonly<Record<string, new (fields: object) => Message>>;
interface TrimOptions {
  readonly maxTokens: number;
  readonly strategy: "last";
  readonly startOn: string;
  readonly tokenCounter: (messages: readonly Message[]) => number;
}

/** LangChain, with the cheapest counter there is: a quarter of the characters. */
export function trimMessages(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: async (task) => {
      const core = await peer<
        Messages & { trimMessages: (messages: readonly Message[], options: TrimOptions) => Promise<readonly Message[]> }
      >("@langchain/core/messages");
      const { messages } = writeMessages(itemsOf(task.size, task.round + 1), "openai-chat");
      const make = (name: string, fields: object) => new (core[name] as new (fields: object) => Message)(fields);
      const theirs = (messages as readonly Chat[]).map((message) => {
        if (message.role === "tool")
          return make("ToolMessage", { content: message.content, tool_call_id: message.tool_call_id });
        if (message.role === "user") return make("HumanMessage", { content: message.content });
        const calls = message.tool_calls?.map(({ id, function: { name } }) => ({
          id,
          name,
          args: {},
          type: "tool_call",
        }));
        return make("AIMessage", { content: message.content ?? "", tool_calls: calls ?? [] });
      });
      return { trim: core.trimMessages, theirs };
    },
    run: ({ trim, theirs }) =>
      trim(theirs, {
        maxTokens: BUDGET,
        strategy: "last",
        startOn: "human",
        tokenCounter: (messages) => messages.reduce((sum, { content }) => sum + String(content).length / 4, 0),
      }),
    verify: (left, { theirs }) => {
      if (left.length >= theirs.length) throw new Error("nothing was trimmed");
      return undefined;
    },
  });
}

type Prune = (options: {
  readonly messages: readonly object[];
  readonly toolCalls: string;
  readonly reasoning: string;
}) => readonly object[];

/** The AI SDK: drops tool calls by their age. It counts nothing, so it knows no budget. */
export function pruneMessages(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: async (task) => {
      const ai = await peer<{ pruneMessages: Prune }>("ai");
      return {
        prune: ai.pruneMessages,
        messages: writeMessages(itemsOf(task.size, task.round + 1), "ai-sdk").messages,
      };
    },
    run: ({ prune, messages }) => prune({ messages, toolCalls: "before-last-2-messages", reasoning: "none" }),
    verify: (left, { messages }) => {
      if (left.length >= messages.length) throw new Error("nothing was pruned");
      return undefined;
    },
  });
}
