import { expect, test } from "vitest";
import type { Model, SentRequest } from "../../src/contracts/model.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai } from "../../src/adapters/openai/entry.ts";

const request = {
  items: [{ kind: "user", parts: [{ type: "text", text: "go" }] }],
  tools: [{ name: "grep", description: "Searches.", input: { type: "object", properties: { pattern: {} } } }],
} as const;
const key = { model: "m", apiKey: "k" };

/** What the adapter shows of its body; nothing is sent. */
function shownBy(model: Model): SentRequest | undefined {
  let shown: SentRequest | undefined;
  const inspect = (sent: SentRequest) => {
    shown = sent;
    throw new Error("enough");
  };
  expect(() => model.ask(request, { signal: new AbortController().signal, inspect })).toThrow("enough");
  return shown;
}

test.each([
  ["anthropic", (body: object) => anthropic({ ...key, body: body as never }), "mcp_servers"],
  ["openai responses", (body: object) => openai({ ...key, body: body as never }), "instructions"],
  ["openai chat", (body: object) => openai({ ...key, api: "chat", body: body as never }), "functions"],
])(
  "[ALIGN-16] %s shows the body as it is, also where a caller's own fields took the place of ours",
  (_, modelWith, speaking) => {
    const shown = shownBy(modelWith({}));
    expect(shown).toMatchObject({ tools: request.tools, foreign: [] });
    expect([shown?.says?.("go"), shown?.says?.("stay")]).toEqual([true, false]);
    expect(shownBy(modelWith({ [speaking]: [] }))?.foreign).toEqual([speaking]);
    expect(shownBy(modelWith({ tools: [] }))?.tools).toEqual([]);
    expect(shownBy(modelWith({ tools: "none" }))?.tools).toEqual([]);
    const builtIn = { type: "web_search_20250305" };
    expect(shownBy(modelWith({ tools: [builtIn] }))?.tools).toEqual([{ name: "web_search_20250305", input: {} }]);
  },
);

test("[ALIGN-16] a demanded tool is shown by its name, and a general wish is none", () => {
  const choices = {
    anthropic: (choice: object) => anthropic({ ...key, body: { tool_choice: choice as never } }),
    responses: (choice: object) => openai({ ...key, body: { tool_choice: choice as never } }),
    chat: (choice: object) => openai({ ...key, api: "chat", body: { tool_choice: choice as never } }),
  };
  expect(shownBy(choices.anthropic({ type: "tool", name: "rm" }))?.toolChoice).toBe("rm");
  expect(shownBy(choices.anthropic({ type: "any" }))?.toolChoice).toBeUndefined();
  expect(shownBy(choices.responses({ type: "function", name: "rm" }))?.toolChoice).toBe("rm");
  expect(shownBy(choices.chat({ type: "function", function: { name: "rm" } }))?.toolChoice).toBe("rm");
});
