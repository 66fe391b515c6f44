import type { Json } from "../../base/json.ts";
import type { KernelEvent } from "../../contracts/event-sink.ts";
import { numberIn, wordIn } from "../facts.ts";
import type { OtelAttributes } from "./vendor.ts";

/** Names of the semantic conventions for generative AI. Our own begin with `holdfast.`. */
export function attributesOf(event: KernelEvent): OtelAttributes {
  const { kind, session, facts } = event;
  const own = OWN[kind]?.(facts) ?? {};
  return defined({ "gen_ai.conversation.id": session, ...own });
}

const OWN: { readonly [K in KernelEvent["kind"]]?: (facts: KernelEvent["facts"]) => Loose } = {
  "turn-begun": () => ({ "gen_ai.operation.name": "invoke_agent" }),
  "turn-over": ({ status, spent, context }) => ({
    "holdfast.turn.status": status,
    "holdfast.turn.steps": numberIn(spent, "steps"),
    "holdfast.context.thrash": numberIn(context, "thrash"),
  }),
  "request-begun": ({ attempt, items, tools, ...facts }) => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(wordIn(facts, "provider")),
    "gen_ai.request.model": modelName(wordIn(facts, "model")),
    "holdfast.request.attempt": attempt,
    "holdfast.request.items": items,
    "holdfast.request.tools": tools,
  }),
  "request-over": ({ answered, usage, failure, ...facts }) => ({
    "gen_ai.response.model": answered ?? (failure === undefined ? modelName(wordIn(facts, "model")) : undefined),
    "gen_ai.response.finish_reasons": facts["stop"] === undefined ? undefined : [wordIn(facts, "stop")],
    "gen_ai.usage.input_tokens": numberIn(usage, "input"),
    "gen_ai.usage.output_tokens": numberIn(usage, "output"),
    "gen_ai.usage.cache_read.input_tokens": numberIn(usage, "cacheRead"),
    "gen_ai.usage.cache_creation.input_tokens": numberIn(usage, "cacheWrite"),
    "error.type": failure,
  }),
  "aside-over": ({ purpose, usage, failure, ...facts }) => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": modelName(wordIn(facts, "model")) || undefined,
    "gen_ai.usage.input_tokens": numberIn(usage, "input"),
    "gen_ai.usage.output_tokens": numberIn(usage, "output"),
    "holdfast.aside.purpose": purpose,
    "error.type": failure,
  }),
  "call-opened": ({ callId, tool, parent }) => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.type": "function",
    "holdfast.call.parent": parent,
  }),
  "call-closed": ({ tool, callId, status, reason, effects }) => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "holdfast.call.status": status,
    "holdfast.call.effects": effects,
    "error.type": status === "success" ? undefined : (reason ?? status),
  }),
};

type Loose = Record<string, Json | readonly string[] | undefined>;

/** `anthropic:claude-…` is asked for as `claude-…`. */
function modelName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "gcp.gemini",
};

function providerName(profile: string): string {
  return PROVIDERS[profile] ?? profile;
}

/** Any other fact of an event, under our own name. */
export function factsOf({ kind, facts }: KernelEvent): OtelAttributes {
  return defined(
    Object.fromEntries(Object.entries(facts).map(([name, value]) => [`holdfast.${kind}.${name}`, value])) as Loose,
  );
}

function defined(attributes: Loose): OtelAttributes {
  const kept: OtelAttributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") kept[name] = value;
    else if (Array.isArray(value)) kept[name] = value.map(String);
    else kept[name] = JSON.stringify(value);
  }
  return kept;
}
