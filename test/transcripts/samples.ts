import type { FormatId } from "../../src/transcripts/format.ts";

/** A conversation as a script, and how each format writes it down. All of it is made up here. */
export type Step =
  | { readonly say: "user" | "assistant"; readonly text: string }
  | { readonly call: readonly { readonly id: string; readonly name: string }[]; readonly text?: string }
  | { readonly output: string; readonly name: string; readonly text: string };

export interface Sample {
  /** Outputs are elements of their own, so that they can stand anywhere. */
  readonly apart: boolean;
  readonly lines: boolean;
  readonly write: (steps: readonly Step[]) => string;
}

const AT = "2026-03-01T10:00:00.000Z";

type Value = Readonly<Record<string, unknown>>;

/** One element for each step. */
function each(steps: readonly Step[], write: (step: Step, nth: number) => Value): readonly Value[] {
  return steps.map(write);
}

function jsonl(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Chained records: each hangs on the one before it. */
function chained(records: readonly Value[], id: string, parent: string): readonly Value[] {
  return records.map((record, nth) => ({
    [parent]: nth === 0 ? null : `record-${nth - 1}`,
    ...record,
    [id]: `record-${nth}`,
  }));
}

/** For formats that keep an output inside its call: the outputs of a script, by call. */
function inside(steps: readonly Step[]): ReadonlyMap<string, string> {
  return new Map(steps.flatMap((step) => ("output" in step ? [[step.output, step.text] as const] : [])));
}

function spoken(steps: readonly Step[]): readonly Exclude<Step, { readonly output: string }>[] {
  return steps.flatMap((step) => ("output" in step ? [] : [step]));
}

const anthropic = (step: Step): Value => {
  if ("say" in step) return { role: step.say, content: [{ type: "text", text: step.text }] };
  if ("output" in step) {
    return { role: "user", content: [{ type: "tool_result", tool_use_id: step.output, content: step.text }] };
  }
  const text = step.text === undefined ? [] : [{ type: "text", text: step.text }];
  const calls = step.call.map(({ id, name }) => ({ type: "tool_use", id, name, input: { path: "a.txt" } }));
  return { role: "assistant", content: [...text, ...calls] };
};

const chat = (step: Step): Value => {
  if ("say" in step) return { role: step.say, content: step.text };
  if ("output" in step) return { role: "tool", tool_call_id: step.output, content: step.text };
  const calls = step.call.map(({ id, name }) => ({ id, type: "function", function: { name, arguments: '{"p":1}' } }));
  return { role: "assistant", content: step.text ?? null, tool_calls: calls };
};

const responses = (step: Step): readonly Value[] => {
  if ("say" in step) {
    const type = step.say === "user" ? "input_text" : "output_text";
    return [{ type: "message", role: step.say, content: [{ type, text: step.text }] }];
  }
  if ("output" in step) return [{ type: "function_call_output", call_id: step.output, output: step.text }];
  return step.call.map(({ id, name }) => ({ type: "function_call", name, arguments: "{}", call_id: id }));
};

const agents = (step: Step): readonly Value[] => {
  if ("say" in step) return [{ type: "message", role: step.say, content: step.text }];
  if ("output" in step) {
    const { output: callId, name, text } = step;
    return [{ type: "function_call_result", name, callId, status: "completed", output: { type: "text", text } }];
  }
  return step.call.map(({ id, name }) => ({
    type: "function_call",
    name,
    callId: id,
    arguments: "{}",
    status: "completed",
  }));
};

const model = (step: Step): Value => {
  if ("say" in step) return { role: step.say, content: [{ type: "text", text: step.text }] };
  if ("output" in step) {
    const { output: toolCallId, name: toolName, text: value } = step;
    return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }] };
  }
  const calls = step.call.map(({ id, name }) => ({ type: "tool-call", toolCallId: id, toolName: name, input: {} }));
  return { role: "assistant", content: [{ type: "text", text: step.text ?? "so" }, ...calls] };
};

export const SAMPLES: Readonly<Record<FormatId, Sample>> = {
  "claude-code": {
    apart: true,
    lines: true,
    write: (steps) => {
      const shell = { isSidechain: false, userType: "external", cwd: "/w", sessionId: "s", version: "2.1.0" };
      const records = each(steps, (step, nth) => {
        const message = anthropic(step);
        const answer = message["role"] === "assistant" ? { id: `msg_${nth}`, type: "message" } : {};
        return { ...shell, type: message["role"], message: { ...answer, ...message }, timestamp: AT };
      });
      const first = { type: "file-history-snapshot", messageId: "m", snapshot: {}, isSnapshotUpdate: false };
      return jsonl([first, ...chained(records, "uuid", "parentUuid")]);
    },
  },
  "codex-rollout": {
    apart: true,
    lines: true,
    write: (steps) => {
      const head = { timestamp: AT, type: "session_meta", payload: { id: "s", cwd: "/w", cli_version: "0.1" } };
      const items = steps.flatMap(responses).map((payload) => ({ timestamp: AT, type: "response_item", payload }));
      return jsonl([head, { timestamp: AT, type: "event_msg", payload: { type: "task_started" } }, ...items]);
    },
  },
  "copilot-cli-events": {
    apart: true,
    lines: true,
    write: (steps) => {
      const start = { type: "session.start", data: { sessionId: "s", version: 1 }, timestamp: AT };
      const events = each(steps, (step): Value => {
        if ("say" in step) return { type: `${step.say}.message`, data: { content: step.text }, timestamp: AT };
        if ("output" in step) {
          const data = { toolCallId: step.output, success: true, result: { content: step.text } };
          return { type: "tool.execution_complete", data, timestamp: AT };
        }
        const toolRequests = step.call.map(({ id, name }) => ({
          toolCallId: id,
          name,
          arguments: {},
          type: "function",
        }));
        return { type: "assistant.message", data: { content: step.text ?? "", toolRequests }, timestamp: AT };
      });
      return jsonl(chained([start, ...events], "id", "parentId"));
    },
  },
  "pi-session": {
    apart: true,
    lines: true,
    write: (steps) => {
      const entries = each(steps, (step) => {
        const content = (text: string) => [{ type: "text", text }];
        if ("say" in step) return entry({ role: step.say, content: content(step.text), stopReason: "stop" });
        if ("output" in step) {
          const { output: toolCallId, name: toolName, text } = step;
          return entry({ role: "toolResult", toolCallId, toolName, content: content(text), isError: false });
        }
        const calls = step.call.map(({ id, name }) => ({ type: "toolCall", id, name, arguments: {} }));
        return entry({ role: "assistant", content: [...content(step.text ?? "so"), ...calls], stopReason: "toolUse" });
      });
      return jsonl([
        { type: "session", version: 3, id: "s", timestamp: AT, cwd: "/w" },
        ...chained(entries, "id", "parentId"),
      ]);
      function entry(message: Value): Value {
        return { type: "message", timestamp: AT, message };
      }
    },
  },
  "gemini-cli-chat": {
    apart: false,
    lines: false,
    write: (steps) => {
      const results = inside(steps);
      const messages = spoken(steps).map((step, nth) => {
        const head = { id: `m${nth}`, timestamp: AT };
        if ("say" in step) return { ...head, type: step.say === "user" ? "user" : "gemini", content: step.text };
        const toolCalls = step.call.map(({ id, name }) => {
          const output = results.get(id);
          const result = [{ functionResponse: { id, name, response: { output } } }];
          return {
            id,
            name,
            args: {},
            ...(output === undefined ? { status: "executing" } : { result, status: "success" }),
          };
        });
        return { ...head, type: "gemini", content: step.text ?? "", toolCalls };
      });
      return JSON.stringify({ sessionId: "s", projectHash: "h", startTime: AT, messages }, null, 2);
    },
  },
  "opencode-export": {
    apart: false,
    lines: false,
    write: (steps) => {
      const results = inside(steps);
      const messages = spoken(steps).map((step, nth) => {
        const role = "say" in step ? step.say : "assistant";
        const parts =
          "say" in step
            ? [{ type: "text", text: step.text }]
            : step.call.map(({ id, name }) => {
                const output = results.get(id);
                const state =
                  output === undefined
                    ? { status: "running", input: { a: 1 } }
                    : { status: "completed", input: {}, output };
                return { type: "tool", tool: name, callID: id, state };
              });
        return { info: { id: `msg_${nth}`, role, time: { created: 1 } }, parts };
      });
      return `${JSON.stringify({ info: { id: "ses", version: "1.0.0" }, messages }, null, 2)}\n`;
    },
  },
  "goose-recording": {
    apart: true,
    lines: true,
    write: (steps) => {
      const messages = each(steps, (step, nth) => {
        const head = { id: `g${nth}`, created: 1_700_000_000 + nth };
        if ("say" in step) return { ...head, role: step.say, content: [{ type: "text", text: step.text }] };
        if ("output" in step) {
          const value = { content: [{ type: "text", text: step.text }] };
          return {
            ...head,
            role: "user",
            content: [{ type: "toolResponse", id: step.output, toolResult: { status: "success", value } }],
          };
        }
        const content = step.call.map(({ id, name }) => ({
          type: "toolRequest",
          id,
          toolCall: { status: "success", value: { name, arguments: {} } },
        }));
        return { ...head, role: "assistant", content };
      });
      return jsonl([{ working_dir: "/w", description: "d", message_count: messages.length }, ...messages]);
    },
  },
  "openhands-output": {
    apart: true,
    lines: false,
    write: (steps) => {
      let id = 0;
      const history = steps.flatMap((step): readonly Value[] => {
        const head = { timestamp: AT, message: "…" };
        if ("say" in step) {
          const source = step.say === "user" ? "user" : "agent";
          return [{ id: id++, ...head, source, action: "message", args: { content: step.text } }];
        }
        if ("output" in step) {
          const tool_call_metadata = { function_name: step.name, tool_call_id: step.output };
          return [
            {
              id: id++,
              ...head,
              source: "agent",
              observation: "run",
              content: step.text,
              tool_call_metadata,
              extras: {},
            },
          ];
        }
        const response = `response-${id}`;
        return step.call.map((call) => {
          const tool_call_metadata = {
            function_name: call.name,
            tool_call_id: call.id,
            model_response: { id: response },
          };
          return { id: id++, ...head, source: "agent", action: "run", args: { command: "ls" }, tool_call_metadata };
        });
      });
      return JSON.stringify({ instance_id: "i", instruction: "do", history, metrics: {} });
    },
  },
  "inspect-eval-log": {
    apart: true,
    lines: false,
    write: (steps) => {
      const messages = each(steps, (step) => {
        if ("say" in step) return { id: "i", role: step.say, content: step.text };
        if ("output" in step)
          return { role: "tool", content: step.text, tool_call_id: step.output, function: step.name };
        const tool_calls = step.call.map(({ id, name }) => ({ id, function: name, arguments: {} }));
        return { id: "i", role: "assistant", content: step.text ?? "", tool_calls };
      });
      return JSON.stringify({
        version: 2,
        status: "success",
        eval: { task: "t" },
        samples: [{ id: 1, epoch: 1, messages }],
      });
    },
  },
  "swe-agent": {
    apart: true,
    lines: false,
    write: (steps) => {
      const history = each(steps, (step) => {
        if (!("output" in step)) return { ...chat(step), agent: "main", message_type: "action" };
        return {
          role: "tool",
          content: step.text,
          agent: "main",
          message_type: "observation",
          tool_call_ids: [step.output],
        };
      });
      return JSON.stringify({ trajectory: [], history, info: {} }, null, 2);
    },
  },
  "ai-sdk-ui": {
    apart: false,
    lines: false,
    write: (steps) => {
      const results = inside(steps);
      const messages = spoken(steps).map((step, nth) => {
        if ("say" in step) return { id: `u${nth}`, role: step.say, parts: [{ type: "text", text: step.text }] };
        const tools = step.call.map(({ id: toolCallId, name }) => {
          const output = results.get(toolCallId);
          const state = output === undefined ? { state: "input-available" } : { state: "output-available", output };
          return { type: `tool-${name}`, toolCallId, input: { a: 1 }, ...state };
        });
        return { id: `u${nth}`, role: "assistant", parts: [{ type: "step-start" }, ...tools] };
      });
      return JSON.stringify(messages);
    },
  },
  "ai-sdk-model": { apart: true, lines: false, write: (steps) => JSON.stringify(each(steps, model)) },
  "openai-agents": { apart: true, lines: false, write: (steps) => JSON.stringify(steps.flatMap(agents)) },
  "openai-responses": {
    apart: true,
    lines: false,
    write: (steps) => JSON.stringify({ model: "m", input: steps.flatMap(responses) }),
  },
  "anthropic-messages": {
    apart: true,
    lines: false,
    write: (steps) =>
      JSON.stringify({ model: "claude-m", max_tokens: 9, system: "s", messages: each(steps, anthropic) }, null, 2),
  },
  "openai-chat": {
    apart: true,
    lines: false,
    write: (steps) => JSON.stringify({ model: "m", messages: each(steps, chat) }),
  },
};
