import { expect, test } from "vitest";
import { call, output, user } from "../../../test/histories/items.ts";
import type { ModelRequest } from "../../contracts/model.ts";
import { PROFILES } from "../../wire/profiles.ts";
import { readMessages } from "../../wire/project.ts";
import { callOptions } from "./request.ts";

const plain = { profile: PROFILES["ai-sdk"], isOpenAi: false, ownOptions: {}, providerOptions: {} };
const written = (request: ModelRequest, version = "v4") =>
  callOptions(request, { ...plain, version }) as {
    readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  };

test("[ADAPT-1] every part of a request is written in the SDK's words, and further options are passed on", () => {
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
  const how = { ...plain, version: "v4", providerOptions: { openai: { user: "u" } } };
  expect(callOptions(request, how)).toMatchObject({
    tools: [{ type: "function", name: "read_file", description: "Reads.", inputSchema: { type: "object" } }],
    toolChoice: { type: "tool", toolName: "read_file" },
    maxOutputTokens: 9,
    temperature: 0,
    reasoning: "low",
    providerOptions: { openai: { user: "u" } },
  });
  // Majors before 7 have no word for the effort: their providers take it among their own options.
  const older = { ...how, version: "v3", isOpenAi: true, ownOptions: { openai: { store: false, user: "ours" } } };
  expect(callOptions(request, older)).not.toHaveProperty("reasoning");
  expect(callOptions(request, older)).toMatchObject({
    providerOptions: { openai: { store: false, reasoningEffort: "low", forceReasoning: true, user: "u" } },
  });
});

test("[ADAPT-1] a prompt has parts only: texts, files, and arguments as values", () => {
  const picture = { type: "image", media: { base64: "AAAA", mediaType: "image/png" } } as const;
  const linked = { type: "image", media: { url: "https://example.org/a.png", mediaType: "image/png" } } as const;
  const items = [user(), { kind: "user", parts: [picture, linked] }, call("c1"), output("c1")] as const;
  const newest = written({ items }).prompt;
  expect(newest.map(({ role }) => role)).toEqual(["user", "user", "assistant", "tool"]);
  expect(newest[1]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a.png") } },
  ]);
  expect(written({ items }, "v2").prompt[1]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: "AAAA" },
    { type: "file", mediaType: "image/png", data: new URL("https://example.org/a.png") },
  ]);
});

test("[ADAPT-19] an address that is none goes to the provider as it came, which says so", () => {
  const broken = { type: "image", media: { url: "https://[", mediaType: "image/png" } } as const;
  const items = [{ kind: "user", parts: [broken] }] as const;
  expect(written({ items }).prompt[0]?.content).toMatchObject([{ data: { type: "data", data: "https://[" } }]);
  expect(written({ items }, "v2").prompt[0]?.content).toMatchObject([{ data: "https://[" }]);
});

test("[ADAPT-7] arguments that are no object are sent as a value that holds them", () => {
  const broken = { ...call("c1"), inputText: '{"path": "a' };
  const asked = written({ items: [user(), broken, output("c1")] }).prompt[1];
  expect(asked?.content).toMatchObject([{ type: "tool-call", input: { raw: '{"path": "a' } }]);
});

test("[TOOL-3] a picture in a result has the form of the contract's version, and stands outside it by default", () => {
  const picture = { type: "image", media: { base64: "AAAA", mediaType: "image/png" } } as const;
  const items = [user(), call("c1"), output("c1", { parts: [{ type: "text", text: "see" }, picture] })];
  const profile = { ...PROFILES["ai-sdk"], resultMedia: /^image\// };
  const inResult = (version: string) => {
    const { prompt } = callOptions({ items }, { ...plain, profile, version }) as ReturnType<typeof written>;
    const [{ output: said }] = (prompt.at(-1)?.content ?? []) as [{ output: { value: readonly object[] } }];
    return said.value[1];
  };
  expect(inResult("v2")).toEqual({ type: "media", mediaType: "image/png", data: "AAAA" });
  expect(inResult("v3")).toEqual({ type: "file-data", mediaType: "image/png", data: "AAAA" });
  expect(inResult("v4")).toEqual({ type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } });
  expect(written({ items }).prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
});

test("[ADAPT-1] messages that the SDK's own words were kept in are handed on as its providers take them", () => {
  const url = new URL("https://example.org/a.png");
  const kept = [
    { role: "system", content: "be good" },
    { role: "user", content: "go" },
    {
      role: "user",
      content: [
        { type: "image", image: url },
        { type: "file", data: { type: "data", data: "AAAA" }, mediaType: "text/csv" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: "c1", toolName: "read_file", input: {} },
        { type: "tool-approval-request", approvalId: "q", toolCallId: "c1" },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-approval-response", approvalId: "q", approved: true },
        { type: "tool-result", toolCallId: "c1", toolName: "read_file", output: { type: "text", value: "ok" } },
      ],
    },
  ];
  const { items } = readMessages(kept, "ai-sdk");
  const prompt = (version: string) => written({ items }, version).prompt;
  expect(prompt("v4")[0]).toEqual({ role: "system", content: "be good" });
  expect(prompt("v4")[1]?.content).toEqual([{ type: "text", text: "go" }]);
  expect(prompt("v4")[2]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: { type: "url", url } },
    { type: "file", mediaType: "text/csv", data: { type: "data", data: "AAAA" } },
  ]);
  expect(prompt("v3")[2]?.content).toEqual([
    { type: "file", mediaType: "image/png", data: url },
    { type: "file", mediaType: "text/csv", data: "AAAA" },
  ]);
  expect(JSON.stringify(prompt("v4"))).not.toContain("tool-approval-request");
  expect(JSON.stringify(prompt("v4"))).toContain("tool-approval-response");
});
