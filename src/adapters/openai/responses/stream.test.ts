import { expect, test } from "vitest";
import { user } from "../../../../test/histories/items.ts";
import { PROFILES } from "../../../wire/profiles.ts";
import { readMessages } from "../../../wire/project.ts";
import { failureOf } from "../errors.ts";
import type { Writing } from "../writing.ts";
import { responsesBody } from "./request.ts";
import { ResponsesReader } from "./stream.ts";

const how: Writing = {
  model: "m",
  profile: PROFILES["openai-responses"],
  stream: true,
  sealedReasoning: true,
  echoReasoning: false,
  limitField: "max_completion_tokens",
  body: {},
};
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "hi", annotations: [] }],
};

function inputOf(pieces: readonly object[], more: Partial<Writing> = {}): readonly object[] {
  const { items } = readMessages(pieces, "openai-responses");
  return (responsesBody({ items: [user(), ...items, user()] }, { ...how, ...more }) as { input: readonly object[] })
    .input;
}

test("[ADAPT-5] reasoning without its seal is left out, and what followed it loses the name that binds it", () => {
  const sealed = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "seal" };
  expect(inputOf([sealed, message]).slice(1, 3)).toEqual([sealed, message]);
  const { id: _id, ...free } = message;
  expect(inputOf([{ id: "rs_1", type: "reasoning", summary: [] }, message])[1]).toEqual(free);
});

test("[ADAPT-5] sealed reasoning is asked for, except of models that have none, and nothing is left with the provider", () => {
  const body = (sealedReasoning: boolean) => responsesBody({ items: [user()] }, { ...how, sealedReasoning });
  expect(body(true)).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
  expect(body(false)).not.toHaveProperty("include");
});

test("[ADAPT-19] a server whose last event lists no items is read from the items it closed", () => {
  const reader = new ResponsesReader();
  const events = [
    { type: "response.created", response: { id: "resp_1", model: "m", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
    { type: "response.output_item.done", output_index: 0, item: message },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [] } },
  ];
  for (const event of events) Array.from(reader.read(event));
  const { items, stop, id } = reader.draft();
  expect(items[0]?.origin?.message).toBe(message);
  expect([stop?.reason, id]).toEqual(["stop", "resp_1"]);
});

test("[ADAPT-31] reasoning that a server shows as it is, and not in a summary, is told and kept, streamed or whole", () => {
  const thought = { type: "reasoning", id: "rs_1", summary: [] };
  const content = ["First", "Then"].map((text) => ({ type: "reasoning_text", text }));
  const response = { id: "r", object: "response", status: "completed", output: [{ ...thought, content }, message] };
  const streamed = [
    { type: "response.output_item.added", output_index: 0, item: thought },
    ...content.flatMap((part, content_index) => [
      { type: "response.content_part.added", output_index: 0, content_index, part: { ...part, text: "" } },
      { type: "response.reasoning_text.delta", output_index: 0, content_index, delta: part.text },
    ]),
    { type: "response.output_item.done", output_index: 0, item: { ...thought, content } },
    { type: "response.completed", response },
  ];
  for (const pieces of [streamed, [response]]) {
    const reader = new ResponsesReader();
    const told = pieces.flatMap((piece) => [...reader.read(piece)]);
    const texts = told.flatMap((event) => (event.kind === "reasoning-delta" ? [event.text] : []));
    expect(texts.join("")).toBe("First\nThen");
    expect(reader.draft().items[0]).toMatchObject({ kind: "reasoning", text: "First\nThen" });
  }
});

test("[ADAPT-10] a response that failed in the middle is a failure with its code and words, however it is told", () => {
  const error = { code: "rate_limit_exceeded", message: "slow down" };
  for (const event of [
    { type: "response.failed", response: { status: "failed", error } },
    { type: "error", ...error },
  ]) {
    const thrown = catching(() => Array.from(new ResponsesReader().read(event)));
    expect(failureOf(thrown, true)).toMatchObject({ kind: "rate-limited", message: "slow down", reached: "yes" });
  }
});

function catching(run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
}

test("[ADAPT-19] items of a later version are carried back as they came", () => {
  const novel = { id: "nv_1", type: "novel_item", payload: { deep: [1] } };
  expect(inputOf([novel, message])[1]).toBe(novel);
});
