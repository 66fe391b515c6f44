import { describe, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { type AdapterUnderLaw, adapterLaws, overServer, register } from "../../src/testing/entry.ts";

/** Every adapter we ship, over the official SDKs and the strict server; whole and in pieces. */
const key = { model: "strict-1", apiKey: "key" } as const;
const noReasoning = { reasoning: false };

const ADAPTERS: Readonly<Record<string, AdapterUnderLaw>> = {
  "openai-responses": { open: overServer((url) => openai({ ...key, baseURL: `${url}/v1` })) },
  "openai-responses-whole": { open: overServer((url) => openai({ ...key, baseURL: `${url}/v1`, stream: false })) },
  "openai-chat": { open: overServer((url) => openai({ ...key, api: "chat", baseURL: `${url}/v1` })), can: noReasoning },
  "openai-chat-whole": {
    open: overServer((url) => openai({ ...key, api: "chat", baseURL: `${url}/v1`, stream: false })),
    can: noReasoning,
  },
  "openai-compatible": {
    open: overServer((url) => openaiCompatible({ ...key, baseURL: `${url}/v1` }), { compatible: true }),
  },
  anthropic: { open: overServer((url) => anthropic({ ...key, baseURL: url })), can: { contentFilter: false } },
  "anthropic-whole": {
    open: overServer((url) => anthropic({ ...key, baseURL: url, stream: false })),
    can: { contentFilter: false, malformedArguments: false },
  },
  scripted: { open: async (script) => ({ model: scripted(script), close: async () => {} }) },
};

for (const [name, adapter] of Object.entries(ADAPTERS)) {
  describe(name, () => {
    register(adapterLaws(name, adapter), test);
  });
}
