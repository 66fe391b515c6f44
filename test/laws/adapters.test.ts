import { describe, test } from "vitest";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAI6 } from "ai-sdk-openai-6";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { type AdapterUnderLaw, adapterLaws, overServer, register } from "../../src/testing/entry.ts";
import { sealingChat } from "../support/sealing-chat.ts";
import { detailsChat, partsChat } from "../support/thinking-chat.ts";

/** Every adapter we ship, over the official SDKs and the strict server; whole and in pieces. */
const key = { model: "strict-1", apiKey: "key" } as const;
const noReasoning = { reasoning: false };

const openaiOf = (url: string) => createOpenAI({ apiKey: "key", baseURL: `${url}/v1` });
/** The SDK's major before, with the contract of its own. */
const openai6Of = (url: string) => createOpenAI6({ apiKey: "key", baseURL: `${url}/v1` });
const anthropicOf = (url: string) => createAnthropic({ apiKey: "key", baseURL: `${url}/v1` });

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
  "openai-compatible-sealing": {
    open: overServer((url) => openaiCompatible({ ...key, baseURL: `${url}/v1`, sealedReasoning: true }), {
      dialects: [sealingChat],
    }),
  },
  "openai-compatible-sealing-whole": {
    open: overServer(
      (url) => openaiCompatible({ ...key, baseURL: `${url}/v1`, sealedReasoning: true, stream: false }),
      { dialects: [sealingChat] },
    ),
  },
  ...Object.fromEntries(
    Object.entries({ parts: partsChat, details: detailsChat }).flatMap(([name, dialect]) =>
      [true, false].map((stream) => {
        const modelAt = (url: string) =>
          openaiCompatible({ ...key, baseURL: `${url}/v1`, echoReasoning: true, sealedReasoning: true, stream });
        const open = overServer(modelAt, { dialects: [dialect] });
        return [`openai-compatible-${name}${stream ? "" : "-whole"}`, { open }] as const;
      }),
    ),
  ),
  anthropic: { open: overServer((url) => anthropic({ ...key, baseURL: url })), can: { contentFilter: false } },
  "anthropic-whole": {
    open: overServer((url) => anthropic({ ...key, baseURL: url, stream: false })),
    can: { contentFilter: false, malformedArguments: false },
  },
  "ai-sdk-responses": { open: overServer((url) => aiSdk(openaiOf(url).responses("strict-1"))) },
  "ai-sdk-responses-whole": {
    open: overServer((url) => aiSdk(openaiOf(url).responses("strict-1"), { stream: false })),
  },
  "ai-sdk-chat": {
    open: overServer((url) => aiSdk(openaiOf(url).chat("strict-1"))),
    can: { reasoning: false, rawIds: false },
  },
  "ai-sdk-6-responses": { open: overServer((url) => aiSdk(openai6Of(url).responses("strict-1"))) },
  "ai-sdk-anthropic": { open: overServer((url) => aiSdk(anthropicOf(url)("strict-1"))), can: { contentFilter: false } },
  "ai-sdk-anthropic-whole": {
    open: overServer((url) => aiSdk(anthropicOf(url)("strict-1"), { stream: false })),
    can: { contentFilter: false, malformedArguments: false },
  },
  scripted: {
    open: async (script) => ({ model: scripted(script), server: "talks to nobody", close: async () => {} }),
  },
};

for (const [name, adapter] of Object.entries(ADAPTERS)) {
  describe(name, () => {
    register(adapterLaws(name, adapter), test);
  });
}
