import { expect, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai } from "../../src/adapters/openai/entry.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Model } from "../../src/contracts/model.ts";
import { opened } from "../support/durable.ts";
import { watch } from "../support/loop.ts";

/** A provider that only remembers what it was sent. */
function remembering(sent: object[]) {
  const create = async (body: object) => {
    sent.push(body);
    throw new Error("nobody is there");
  };
  return { chat: { completions: { create } }, responses: { create }, messages: { create } } as never;
}

const edit = { name: "step", parameters: { type: "object" } };
const said = [{ role: "user", content: "Change everything." }];

const chat = (body: JsonObject) => (client: never) => openai({ model: "m", api: "chat", client, body });
const responses = (body: JsonObject) => (client: never) => openai({ model: "m", client, body });
const claude = (body: JsonObject) => (client: never) => anthropic({ model: "m", client, body });

test.each<[string, (client: never) => Model, string]>([
  ["tools", chat({ tools: [{ type: "function", function: edit }] }), "request-tools-differ"],
  ["older functions", chat({ functions: [edit] }), "request-fields-foreign"],
  ["other messages", chat({ messages: said }), "request-fields-foreign"],
  ["a server's prompt", responses({ prompt: { id: "pmpt_1" } }), "request-fields-foreign"],
  ["instructions", responses({ instructions: "You may edit." }), "request-fields-foreign"],
  ["a conversation kept elsewhere", responses({ previous_response_id: "resp_1" }), "request-fields-foreign"],
  [
    "other people's tools",
    claude({ mcp_servers: [{ type: "url", url: "https://x.test", name: "x" }] }),
    "request-fields-foreign",
  ],
  ["another system prompt", claude({ system: "You may edit." }), "request-fields-foreign"],
])("[ALIGN-19] %s in a caller's own fields leave in no request", async (_, modelWith, fault) => {
  const { session } = await opened();
  await session.setMode("plan");
  const sent: object[] = [];
  const { end } = await watch(session.run("go", { model: modelWith(remembering(sent)), retry: { attempts: 1 } }));
  expect(end).toMatchObject({ status: "refused" });
  expect(end.status === "refused" && end.report.afterRebuild.map(({ kind }) => kind)).toContain(fault);
  expect(sent).toEqual([]);
  await session.close();
});

test.each<[string, (client: never) => Model]>([
  ["chat", chat({ service_tier: "flex" })],
  ["responses", responses({ prompt_cache_key: "k" })],
  ["messages", claude({ metadata: { user_id: "u" } })],
])(
  "[ALIGN-19] a field that says nothing goes along, and the words of the mode stand in the body (%s)",
  async (_, modelWith) => {
    const { session } = await opened();
    await session.setMode("plan");
    const sent: object[] = [];
    const { end } = await watch(session.run("go", { model: modelWith(remembering(sent)), retry: { attempts: 1 } }));
    expect([end.status, sent.length]).toEqual(["failed", 1]);
    expect(JSON.stringify(sent[0])).toMatch(/Plan mode is on.*\[Runtime Tool Catalog\]/s);
    await session.close();
  },
);

test("[ALIGN-19] a model that leaves out what the kernel says is not asked", async () => {
  const { session } = await opened();
  await session.setMode("plan");
  const sent: object[] = [];
  const model = chat({})(remembering(sent));
  const forgetful: Model = {
    ...model,
    ask: (request, how) => model.ask({ ...request, items: request.items.slice(0, -1) }, how),
  };
  const { end } = await watch(session.run("go", { model: forgetful, retry: { attempts: 1 } }));
  expect(end).toMatchObject({
    status: "refused",
    report: { afterRebuild: [{ kind: "request-words-missing", segments: ["policy", "stamp"] }] },
  });
  expect(sent).toEqual([]);
  await session.close();
});
