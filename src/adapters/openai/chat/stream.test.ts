import { expect, test } from "vitest";
import { call, output, user } from "../../../../test/histories/items.ts";
import { PROFILES } from "../../../wire/profiles.ts";
import { answerFrom } from "../../answer.ts";
import type { Writing } from "../writing.ts";
import { chatBody } from "./request.ts";
import { ChatReader } from "./stream.ts";

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason }],
});

function answer(...chunks: readonly object[]) {
  const reader = new ChatReader();
  for (const piece of [...chunks, chunk({}, "stop")]) Array.from(reader.read(piece));
  const draft = reader.draft();
  return answerFrom(draft, draft.stop!, { items: [] });
}

const part = (more: object, name?: string, text = "") => ({
  ...more,
  function: { ...(name === undefined ? {} : { name }), arguments: text },
});
const calls = (...tool_calls: readonly object[]) => chunk({ tool_calls });
const seen = (said: ReturnType<typeof answer>) =>
  said.calls.map(({ callId, name, input }) => [String(callId), name, input.ok ? input.value : input.text]);

test("[ADAPT-19] servers that count every call as the first are read by id", () => {
  const said = answer(
    calls(part({ index: 0, id: "a" }, "grep", '{"n"')),
    calls(part({ index: 0 }, undefined, ": 1}")),
    calls(part({ index: 0, id: "b" }, "read", '{"n": 2}')),
  );
  expect(seen(said)).toEqual([
    ["a", "grep", { n: 1 }],
    ["b", "read", { n: 2 }],
  ]);
  expect(said.stop).toBe("tool-calls"); // although the server said stop
});

test("[ADAPT-19] servers that do not count are read by name", () => {
  const said = answer(
    calls(part({ id: "a" }, "grep", "{")),
    calls(part({}, undefined, "}")),
    calls(part({ id: "b" }, "grep", "{}")),
  );
  expect(seen(said)).toEqual([
    ["a", "grep", {}],
    ["b", "grep", {}],
  ]);
});

test("[ADAPT-19] an id that comes late, or again with every piece, opens no second call", () => {
  const late = answer(calls(part({ index: 0 }, "grep", "{")), calls(part({ index: 0, id: "a" }, undefined, "}")));
  expect(seen(late)).toEqual([["a", "grep", {}]]);
  const again = answer(
    calls(part({ index: 0, id: "a" }, "grep", "{")),
    calls(part({ index: 0, id: "a" }, undefined, "}")),
  );
  expect(seen(again)).toEqual([["a", "grep", {}]]);
});

test("[ADAPT-19] calls whose pieces come interleaved are put together", () => {
  const said = answer(
    calls(part({ index: 0, id: "a" }, "grep"), part({ index: 1, id: "b" }, "read")),
    calls(part({ index: 1 }, undefined, '{"n": 2}'), part({ index: 0 }, undefined, '{"n": 1}')),
  );
  expect(seen(said)).toEqual([
    ["a", "grep", { n: 1 }],
    ["b", "read", { n: 2 }],
  ]);
});

test("[ADAPT-34] calls under one number whose pieces come interleaved are put together by their ids", () => {
  const said = answer(
    calls(part({ index: 0, id: "a" }, "grep", '{"n"'), part({ index: 0, id: "b" }, "read", '{"m"')),
    calls(part({ index: 0, id: "a" }, undefined, ": 1"), part({ index: 0, id: "b" }, undefined, ": 2")),
    calls(part({ index: 0, id: "a" }, undefined, "}")),
    calls(part({ index: 0, id: "b" }, undefined, "")),
    calls(part({ index: 0 }, undefined, "}")), // without an id it goes on with the call that spoke last
  );
  expect(seen(said)).toEqual([
    ["a", "grep", { n: 1 }],
    ["b", "read", { m: 2 }],
  ]);
});

test("[ADAPT-34] calls that nobody counted are put together by their ids", () => {
  const said = answer(
    calls(part({ id: "a" }, "grep", '{"n"'), part({ id: "b" }, "read", '{"m"')),
    calls(part({ id: "a" }, undefined, ": 1}"), part({ id: "b" }, undefined, ": 2}")),
  );
  expect(seen(said)).toEqual([
    ["a", "grep", { n: 1 }],
    ["b", "read", { m: 2 }],
  ]);
});

test("[ADAPT-8] two calls under one id that are counted apart stay two", () => {
  const said = answer(
    calls(part({ index: 0, id: "a" }, "grep", '{"n": 1}')),
    calls(part({ index: 1, id: "a" }, "grep", '{"n": 2}')),
    calls(part({ index: 1, id: "a" }, undefined, " ")),
  );
  expect(said.calls.map(({ input }) => input)).toEqual([
    { ok: true, value: { n: 1 } },
    { ok: true, value: { n: 2 } },
  ]);
});

test("[ADAPT-19] custom calls keep their text, unknown fields are carried, unknown values are named", () => {
  const said = answer(
    calls({ index: 0, id: "a", type: "custom", custom: { name: "patch", input: "*** " } }),
    calls({ index: 0, custom: { input: "Begin" } }),
    chunk({ novel: "kept", audio: { id: "x" } }),
  );
  expect(said.calls[0]).toMatchObject({ callKind: "custom", input: { ok: true, value: "*** Begin" } });
  expect(said.items[0]?.origin?.message).toMatchObject({ novel: "kept" });
  expect(said.unread).toEqual(["audio"]);
});

test("[ADAPT-29] arguments that a server sends as an object are the call's, in pieces and whole", () => {
  const asked = { id: "a", type: "function", function: { name: "grep", arguments: { n: 1 } } };
  const whole = { id: "c", choices: [{ message: { role: "assistant", content: null, tool_calls: [asked] } }] };
  for (const piece of [calls({ index: 0, ...asked }), whole]) {
    expect(seen(answer(piece))).toEqual([["a", "grep", { n: 1 }]]);
    const told = [...new ChatReader().read(piece)];
    expect(told).toEqual([{ kind: "call-delta", index: 0, name: "grep", arguments: '{"n":1}' }]);
  }
});

test("[ADAPT-5] a seal beside a call or behind a text is carried, also in pieces", () => {
  const seal = (text: string) => ({ extra_content: { google: { thought_signature: text } } });
  const called = answer(
    calls({ ...part({ index: 0, id: "a" }, "grep", "{"), ...seal("s1") }),
    calls(part({ index: 0 }, undefined, "}")),
  );
  expect(called.items[0]?.origin?.pieces).toEqual([
    { id: "a", type: "function", function: { name: "grep", arguments: "{}" }, ...seal("s1") },
  ]);
  const spoken = answer(chunk({ content: "So." }), chunk({ content: "", ...seal("s2") }));
  expect(spoken.items[0]?.origin?.message).toEqual({ role: "assistant", content: "So.", ...seal("s2") });
  expect([...called.unread, ...spoken.unread]).toEqual([]);
});

const how: Writing = {
  model: "m",
  profile: PROFILES["openai-chat"],
  stream: true,
  sealedReasoning: true,
  echoReasoning: false,
  limitField: "max_tokens",
  body: { prompt_cache_key: "k" },
};

test("[ADAPT-5] reasoning beside a chat answer is kept with it, and sent only to servers that ask for it", () => {
  const { items } = answer(chunk({ reasoning_content: "hm" }), chunk({ content: "well" }));
  expect(items.map((item) => item.kind)).toEqual(["reasoning", "assistant"]);
  const sent = (echoReasoning: boolean) =>
    (chatBody({ items: [user(), ...items, user()] }, { ...how, echoReasoning }) as { messages: readonly object[] })
      .messages[1];
  expect(sent(false)).toEqual({ role: "assistant", content: "well" });
  expect(sent(true)).toEqual({ role: "assistant", content: "well", reasoning_content: "hm" });
});

test("[ADAPT-1] every part of a request is written in the provider's words, and further fields win", () => {
  const items = [user(), call("c1"), output("c1")];
  const tools = [{ name: "read_file", description: "Reads.", input: { type: "object" } }];
  const request = {
    items,
    tools,
    toolChoice: { name: "read_file" },
    maxOutputTokens: 9,
    temperature: 0,
    reasoning: "low",
  } as const;
  expect(chatBody(request, how)).toMatchObject({
    model: "m",
    tools: [
      { type: "function", function: { name: "read_file", description: "Reads.", parameters: { type: "object" } } },
    ],
    tool_choice: { type: "function", function: { name: "read_file" } },
    max_tokens: 9,
    temperature: 0,
    reasoning_effort: "low",
    prompt_cache_key: "k",
    stream: true,
  });
});
