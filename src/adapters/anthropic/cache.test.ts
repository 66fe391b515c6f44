import { expect, test } from "vitest";
import { call, output, say, system, user } from "../../../test/histories/items.ts";
import type { ModelRequest } from "../../contracts/model.ts";
import { PROFILES } from "../../wire/profiles.ts";
import { readMessages } from "../../wire/project.ts";
import { messagesBody } from "./request.ts";
import type { Writing } from "./writing.ts";

const how: Writing = {
  model: "m",
  profile: PROFILES.anthropic,
  stream: true,
  maxOutputTokens: 100,
  cache: true,
  body: {},
  thinking: "adaptive",
};
const tools = [
  { name: "read_file", input: {} },
  { name: "grep", input: {} },
];

interface Body {
  readonly tools?: readonly object[];
  readonly system?: readonly object[];
  readonly messages: readonly { readonly content: string | readonly object[] }[];
}

const write = (request: ModelRequest, more: Partial<Writing> = {}) =>
  messagesBody(request, { ...how, ...more }) as Body;

/** Where marks stand: `system.0`, `messages.2.1`. */
function marks(body: Body): readonly string[] {
  const places = (name: string, blocks: readonly object[]) =>
    blocks.flatMap((block, at) => ("cache_control" in block ? [`${name}.${at}`] : []));
  const messages = body.messages.flatMap(({ content }, at) =>
    typeof content === "string" ? [] : places(`messages.${at}`, content),
  );
  return [...places("tools", body.tools ?? []), ...places("system", body.system ?? []), ...messages];
}

const items = [system(), user("a"), say("b"), user("c"), call("c1"), output("c1")];

test("[ADAPT-15] the ends of instructions, of the stable items and of the request are marked", () => {
  expect(marks(write({ items, tools }))).toEqual(["system.0", "messages.4.0"]);
  expect(marks(write({ items, tools, stableItems: 3 }))).toEqual(["system.0", "messages.1.0", "messages.4.0"]);
  expect(marks(write({ items: items.slice(1), tools }))).toEqual(["tools.1", "messages.4.0"]);
  expect(marks(write({ items, tools, stableItems: 3 }, { cache: false }))).toEqual([]);
});

test("[ADAPT-15] a stable end inside a joined message is marked where it ends, not where the message does", () => {
  const joined = [user("a"), user("b"), user("c")];
  expect(marks(write({ items: joined, stableItems: 2 }))).toEqual(["messages.0.1", "messages.0.2"]);
});

test("[ADAPT-15] thinking is never marked, and its message stays as it was sealed", () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "seal" };
  const { items: read } = readMessages(
    [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [{ type: "text", text: "well" }, thinking, { type: "tool_use", id: "t1", name: "grep", input: {} }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] },
    ],
    "anthropic",
  );
  const body = write({ items: read, tools, stableItems: 3 });
  expect(marks(body)).toEqual(["tools.1", "messages.1.0", "messages.2.0"]);
  expect((body.messages[1]!.content as readonly object[])[1]).toBe(thinking);
});

test("[ADAPT-15] what is not marked is the very object it was", () => {
  const first = { role: "user", content: "go" };
  const { items: read } = readMessages(
    [first, { role: "assistant", content: "well" }, { role: "user", content: "on" }],
    "anthropic",
  );
  expect(write({ items: read }).messages[0]).toBe(first);
});

test("[ADAPT-15] growing a request only appends: what was sent before is sent again, apart from the marks", () => {
  const bare = (body: Body) => JSON.stringify(body).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, "");
  const before = bare(write({ items, tools }));
  const longer = [...items, say("d", { step: 9 }), user("e")];
  const prefix = before.slice(0, before.lastIndexOf("]"));
  expect(bare(write({ items: longer, tools })).startsWith(prefix.slice(0, prefix.lastIndexOf("}")))).toBe(true);
});

test("[ADAPT-1] reasoning is asked for as an effort, or as a budget that leaves room for the answer", () => {
  const request = { items, tools, reasoning: "high" } as const;
  expect(write(request)).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "high" } });
  const budget = (maxOutputTokens: number) => write({ ...request, maxOutputTokens }, { thinking: "budget" });
  expect(budget(100_000)).toMatchObject({ thinking: { type: "enabled", budget_tokens: 24_576 } });
  expect(budget(4096)).toMatchObject({ thinking: { type: "enabled", budget_tokens: 2048 } });
  expect(() => budget(1500)).toThrow(/maxOutputTokens/);
});
