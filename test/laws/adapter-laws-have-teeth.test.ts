import { describe, expect, test } from "vitest";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import type { Answer, Model, ModelAbilities, ModelEvent, ModelRequest } from "../../src/index.ts";
import { type AdapterUnderLaw, adapterLaws, type Opened, overServer } from "../../src/testing/entry.ts";
import { sealingChat } from "../support/sealing-chat.ts";

/** Adapters that forget something, each in one way: a law that lets one pass is no law. */

const key = { model: "strict-1", apiKey: "key" } as const;
const responses = (url: string) => openai({ ...key, baseURL: `${url}/v1` });
const whole = (url: string) => openai({ ...key, baseURL: `${url}/v1`, stream: false });
const chat = (url: string) => openai({ ...key, api: "chat", baseURL: `${url}/v1` });
const sealing = (url: string) => openaiCompatible({ ...key, baseURL: `${url}/v1`, sealedReasoning: true });

type Flaw = (model: Model) => Model;

/** Asks for something else than it was asked. */
function asking(change: (request: ModelRequest) => ModelRequest): Flaw {
  return (model) => ({ ...model, ask: (request, options) => model.ask(change(request), options) });
}

/** Tells something else than it heard. */
function telling(change: (event: ModelEvent) => readonly ModelEvent[]): Flaw {
  return (model) => ({
    ...model,
    async *ask(request, options) {
      for await (const event of model.ask(request, options)) yield* change(event);
    },
  });
}

const answering = (change: (answer: Answer) => Answer): Flaw =>
  telling((event) => [event.kind === "end" ? { ...event, answer: change(event.answer) } : event]);

const claiming =
  (can: Partial<ModelAbilities>): Flaw =>
  (model) => ({ ...model, can: { ...model.can, ...can } });

/** Sends one choice as another. */
const choosing = (from: ModelRequest["toolChoice"], to: "auto" | "none" | "required"): Flaw =>
  asking((request) => (same(request.toolChoice, from) ? { ...request, toolChoice: to } : request));

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Forgets fields of a request. */
function forgetting(field: keyof ModelRequest, value?: unknown): Flaw {
  return asking((request) => {
    if (value !== undefined && !same(request[field], value)) return request;
    return Object.fromEntries(Object.entries(request).filter(([name]) => name !== field)) as unknown as ModelRequest;
  });
}

/** Loses a field of the provider's messages, wherever `where` says so. Items of one message go on sharing it. */
function losing(field: string, where: (holder: object) => boolean): Flaw {
  return answering((answer) => {
    const seen = new Map<object, unknown>();
    const without = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(without);
      const known = seen.get(value);
      if (known !== undefined) return known;
      const kept = Object.entries(value).filter(([name]) => name !== field || !where(value));
      const copy = Object.fromEntries(kept.map(([name, inner]) => [name, without(inner)]));
      seen.set(value, copy);
      return copy;
    };
    return without(answer) as Answer;
  });
}

const isCall = (holder: object) => "function" in holder;

/** The rule that must catch it, the adapter that is spoilt, and how. */
const FLAWS: Readonly<Record<string, readonly [string, (url: string) => Model, Flaw]>> = {
  "instructions are not sent": ["ADAPT-21", chat, asking((request) => ({ ...request, items: spoken(request) }))],
  "only the first instruction is sent": [
    "ADAPT-21",
    chat,
    asking((request) => ({ ...request, items: [...request.items.slice(0, 1), ...spoken(request)] })),
  ],
  "none is sent as auto": ["ADAPT-21", chat, choosing("none", "auto")],
  "none is sent as required": ["ADAPT-21", chat, choosing("none", "required")],
  "required is sent as auto": ["ADAPT-21", chat, choosing("required", "auto")],
  "a named tool is sent as required": ["ADAPT-21", chat, choosing({ name: "grep" }, "required")],
  "the choice is not sent": ["ADAPT-21", chat, forgetting("toolChoice")],
  "the limit is ignored": ["ADAPT-21", chat, forgetting("maxOutputTokens")],
  "the temperature is ignored": ["ADAPT-21", chat, forgetting("temperature")],
  "a temperature of nothing is ignored": ["ADAPT-21", chat, forgetting("temperature", 0)],
  "the effort is ignored": ["ADAPT-21", chat, forgetting("reasoning")],
  "two efforts are one": [
    "ADAPT-21",
    chat,
    asking((request) => (request.reasoning === "low" ? { ...request, reasoning: "medium" } : request)),
  ],
  "usage is not told as it comes": ["ADAPT-1", chat, telling((event) => (event.kind === "usage" ? [] : [event]))],
  "the answer's id is not told": ["ADAPT-22", chat, answering(({ id: _id, ...answer }) => answer)],
  "the answering model is not told": ["ADAPT-22", chat, answering(({ model: _model, ...answer }) => answer)],
  "every answer has one id": ["ADAPT-22", chat, answering((answer) => ({ ...answer, id: "answer" }))],
  "it says that it does not stream": ["ADAPT-22", responses, claiming({ streams: false })],
  "it says that it streams": ["ADAPT-22", whole, claiming({ streams: true })],
  "it says that it seals nothing": ["ADAPT-22", responses, claiming({ sealsReasoning: false })],
  "it says that it seals": ["ADAPT-22", chat, claiming({ sealsReasoning: true })],
  "the seal of a thought is lost": ["ADAPT-5", responses, losing("encrypted_content", () => true)],
  "the seal of a call is lost": ["ADAPT-5", sealing, losing("extra_content", isCall)],
  "the seal behind a text is lost": ["ADAPT-5", sealing, losing("extra_content", (holder) => !isCall(holder))],
  "a call without arguments has none": [
    "ADAPT-7",
    chat,
    answering((answer) => ({
      ...answer,
      calls: answer.calls.map((call) => (same(call.input, NOTHING) ? { ...call, input: MISSING } : call)),
    })),
  ],
};

const NOTHING = { ok: true, value: {} } as const;
const MISSING = { ok: true, value: null } as const;

function spoken({ items }: ModelRequest): ModelRequest["items"] {
  return items.filter((item) => item.kind !== "system");
}

/** The laws of a rule that this adapter breaks. */
async function broken(rule: string, adapter: AdapterUnderLaw): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { id, title, run } of adapterLaws("spoilt", adapter)) {
    if (id !== rule) continue;
    await run().catch((error: unknown) => found.push(`${title}: ${String(error)}`));
  }
  return found;
}

const over = (modelAt: (url: string) => Model) =>
  overServer(modelAt, { dialects: modelAt === sealing ? [sealingChat] : [] });

describe.each(Object.entries(FLAWS))("%s", (_name, [rule, modelAt, flaw]) => {
  const open = over(modelAt);
  const can = { reasoning: modelAt !== chat };
  const spoilt: AdapterUnderLaw["open"] = async (script) => {
    const opened = await open(script);
    return { ...opened, model: flaw(opened.model) };
  };

  test(`[${rule}] is caught, and passes when nothing is spoilt`, async () => {
    expect(await broken(rule, { open, can })).toEqual([]);
    expect((await broken(rule, { open: spoilt, can })).length).toBeGreaterThan(0);
  });
});

test("[ADAPT-22] an adapter whose server is not handed over keeps no law", async () => {
  const blind: AdapterUnderLaw["open"] = async (script) => {
    const { server: _server, ...opened } = await over(chat)(script);
    return opened as Opened;
  };
  const laws = adapterLaws("blind", { open: blind, can: { reasoning: false } });
  const rules = new Set(laws.map(({ id }) => id));
  for (const rule of ["ADAPT-3", "ADAPT-12", "ADAPT-21"]) {
    expect(rules).toContain(rule);
    expect((await broken(rule, { open: blind }))[0]).toContain("gave no server");
  }
});
