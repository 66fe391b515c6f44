import { expect, test } from "vitest";
import { user } from "../../../../test/histories/items.ts";
import type { Json } from "../../../base/json.ts";
import type { ModelEvent } from "../../../contracts/model.ts";
import { KNOWN_SHAPES } from "../../../records/redact.ts";
import { readMessages, writeMessages } from "../../../wire/project.ts";
import { PROFILES } from "../../../wire/profiles.ts";
import { answerFrom } from "../../answer.ts";
import { chatBody } from "./request.ts";
import { ChatReader } from "./stream.ts";

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason }],
});
const whole = (message: object) => ({
  id: "c",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
});

function heard(...chunks: readonly object[]) {
  const reader = new ChatReader();
  const events = [...chunks, chunk({}, "stop")].flatMap((piece) => [...reader.read(piece)]);
  const draft = reader.draft();
  const said = answerFrom(draft, draft.stop!, { items: [] });
  return { ...said, told: { text: joined(events, "text-delta"), thought: joined(events, "reasoning-delta") } };
}

const joined = (events: readonly ModelEvent[], kind: "text-delta" | "reasoning-delta") =>
  events.map((event) => (event.kind === kind ? event.text : "")).join("");
const words = ({ items }: { readonly items: ReturnType<typeof heard>["items"] }) =>
  items.flatMap((item): unknown[] => {
    if (item.kind === "reasoning") return [`thought: ${item.text}`];
    if (item.kind === "call") return [`call: ${item.name}`];
    return "parts" in item ? item.parts.map((part) => (part.type === "text" ? part.text : part.type)) : [item.kind];
  });

/** The answer in the next request. */
function sentBack({ items }: { readonly items: ReturnType<typeof heard>["items"] }, echoReasoning: boolean) {
  const body = chatBody(
    { items: [user(), ...items, user()] },
    {
      model: "m",
      profile: PROFILES["openai-compatible"],
      stream: true,
      sealedReasoning: false,
      echoReasoning,
      limitField: "max_tokens",
      body: {},
    },
  ) as { readonly messages: readonly object[] };
  return body.messages[1];
}

const text = (said: string) => ({ type: "text", text: said });
const thinking = (said: string, more = {}) => ({ type: "thinking", thinking: [text(said)], ...more });
const detail = (kind: "text" | "summary" | "encrypted", more: object) => ({ type: `reasoning.${kind}`, ...more });

test("[ADAPT-35] a list of texts is the answer's text, streamed or whole", () => {
  for (const said of [
    heard(chunk({ content: [text("We")] }), chunk({ content: [text("ll"), "."] })),
    heard(chunk({ content: "We" }), chunk({ content: [text("ll.")] })),
    heard(whole({ content: [text("We"), text("ll.")] })),
  ]) {
    expect(said.told).toEqual({ text: "Well.", thought: "" });
    expect(words(said).join("")).toBe("Well.");
    expect(said.unread).toEqual([]);
  }
  const [item] = heard(chunk({ content: [text("We")] }), chunk({ content: [text("ll.")] })).items;
  expect(item?.origin?.message).toEqual({ role: "assistant", content: "Well." });
});

test("[ADAPT-35] thinking in a list is reasoning, and goes back as it came to servers that ask for it", () => {
  const parts = [thinking("A greeting.", { closed: true }), text("Hello!")];
  for (const said of [
    heard(
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [thinking("A gree")] }),
      chunk({ content: [thinking("ting.", { closed: true })] }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo!" }),
    ),
    heard(whole({ content: parts })),
  ]) {
    expect(said.told).toEqual({ text: "Hello!", thought: "A greeting." });
    expect(words(said)).toEqual(["thought: A greeting.", "Hello!"]);
    expect(said.unread).toEqual([]);
    expect(sentBack(said, true)).toEqual({ role: "assistant", content: parts });
    expect(sentBack(said, false)).toEqual({ role: "assistant", content: "Hello!" });
  }
});

test("[ADAPT-35] what is neither text nor thinking keeps its place, and what is no part is named", () => {
  const reference = { type: "reference", reference_ids: [1] };
  const said = heard(chunk({ content: [text("So"), reference] }), chunk({ content: [text("."), 7] }));
  expect(said.items[0]?.origin?.message).toEqual({ role: "assistant", content: [text("So"), reference, text(".")] });
  expect(said.told.text).toBe("So.");
  expect(said.unread).toEqual(["content"]);
});

test("[ADAPT-35] what stood beside the thinking goes back without it", () => {
  const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
  const called = heard(whole({ content: [thinking("hm")], tool_calls: [call] }));
  const { items } = readMessages([{ role: "tool", tool_call_id: "c1", content: "ok" }], "openai-chat");
  expect(sentBack({ items: [...called.items, ...items] }, false)).toEqual({
    role: "assistant",
    content: null,
    tool_calls: [call],
  });
  const reference = { type: "reference", reference_ids: [1] };
  const referred = heard(whole({ content: [thinking("hm"), text("So"), reference] }));
  expect(sentBack(referred, false)).toEqual({ role: "assistant", content: [text("So"), reference] });
});

test("[ADAPT-9] [ADAPT-35] [ADAPT-36] an answer that breaks off within its reasoning keeps what it had", () => {
  for (const delta of [{ content: [thinking("hm")] }, { reasoning_details: [detail("text", { text: "hm" })] }]) {
    const reader = new ChatReader();
    Array.from(reader.read(chunk(delta)));
    expect(words(reader.draft())).toContain("thought: hm");
    expect(reader.draft().items[1]?.origin?.message).toMatchObject(delta);
  }
});

test("[ADAPT-35] [WIRE-26] thinking in a list is not told to another provider, and stays with an answer that is written anew", () => {
  const call = { id: "c 1", type: "function", function: { name: "read", arguments: "{}" } };
  const message = { role: "assistant", content: [thinking("hm"), text("Look.")], tool_calls: [call] };
  const { items } = readMessages([message, { role: "tool", tool_call_id: "c 1", content: "ok" }], "openai-chat");
  expect(JSON.stringify(writeMessages([user(), ...items], "anthropic").messages)).not.toContain("hm");
  const [renamed] = writeMessages(items, "openai-compatible").messages; // its id is not in the server's letters
  expect(renamed).toMatchObject({ content: [thinking("hm"), text("Look.")], tool_calls: [{ type: "function" }] });
  const alone = readMessages([{ role: "assistant", content: [thinking("hm")] }], "openai-chat").items;
  expect(writeMessages([...alone, user()], "openai-compatible").messages[0]).toBe(alone[0]?.origin?.message);
  expect(writeMessages([user(), ...alone, user()], "anthropic").omitted).toEqual(alone);
});

const sealed = detail("text", { text: "hm, so", signature: "s", format: "anthropic-claude-v1", index: 0 });

test("[ADAPT-36] details of reasoning are put together with their seals, told once, and go back where reasoning does", () => {
  const secret = detail("encrypted", { data: "abc", id: "rs_1", index: 0 });
  const pieces = [
    { reasoning: "hm", reasoning_details: [detail("text", { text: "hm", signature: null, index: 0 })] },
    { reasoning: ", so", reasoning_details: [detail("text", { text: ", so", index: 0 })] },
    { reasoning_details: [detail("text", { signature: "s", format: "anthropic-claude-v1", index: 0 }), secret] },
    { reasoning_details: [detail("text", { text: "", signature: null, index: 0 })] },
    { content: "Well." },
  ];
  for (const bare of [false, true]) {
    const said = heard(...pieces.map(({ reasoning, ...rest }) => chunk(bare ? rest : { reasoning, ...rest })));
    expect(said.told).toEqual({ text: "Well.", thought: "hm, so" });
    expect(words(said)).toEqual(["thought: hm, so", "Well."]);
    expect(said.unread).toEqual([]);
    expect(sentBack(said, true)).toMatchObject({ content: "Well.", reasoning_details: [sealed, secret] });
    expect(sentBack(said, false)).toEqual({ role: "assistant", content: "Well." });
  }
});

test("[ADAPT-36] details of a whole answer are told, and are kept as they came", () => {
  const details = [detail("summary", { summary: "First", index: 0 }), detail("summary", { summary: "Then", index: 1 })];
  const said = heard(whole({ content: "Well.", reasoning_details: details }));
  expect(said.told.thought).toBe("First\nThen");
  expect(words(said)).toEqual(["thought: First\nThen", "Well."]);
  expect(sentBack(said, true)).toEqual({ role: "assistant", content: "Well.", reasoning_details: details });
});

test("[ADAPT-36] details of different kinds, numbers, ids and seals stay apart", () => {
  const details = [
    sealed,
    detail("text", { text: "again", index: 0 }), // what was sealed is closed
    detail("text", { text: "other", index: 1 }),
    detail("summary", { summary: "in short", index: 1 }),
    detail("encrypted", { data: "a", index: 1 }),
    detail("encrypted", { data: "b", index: 1 }),
    detail("text", { text: "one", id: "x", index: 2 }),
    detail("text", { text: "two", id: "y", index: 2 }),
  ];
  const said = heard(...details.map((one) => chunk({ reasoning_details: [one] })), chunk({ content: "Well." }));
  expect(sentBack(said, true)).toMatchObject({ reasoning_details: details });
  expect(said.told.thought).toBe("hm, so\nagain\nother\nin short\none\ntwo");
});

test("[REDACT-7] [ADAPT-36] details in which something was hidden stay here, and the others go back as they came", () => {
  const secret = "ghp_q7Gk29sLq0Zx81Vb44TnPw3eA0b1C2d3E4f5";
  const telling = detail("text", { text: `It is ${secret}.`, signature: "s", index: 0 });
  const open = detail("text", { text: `Unsealed: ${secret}.`, index: 1 });
  const sent = (message: object) => sentBack(readMessages([KNOWN_SHAPES.json(message as Json)], "openai-chat"), true);
  const answer = { role: "assistant", content: "Well.", reasoning: `It is ${secret}.` };
  expect(sent({ ...answer, reasoning_details: [telling, sealed] })).toEqual({
    role: "assistant",
    content: "Well.",
    reasoning_details: [sealed],
  });
  expect(sent({ ...answer, reasoning_details: [telling] })).toEqual({ role: "assistant", content: "Well." });
  expect(sent({ ...answer, content: null, reasoning_details: [telling] })).toEqual({
    role: "assistant",
    content: "[no text]",
  });
  expect(sent({ ...answer, content: null, reasoning_details: [telling, sealed] })).toMatchObject({ content: null });
  expect(sent({ ...answer, reasoning_details: [open] })).toMatchObject({
    reasoning_details: [{ text: "Unsealed: [redacted:github-token]." }],
  });
  const spoken = [thinking(`It is ${secret}.`, { signature: "s" }), thinking("hm", { signature: "t" }), text("Well.")];
  expect(sent({ role: "assistant", content: spoken })).toEqual({ role: "assistant", content: spoken.slice(1) });
  expect(sent({ role: "assistant", content: [spoken[0], text("Well.")] })).toEqual({
    role: "assistant",
    content: "Well.",
  });
});

test("[ADAPT-36] a seal that is empty is none: it neither breaks the one that came nor keeps a detail here", () => {
  const piece = (more: object) => chunk({ reasoning_details: [detail("text", { index: 0, ...more })] });
  const [opening, seal, end] = [{ text: "hm", signature: "" }, { signature: "s" }, { text: "", signature: "" }];
  const said = heard(piece(opening), piece(seal), piece(end), chunk({ content: "Well." }));
  expect(sentBack(said, true)).toMatchObject({ reasoning_details: [{ text: "hm", signature: "s" }] });
  const bare = heard(piece(opening), chunk({ content: "Well." }));
  expect(sentBack(bare, true)).toMatchObject({ reasoning_details: [detail("text", { text: "hm", index: 0 })] });
});

test("[ADAPT-2] [ADAPT-36] reasoning that a server sends under two names is told once", () => {
  const said = heard(chunk({ reasoning: "hm", reasoning_content: "hm" }), chunk({ content: "Well." }));
  expect(said.told.thought).toBe("hm");
  expect(words(said)).toEqual(["thought: hm", "Well."]);
});

test("[ADAPT-37] an answer of nothing but reasoning can be sent back, with its reasoning or without", () => {
  const alone = [
    heard(chunk({ reasoning_details: [detail("encrypted", { data: "abc" })] })),
    heard(chunk({ reasoning_content: "hm" })),
    heard(chunk({ content: [thinking("hm")] })),
    heard(whole({ content: [thinking("hm")] })),
    heard(whole({ content: null, reasoning_details: [detail("encrypted", { data: "abc" })] })),
    ...[{ reasoning_content: "hm" }, { content: [thinking("hm")] }].map((fields) =>
      readMessages([{ role: "assistant", content: null, ...fields }], "openai-chat"),
    ),
  ];
  for (const said of alone) {
    for (const echo of [true, false]) expect(() => sentBack(said, echo)).not.toThrow();
    expect(JSON.stringify(sentBack(said, false) ?? "nothing was said")).not.toContain("hm");
  }
  for (const content of [null, "", "\n\n", [thinking("hm")], [thinking("hm"), text("")]]) {
    const beside = Array.isArray(content) ? {} : { reasoning_content: "hm" };
    const shown = Array.isArray(content) ? [thinking("hm"), text("[no text]")] : "[no text]";
    const sent = sentBack(heard(whole({ content, ...beside })), true);
    expect(sent).toEqual({ role: "assistant", content: shown, ...beside });
  }
});

test("[ADAPT-37] a kept answer of blank words beside its reasoning can be sent back, with its reasoning or without", () => {
  const filled = text("[no text]");
  const details = { reasoning_details: [detail("encrypted", { data: "abc" })] };
  const kept = [
    ...[" ", "\n\n", [], [text("")], [text(" "), text("")]].flatMap((content) =>
      [{ reasoning_content: "hm" }, details].map((beside) => ({ content, beside, shown: "[no text]" as const })),
    ),
    { content: [thinking("hm"), text("")], beside: {}, shown: [thinking("hm"), filled] },
    { content: [text(" "), thinking("hm")], beside: details, shown: [thinking("hm"), filled] },
  ];
  for (const { content, beside, shown } of kept) {
    for (const calls of [{}, { tool_calls: [] }]) {
      const said = readMessages([{ role: "assistant", content, ...beside, ...calls }], "openai-chat");
      expect(sentBack(said, true)).toEqual({ role: "assistant", content: shown, ...beside });
      expect(sentBack(said, false)).toEqual({ role: "assistant", content: "[no text]" });
    }
  }
});

test("[WIRE-10] blank words go from beside whatever else an answer of chat stands in", () => {
  const sent = (message: object) => sentBack(readMessages([{ role: "assistant", ...message }], "openai-chat"), true);
  expect(sent({ content: " ", refusal: "No." })).toEqual({ role: "assistant", content: null, refusal: "No." });
  const reference = { type: "reference", reference_ids: [1] };
  expect(sent({ content: [thinking("hm"), reference, text(" ")] })).toEqual({
    role: "assistant",
    content: [thinking("hm"), reference],
  });
  const { items } = readMessages([{ role: "assistant", content: " ", refusal: "No." }], "openai-chat");
  expect(writeMessages([user(), ...items, user()], "openai-chat").messages[1]).toBe(items[0]?.origin?.message);
});

test("[WIRE-10] a blank text behind a thought is filled in the form of its own provider", () => {
  const parts = [{ text: "hm", thought: true, thoughtSignature: "s" }, { text: " " }];
  const { items } = readMessages([{ role: "model", parts }], "gemini");
  const [, message] = writeMessages([user(), ...items, user()], "gemini").messages;
  expect(message).toEqual({ role: "model", parts: [parts[0], { text: "[no text]" }] });
});

test("[ADAPT-42] reasoning that is counted beside the answer is output, and what is counted within it is not counted twice", () => {
  const used = (prompt: number, completion: number, reasoning: number, total?: number) =>
    heard({
      choices: [],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        completion_tokens_details: { reasoning_tokens: reasoning },
        ...(total === undefined ? {} : { total_tokens: total }),
      },
    }).usage;
  expect(used(12, 20, 10, 42)).toEqual({ input: 12, output: 30, reasoning: 10 });
  expect(used(12, 2, 317)).toEqual({ input: 12, output: 319, reasoning: 317 }); // a part is not more than the whole
  expect(used(12, 20, 10, 32)).toEqual({ input: 12, output: 20, reasoning: 10 });
  expect(used(12, 20, 10)).toEqual({ input: 12, output: 20, reasoning: 10 });
  expect(used(12, 20, 0, 32)).toEqual({ input: 12, output: 20, reasoning: 0 });
});
