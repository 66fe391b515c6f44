import { inWords } from "../../base/words.ts";
import type { JsonObject } from "../../base/json.ts";
import { isFields } from "../../base/fields.ts";
import type { StandardSchema } from "../../contracts/schema.ts";
import type { ToolAccess } from "../../contracts/tool-access.ts";
import { type Call, checkJson, defineTool, EffectDidNotHappen, type Tool } from "../../index.ts";
import { didNotRun } from "./errors.ts";
import { type McpResult, resultOf, returned, wordsIn } from "./result.ts";
import { callMcp, type McpClient, type McpTool } from "./vendor.ts";

export interface WrapOptions {
  /** The name it is offered under. */
  readonly name: string;
  readonly access: ToolAccess;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
}

const ANY_OBJECT: JsonObject = { type: "object" };
/** Both versions of the client hand their time to a timer that fires at once when it is longer. The call's own ends it then. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The protocol knows no other arguments: whatever else is refused before it is sent, when it surely has not happened. */
const ARGUMENTS: StandardSchema<JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "holdfast",
    validate: (value) => {
      const given = value ?? {};
      return isFields(given) ? { value: given as JsonObject } : { issues: [{ message: "must be an object" }] };
    },
  },
};

/**
 * A server's tool as one of ours. Unless it is known only to read, what it does lies outside every transaction: it is
 * written down before and after, done once for each call, and told as not undone when the call does not succeed.
 */
export function wrapTool(client: McpClient, tool: McpTool, { name, access, timeoutMs }: WrapOptions): Tool {
  const about = {
    name,
    access,
    description: tool.description ?? tool.title ?? "",
    input: ARGUMENTS,
    inputSchema: plain(tool.inputSchema) ?? ANY_OBJECT,
    ...(tool.annotations === undefined ? {} : { annotations: plain(tool.annotations) ?? {} }),
    deadlineMs: timeoutMs,
  };
  const ask = async (args: unknown, signal: AbortSignal, progress: (text: string) => void): Promise<McpResult> => {
    const options = {
      signal,
      timeout: Math.min(timeoutMs, LONGEST_TIMER),
      resetTimeoutOnProgress: true as const,
      onprogress: ({ message }: { readonly message?: string | undefined }) => {
        if (message !== undefined && message !== "") progress(`${message}\n`);
      },
    };
    return resultOf(await callMcp(client, { name: tool.name, arguments: args as Record<string, unknown> }, options));
  };
  if (access === "read")
    return defineTool<JsonObject>({
      ...about,
      run: async (input, call) => {
        try {
          return ended(call, await ask(input, call.signal, (text) => call.progress(text)));
        } catch (error) {
          return call.fail("mcp-failed", inWords(error));
        }
      },
    });
  // What is kept of an effect stays as long as the session, so the answer itself goes another way, to the one call. By its
  // signal: sessions of two stores may follow one server, and their calls may have the same id.
  const answers = new WeakMap<AbortSignal, McpResult>();
  const listeners = new WeakMap<AbortSignal, (text: string) => void>();
  return defineTool<JsonObject>({
    ...about,
    retryable: false, // whatever it may touch: it is done once, and a second attempt would have no answer
    effects: {
      [EFFECT]: {
        run: async (args: JsonObject, { signal }) => {
          try {
            const answer = await ask(args, signal, (text) => listeners.get(signal)?.(text));
            answers.set(signal, answer);
            return { failed: answer.failed };
          } catch (error) {
            if (didNotRun(tool, error)) throw new EffectDidNotHappen(inWords(error), { cause: error });
            throw error;
          }
        },
      },
    },
    run: async (input, call) => {
      listeners.set(call.signal, (text) => call.progress(text));
      try {
        await call.effect(EFFECT, input, { key: call.id });
        const answer = answers.get(call.signal);
        return answer === undefined ? call.fail("mcp-failed", "Its answer is gone.") : ended(call, answer);
      } catch (error) {
        return call.fail("mcp-failed", inWords(error));
      }
    },
  });
}

const EFFECT = "mcp-call";

function ended(call: Call, answer: McpResult): unknown {
  return answer.failed ? call.fail("mcp-error", wordsIn(answer)) : returned(answer);
}

function plain(value: object): JsonObject | undefined {
  const checked = checkJson(value);
  return checked.ok ? (checked.value.value as JsonObject) : undefined;
}
