import { Anthropic } from "@anthropic-ai/sdk";
import { OpenAI } from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { call, output, say, user } from "../../../test/histories/items.ts";
import { PROFILES, readMessages, writeMessages } from "../../index.ts";
import { replayScript } from "./replay.ts";
import { startProviderServer } from "./server.ts";

const server = await startProviderServer({ script: () => ({ text: "ok" }), apiKey: "right", contextTokens: 4000 });
afterAll(() => server.close());

const options = { maxRetries: 0, logLevel: "off" } as const;
const openai = new OpenAI({ ...options, apiKey: "right", baseURL: `${server.url}/v1` });
const anthropic = new Anthropic({ ...options, apiKey: "right", baseURL: server.url });

/** A request in each provider's shape, sent by its official SDK, unrepaired. */
const SEND = {
  "openai-chat": (messages: readonly object[], more: object = {}) =>
    openai.chat.completions.create({ model: "m", messages, ...more } as never),
  "openai-responses": (input: readonly object[], more: object = {}) =>
    openai.responses.create({ model: "m", input, ...more } as never),
  anthropic: (messages: readonly object[], more: object = {}) =>
    anthropic.messages.create({ model: "m", max_tokens: 10, messages, ...more } as never),
} as const;
type Spoken = keyof typeof SEND;
const SPOKEN = Object.keys(SEND) as readonly Spoken[];

interface Thrown {
  readonly status: number;
  readonly error: { readonly message?: string; readonly type?: string; readonly error?: { readonly message: string } };
}

async function refusal(send: PromiseLike<unknown>): Promise<readonly [number, string]> {
  const thrown = await Promise.resolve(send).then(
    () => undefined,
    (error: unknown) => error as Thrown,
  );
  return [thrown?.status ?? 200, thrown?.error?.error?.message ?? thrown?.error?.message ?? ""];
}

const A = call("c1", { step: 1 });
const BROKEN = {
  "missing result": [user(), A, user("well?")],
  "orphan result": [user(), output("c9"), user("well?")],
  "result before its call": [user(), output("c1"), A, user("well?")],
  "two results": [user(), A, output("c1"), output("c1"), user("well?")],
} as const;

/** The words of each provider for the same fault. */
const WORDS: Readonly<Record<Spoken, Readonly<Record<keyof typeof BROKEN, RegExp>>>> = {
  "openai-chat": {
    "missing result": /must be followed by tool messages responding to each 'tool_call_id'.*c1/,
    "orphan result": /messages with role 'tool' must be a response to a preceeding message with 'tool_calls'/,
    "result before its call": /must be (followed|a response)/,
    "two results": /must be a response to a preceeding/,
  },
  "openai-responses": {
    "missing result": /No tool output found for function call c1/,
    "orphan result": /No tool call found for function call output with call_id c9/,
    "result before its call": /No tool (call|output) found/,
    "two results": /Duplicate function_call_output for call_id c1/,
  },
  anthropic: {
    "missing result": /messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: c1/,
    "orphan result": /unexpected `tool_use_id` found in `tool_result` blocks: c9/,
    "result before its call": /`tool_use/,
    "two results": /each tool_use must have a single result/,
  },
};

describe.each(SPOKEN)("%s", (spoken) => {
  const shaped = (items: Parameters<typeof writeMessages>[0]) =>
    JSON.parse(JSON.stringify(writeMessages(items, { ...PROFILES[spoken], userFirst: false }).messages)) as object[];

  test.each(Object.keys(BROKEN) as (keyof typeof BROKEN)[])(
    "[ADAPT-16] refuses a %s in the provider's words",
    async (name) => {
      const [status, message] = await refusal(SEND[spoken](shaped(BROKEN[name])));
      expect([status, message]).toEqual([400, expect.stringMatching(WORDS[spoken][name])]);
      expect(server.requests.at(-1)).toMatchObject({ status: 400, profile: spoken, refusal: message });
      expect(server.requests.at(-1)?.rules.length).toBeGreaterThan(0);
    },
  );

  test("[ADAPT-16] takes the same conversation when it is whole, and keeps what was sent", async () => {
    const messages = shaped([user(), A, output("c1"), say("done", { step: 2 }), user("thanks")]);
    expect(await refusal(SEND[spoken](messages))).toEqual([200, ""]);
    expect(server.requests.at(-1)).toMatchObject({ status: 200, rules: [] });
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("result of c1");
  });

  test("[ADAPT-16] refuses what does not fit its context, and a broken body", async () => {
    const [status, message] = await refusal(SEND[spoken]([{ role: "user", content: "x".repeat(20_000) }]));
    expect([status, message]).toEqual([400, expect.stringMatching(/maximum context length|prompt is too long/)]);
    const path = server.requests.at(-1)!.path;
    const headers = { authorization: "Bearer right", "anthropic-version": "2026-10-21" };
    const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body: "{" });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("invalid_request_error")]);
  });

  test("[ADAPT-16] refuses a wrong key and none", async () => {
    const path = { "openai-chat": "chat/completions", "openai-responses": "responses", anthropic: "messages" }[spoken];
    for (const headers of [{}, { authorization: "Bearer wrong" }]) {
      const response = await fetch(`${server.url}/v1/${path}`, { method: "POST", headers, body: "{}" });
      expect(response.status).toBe(401);
      expect(await response.json()).toHaveProperty("error.message");
    }
  });
});

const u = { role: "user", content: "hi" };

test.each([
  ["messages: at least one message is required", SEND.anthropic, [], {}],
  ["max_tokens: Field required", SEND.anthropic, [u], { max_tokens: undefined }],
  ["messages.0.id: Extra inputs are not permitted", SEND.anthropic, [{ ...u, id: "x" }], {}],
  [
    "messages.0.content.0.text.novel: Extra inputs",
    SEND.anthropic,
    [{ role: "user", content: [{ type: "text", text: "x", novel: 1 }] }],
    {},
  ],
  [
    "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
    SEND.anthropic,
    [
      u,
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "", is_error: true }] },
    ],
    {},
  ],
  [
    "Invalid `signature` in `thinking` block",
    SEND.anthropic,
    [
      u,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "forged" },
          { type: "text", text: "x" },
        ],
      },
      u,
    ],
    {},
  ],
  [
    "A maximum of 4 blocks with cache_control",
    SEND.anthropic,
    [
      {
        role: "user",
        content: Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })),
      },
    ],
    {},
  ],
  [
    "must be greater than `thinking.budget_tokens`",
    SEND.anthropic,
    [u],
    { max_tokens: 1024, thinking: { type: "enabled", budget_tokens: 1024 } },
  ],
  ["greater than or equal to 1024", SEND.anthropic, [u], { thinking: { type: "enabled", budget_tokens: 5 } }],
  [
    "tools.0.custom.name: String should match pattern",
    SEND.anthropic,
    [u],
    { tools: [{ name: "a b", input_schema: { type: "object" } }] },
  ],
  [
    "tools.0.custom.input_schema.type: Field required",
    SEND.anthropic,
    [u],
    { tools: [{ name: "ab", input_schema: {} }] },
  ],
  ["`tools` must be defined", SEND.anthropic, [u], { tool_choice: { type: "auto" } }],
  ["Invalid 'messages': empty array", SEND["openai-chat"], [], {}],
  ["expected a string, got null", SEND["openai-chat"], [u, { role: "assistant", content: null }], {}],
  ["'stream_options' parameter is only allowed", SEND["openai-chat"], [u], { stream_options: { include_usage: true } }],
  [
    "Invalid 'tools[0].function.name'",
    SEND["openai-chat"],
    [u],
    { tools: [{ type: "function", function: { name: "a b" } }] },
  ],
  ["'tool_choice' is only allowed when 'tools'", SEND["openai-chat"], [u], { tool_choice: "auto" }],
  ["'max_tokens' and 'max_completion_tokens'", SEND["openai-chat"], [u], { max_tokens: 1, max_completion_tokens: 1 }],
  [
    "Items are not persisted when `store` is set to false",
    SEND["openai-responses"],
    [u, { type: "reasoning", id: "rs_1", summary: [] }, { role: "assistant", content: "x" }],
    { store: false },
  ],
  [
    "could not be verified",
    SEND["openai-responses"],
    [
      u,
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "forged" },
      { role: "assistant", content: "x" },
    ],
    {},
  ],
  ["Invalid 'tools[0].name'", SEND["openai-responses"], [u], { tools: [{ type: "function", name: "a b" }] }],
] as const)("[ADAPT-16] refuses a body for: %s", async (words, send, messages, more) => {
  expect(await refusal(send(messages, more))).toEqual([400, expect.stringContaining(words)]);
});

test("[ADAPT-16] what it does not serve is not found, and a script that has run out says so", async () => {
  expect((await fetch(`${server.url}/v1/images`, { method: "POST", body: "{}" })).status).toBe(404);
  await using short = await startProviderServer({ script: [] });
  const client = new OpenAI({ ...options, apiKey: "k", baseURL: `${short.url}/v1` });
  const [status, message] = await refusal(client.responses.create({ model: "m", input: "hi" }));
  expect([status, message]).toEqual([500, expect.stringContaining("asked more often")]);
});

test("[ADAPT-16] two questions at once get two steps, and closing it drops whoever still waits", async () => {
  const other = await startProviderServer({ script: [{ text: "one" }, { text: "two" }, { fault: "silent" }] });
  const client = new OpenAI({ ...options, apiKey: "k", baseURL: `${other.url}/v1` });
  const ask = () => client.responses.create({ model: "m", input: "hi" });
  const texts = await Promise.all([ask(), ask()]).then((all) => all.map((response) => response.output_text));
  expect(texts.toSorted()).toEqual(["one", "two"]);
  const waiting = ask();
  while (other.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
  await Promise.all([expect(waiting).rejects.toThrow("Connection error"), other.close()]);
  await expect(fetch(other.url)).rejects.toThrow("fetch failed");
});

test("[ADAPT-16] one that runs for long remembers only as many requests as it was told to", async () => {
  const long = await startProviderServer({ script: () => ({ text: "ok" }), remember: 2 });
  const client = new OpenAI({ ...options, apiKey: "k", baseURL: `${long.url}/v1` });
  for (const input of ["1", "2", "3"]) await client.responses.create({ model: "m", input });
  expect(long.requests.map(({ body }) => (body as { input: string }).input)).toEqual(["2", "3"]);
  await long.close();
});

test("[ADAPT-17] a conversation that happened becomes the script of its answers", () => {
  const { items } = readMessages(
    [
      { role: "user", content: "find it" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "t1", name: "grep", input: { n: 1 } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "found" }] },
      { role: "assistant", content: "There." },
      { role: "assistant", content: "And there." },
    ],
    "anthropic",
  );
  expect(replayScript(items)).toEqual([
    { reasoning: "hm", text: "Looking.", calls: [{ name: "grep", input: { n: 1 }, id: "t1" }] },
    { text: "There." },
    { text: "And there." },
  ]);
});

test("[ADAPT-17] calls that say little are replayed with what they say", () => {
  const { input: _input, callId: _id, ...bare } = call("x", { step: 1 });
  const cut = call("y", { step: 2, inputText: '{"path": "a' });
  expect(replayScript([user(), bare, output("x"), cut, output("y")])).toEqual([
    { calls: [{ name: "read_file", input: {} }] },
    { calls: [{ name: "read_file", inputText: '{"path": "a', id: "y" }] },
  ]);
});

describe("a body that no provider would read", () => {
  const PATHS = { chat: "/v1/chat/completions", responses: "/v1/responses", anthropic: "/v1/messages" } as const;
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer right",
    "anthropic-version": "2023-06-01",
  };
  const post = async (path: keyof typeof PATHS, body: object, more: object = headers) => {
    const sent = { method: "POST", headers: more as Record<string, string>, body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${PATHS[path]}`, sent);
    const said = (await response.json()) as { error?: { message?: string } };
    return [response.status, said.error?.message ?? ""] as const;
  };
  const go = [{ role: "user", content: "go" }];
  const thinking = { type: "enabled", budget_tokens: 2_000 };
  const now = { name: "now", input_schema: { type: "object" } };
  const claude = { model: "m", max_tokens: 4_000, messages: go };
  const flat = (parameters: object) => ({ type: "function", name: "now", parameters });
  const nested = (parameters: object) => ({ type: "function", function: { name: "now", parameters } });

  test.each<readonly [keyof typeof PATHS, object, RegExp]>([
    ["chat", { messages: go }, /must provide a model/],
    ["chat", { model: "m" }, /'messages'/],
    ["chat", { model: "m", messages: go, tools: [] }, /Invalid 'tools': empty array/],
    ["chat", { model: "m", messages: go, tools: [{ type: "function" }] }, /tools\[0\]\.function\.name/],
    [
      "chat",
      { model: "m", messages: [...go, { role: "assistant", content: "a", tool_calls: [] }] },
      /tool_calls': empty array/,
    ],
    ["chat", { model: "m", messages: go, tools: [nested({ type: "object" })] }, /object schema missing properties/],
    ["chat", { model: "m", messages: go, tools: [nested({ properties: {} })] }, /got 'type: "None"'/],
    ["responses", { model: "m", input: "go", tools: [flat({ type: "object" })] }, /object schema missing properties/],
    ["responses", { model: "m", input: "go", tools: [flat({ type: "array" })] }, /got 'type: "array"'/],
    ["responses", { input: "go" }, /'model'/],
    ["responses", { model: "m" }, /'input'/],
    ["anthropic", { ...claude, model: undefined }, /model: Field required/],
    ["anthropic", { ...claude, messages: undefined }, /messages: Field required/],
    [
      "anthropic",
      { ...claude, thinking, tools: [{ name: "a", input_schema: { type: "object" } }], tool_choice: { type: "any" } },
      /forces tool use/,
    ],
    ["anthropic", { ...claude, thinking, temperature: 0 }, /may only be set to 1/],
    [
      "anthropic",
      {
        ...claude,
        messages: [
          ...go,
          { role: "assistant", content: [{ type: "redacted_thinking", data: "x", cache_control: {} }] },
          ...go,
        ],
      },
      /thinking blocks/,
    ],
    ["anthropic", { ...claude, system: [{ type: "text", text: "", cache_control: {} }] }, /empty text blocks/],
  ])("[ADAPT-16] %s is refused in the provider's words (%#)", async (path, body, words) => {
    expect(await post(path, body)).toEqual([400, expect.stringMatching(words)]);
    expect(server.requests.at(-1)).toMatchObject({ status: 400 });
  });

  test.each<readonly [keyof typeof PATHS, object, RegExp]>([
    ["chat", { messages: [{ role: "user", content: [{ type: "image", source: {} }] }] }, /'image'.*'image_url'/],
    ["chat", { messages: [{ role: "user", content: [{ type: "input_text", text: "x" }] }] }, /content\[0\]\.type/],
    ["responses", { input: [{ role: "user", content: [{ type: "text", text: "x" }] }] }, /'text'.*'input_text'/],
    ["anthropic", { messages: [{ role: "user", content: [{ type: "image_url" }] }] }, /Input tag 'image_url'/],
    ["anthropic", { messages: [{ role: "user", content: [{ type: "constructor" }] }] }, /Input tag 'constructor'/],
    [
      "anthropic",
      { messages: [{ role: "user", content: [{ text: "x" }] }] },
      /messages\.0\.content\.0\.type: Field required/,
    ],
    [
      "anthropic",
      {
        messages: [
          ...go,
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "now", input: {} }] },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "input_image" }] }],
          },
        ],
      },
      /messages\.2\.content\.0\.content\.0: Input tag 'input_image'/,
    ],
  ])("[ADAPT-26] %s refuses parts of a type that it does not know (%#)", async (path, body, words) => {
    const whole = path === "anthropic" ? { ...claude, ...body } : { model: "m", ...body };
    expect(await post(path, whole)).toEqual([400, expect.stringMatching(words)]);
  });

  test.each<readonly [keyof typeof PATHS, object, RegExp]>([
    ["chat", { messages: go, tool_chioce: "auto" }, /^Unrecognized request argument supplied: tool_chioce$/],
    ["responses", { input: go, max_tokens: 10 }, /^Unknown parameter: 'max_tokens'\.$/],
    ["anthropic", { response_format: {} }, /^response_format: Extra inputs are not permitted$/],
    ["anthropic", { tools: [{ ...now, parameters: {} }] }, /^tools\.0\.custom\.parameters: Extra inputs are not/],
    ["anthropic", { tools: [now, { ...now, description: "again" }] }, /^tools: Tool names must be unique\.$/],
  ])(
    "[ADAPT-32] %s refuses fields that it does not know, and Anthropic two tools of one name (%#)",
    async (...given) => {
      const [path, body, words] = given;
      const whole = path === "anthropic" ? { ...claude, ...body } : { model: "m", ...body };
      expect(await post(path, whole)).toEqual([400, expect.stringMatching(words)]);
    },
  );

  test("[ADAPT-32] a server that only speaks OpenAI's language takes fields of its own", async () => {
    await using other = await startProviderServer({ script: [{ text: "hi" }], compatible: true });
    const body = JSON.stringify({ model: "m", messages: go, repetition_penalty: 1.1 });
    const { status } = await fetch(`${other.url}${PATHS.chat}`, { method: "POST", headers, body });
    expect(status).toBe(200);
  });

  test("[ADAPT-33] the provider's own tools need no schema, and those of a server no name", async () => {
    const tools = [
      { type: "web_search_20250305", name: "web_search", max_uses: 2 },
      { type: "mcp_toolset", mcp_server_name: "files" },
      { type: "mcp_toolset", mcp_server_name: "mail" },
    ];
    expect(await post("anthropic", { ...claude, tools })).toEqual([200, ""]);
  });

  test("[ADAPT-25] outputs of calls that the provider keeps are taken where the body goes on from them", async () => {
    const input = [{ type: "function_call_output", call_id: "call_1", output: "done" }];
    for (const kept of [{ previous_response_id: "resp_1" }, { conversation: { id: "conv_1" } }])
      expect(await post("responses", { model: "m", input, ...kept })).toEqual([200, ""]);
    expect(await post("responses", { model: "m", input })).toEqual([400, expect.stringContaining("call_1")]);
  });

  test("[ADAPT-25] a script that answers without a thought is taken back, also with thinking on", async () => {
    const messages = [
      ...go,
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "now", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "noon" }] },
    ];
    expect(await post("anthropic", { ...claude, messages, thinking })).toEqual([200, ""]);
  });

  test("[ADAPT-16] what is stored at the provider needs no seal, instructions may be a text, and a version must be named", async () => {
    const input = [
      ...go,
      { type: "reasoning", id: "rs", summary: [] },
      { type: "message", role: "assistant", content: "a" },
      ...go,
    ];
    expect(await post("responses", { model: "m", input, instructions: "be good" })).toEqual([200, ""]);
    expect(await post("responses", { model: "m", input, store: false })).toEqual([
      400,
      expect.stringContaining("not persisted"),
    ]);
    expect(await post("anthropic", { ...claude, system: "be good" })).toEqual([200, ""]);
    const { "anthropic-version": _version, ...without } = headers;
    expect(await post("anthropic", claude, without)).toEqual([400, expect.stringContaining("anthropic-version")]);
  });
});
