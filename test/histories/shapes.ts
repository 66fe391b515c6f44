import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import type { Model } from "../../src/contracts/model.ts";
import { type ProviderServer, type SeenRequest, startProviderServer } from "../../src/testing/entry.ts";
import type { Player } from "./replay.ts";

const key = { model: "m", apiKey: "k" };

/** Every provider's shape, by name, over a strict server. */
export const SHAPES: Readonly<Record<string, (url: string) => Model>> = {
  "openai chat": (url) => openai({ ...key, api: "chat", baseURL: `${url}/v1` }),
  "openai responses": (url) => openai({ ...key, baseURL: `${url}/v1` }),
  "openai compatible": (url) => openaiCompatible({ ...key, baseURL: `${url}/v1` }),
  anthropic: (url) => anthropic({ ...key, baseURL: url }),
  "ai sdk over responses": (url) => aiSdk(createOpenAI({ apiKey: "k", baseURL: `${url}/v1` }).responses("m")),
  "ai sdk over anthropic": (url) => aiSdk(createAnthropic({ apiKey: "k", baseURL: `${url}/v1` })("m")),
};

export interface Stage {
  readonly model: Model;
  readonly server: ProviderServer;
}

export async function stageFor(shape: string, player: Player, first = 0): Promise<Stage> {
  const make = SHAPES[shape];
  if (make === undefined) throw new TypeError(`no shape ${shape}`);
  const compatible = shape === "openai compatible";
  const server = await startProviderServer({ script: player.script, compatible, first });
  return { server, model: make(server.url) };
}

/** What the script may have asked for; everything else that is refused was our fault. */
const STAGED = new Set([429, 500, 503, 529]);

export function refusedFor({ status, rules, refusal = "" }: SeenRequest): string | undefined {
  if (rules.length > 0) return `${rules.join(", ")}: ${refusal}`;
  const staged = status < 400 || STAGED.has(status) || /too long|context|maximum/i.test(refusal);
  return staged ? undefined : `${status}: ${refusal}`;
}
