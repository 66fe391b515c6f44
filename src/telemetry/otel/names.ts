import type { Json } from "../../base/json.ts";
import type { KernelEvent } from "../../contracts/event-sink.ts";
import { numberIn, wordIn } from "../facts.ts";
import type { OtelAttributes } from "./vendor.ts";

/** Names of the semantic conventions for generative AI. Our own begin with `holdfast.`. */
export function attributesOf({ kind, session, facts }: KernelEvent): OtelAttributes {
  const attributes: OtelAttributes = { "gen_ai.conversation.id": session };
  addDefined(attributes, OWN[kind]?.(facts) ?? {});
  return attributes;
}

/** Those that name a series of measurements: few values each, or a label that is new every time would make as many. */
export function labelsOf({ kind, facts }: KernelEvent): OtelAttributes {
  const all = OWN[kind === "request-over" ? "request-begun" : kind]?.(facts) ?? {};
  const labels: Loose = {};
  for (const name of LABELS) labels[name] = all[name];
  if (kind === "request-over") labels["error.type"] = facts["failure"];
  labels["holdfast.fault"] = facts["fault"];
  const attributes: OtelAttributes = {};
  addDefined(attributes, labels);
  return attributes;
}

const LABELS = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.tool.name",
  "holdfast.call.status",
  "error.type",
] as const;

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
  const attributes: OtelAttributes = {};
  addDefined(
    attributes,
    Object.fromEntries(Object.entries(facts).map(([name, value]) => [`holdfast.${kind}.${name}`, value])),
  );
  return attributes;
}

function addDefined(attributes: OtelAttributes, more: Loose): void {
  for (const name of Object.keys(more)) {
    const value = more[name];
    if (value === undefined || value === null) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") attributes[name] = value;
    else if (Array.isArray(value)) attributes[name] = value.map(String);
    else attributes[name] = JSON.stringify(value);
  }
}
