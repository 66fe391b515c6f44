import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { holdfastOptions } from "../../src/adapters/claude-agent-sdk/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";

const refused = (option: string) =>
  expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) });

function caught(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

test.each<[string, () => unknown]>([
  ["baseUrl", () => anthropic({ model: "m", baseUrl: "https://proxy" } as never)],
  ["baseURL", () => anthropic({ model: "m", baseURL: "proxy" })],
  ["baseURL", () => openaiCompatible({ model: "m", baseURL: "localhost:8080/v1" })], // parses as an address, of none
  ["baseURL", () => openai({ model: "m", baseURL: "file:///v1" })],
  ["baseURL", () => openaiCompatible({ model: "m" } as never)],
  ["model", () => anthropic({} as never)],
  ["model", () => openai({ model: "" })],
  ["api", () => openai({ model: "m", api: "completions" } as never)],
  ["options", () => anthropic(undefined as never)],
  ["timeoutMs", () => openai({ model: "m", timeoutMs: Number.NaN })],
  ["model", () => aiSdk(undefined as never)],
  ["streams", () => aiSdk({} as never, { streams: true } as never)],
])("[ID-16] a model is not made with a wrong or misspelt %s: it would ask elsewhere", (option, make) => {
  expect(make).toThrow(refused(option));
});

test.each([
  "http://wilma:hunter2@localhost:8080/v1",
  "https://hunter2@example.com",
  "https://:hunter2@example.com/v1",
  "http://wilma:hunter2@no host/v1",
  "http://wilma:hunt/er2@localhost/v1",
])("[ADAPT-45] an address with a user or a password is refused with what to do, and quotes neither: %s", (baseURL) => {
  for (const make of [anthropic, openai, openaiCompatible]) {
    const told = caught(() => make({ model: "m", baseURL }));
    expect(told).toEqual(refused("baseURL"));
    expect(String(told)).toContain("`apiKey`");
    expect(JSON.stringify([told, String(told)])).not.toMatch(/wilma|hunt|er2/);
  }
});

test("[ID-16] a server that speaks chat is reached by its address, or by the client that knows it", () => {
  expect(openaiCompatible({ model: "m", baseURL: "http://localhost:8080/v1" }).name).toBe("openai-compatible:m");
  expect(openaiCompatible({ model: "m", client: {} } as never).name).toBe("openai-compatible:m");
});

test("[ID-16] what the host's file tools shall do is said in the third argument", async () => {
  const session = {} as Session;
  await expect(holdfastOptions(session, { fileTools: "kept" })).rejects.toEqual(refused("fileTools"));
  await expect(holdfastOptions(session, {}, { fileTools: "kep" } as never)).rejects.toEqual(refused("fileTools"));
});
