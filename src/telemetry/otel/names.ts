import type { Json } from "../../base/json.ts";
import type { KernelEvent } from "../../contracts/event-sink.ts";
import { numberIn, wordIn } from "../facts.ts";
import type { OtelAttributes } from "./vendor.ts";

/** What an event says of its span. What is known when something begins is not said again when it ends. */
export function attributesOf({ kind, facts }: KernelEvent): OtelAttributes {
  return defined(namesOf(kind).span?.(facts) ?? {});
}

/** Those that name a series of measurements: few values each, or a label that is new every time would make as many. */
export function labelsOf({ kind, facts }: KernelEvent): OtelAttributes {
  return defined(namesOf(kind).labels?.(facts) ?? { "holdfast.fault": facts["fault"] });
}

type Say = (facts: KernelEvent["facts"]) => Loose;

interface Names {
  readonly span?: Say;
  readonly labels?: Say;
}

/** Under the names of the semantic conventions for generative AI; our own begin with `holdfast.`. */
const NAMES: { readonly [K in KernelEvent["kind"]]?: Names } = {
  "turn-begun": { span: () => ({ "gen_ai.operation.name": "invoke_agent" }) },
  "turn-over": {
    span: ({ status, spent, context }) => ({
      "holdfast.turn.status": status,
      "holdfast.turn.steps": numberIn(spent, "steps"),
      "holdfast.context.thrash": numberIn(context, "thrash"),
      "error.type": FAILED.has(status) ? status : undefined,
    }),
  },
  "request-begun": {
    span: ({ attempt, items, tools, ...facts }) => ({
      ...request(facts),
      "holdfast.request.attempt": attempt,
      "holdfast.request.items": items,
      "holdfast.request.tools": tools,
    }),
  },
  "request-over": {
    span: ({ answered, usage, failure, ...facts }) => ({
      "gen_ai.response.model": answered ?? (failure === undefined ? modelName(wordIn(facts, "model")) : undefined),
      "gen_ai.response.finish_reasons": facts["stop"] === undefined ? undefined : [wordIn(facts, "stop")],
      "gen_ai.usage.input_tokens": numberIn(usage, "input"),
      "gen_ai.usage.output_tokens": numberIn(usage, "output"),
      "gen_ai.usage.cache_read.input_tokens": numberIn(usage, "cacheRead"),
      "gen_ai.usage.cache_creation.input_tokens": numberIn(usage, "cacheWrite"),
      "error.type": failure,
    }),
    labels: (facts) => ({ ...request(facts), "error.type": facts["failure"] }),
  },
  "aside-over": {
    labels: (facts) => ({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": modelName(wordIn(facts, "model")) || undefined,
      "error.type": facts["failure"],
    }),
  },
  "call-opened": {
    span: ({ callId, parent, ...facts }) => ({
      ...execution(facts),
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": "function",
      "holdfast.call.parent": parent,
    }),
  },
  "call-closed": {
    span: ({ effects, ...facts }) => ({ ...endOf(facts), "holdfast.call.effects": effects }),
    labels: ({ tool, ...facts }) => ({
      // Models make names up, and every new one would be a series for as long as the process lives.
      ...execution({ tool: facts["unknownTool"] === true ? OTHER : tool }),
      ...endOf(facts),
    }),
  },
};

/** What the semantic conventions call a value that is none of the known ones. */
const OTHER = "_OTHER";

/** How a turn ends that did not do its work; one that was stopped, or met its limit, did as it was told. */
const FAILED: ReadonlySet<unknown> = new Set(["failed", "refused", "unfinished"]);

function namesOf(kind: KernelEvent["kind"]): Names {
  return (Object.hasOwn(NAMES, kind) ? NAMES[kind] : undefined) ?? {};
}

function request(facts: KernelEvent["facts"]): Loose {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(wordIn(facts, "provider")),
    "gen_ai.request.model": modelName(wordIn(facts, "model")),
  };
}

function execution({ tool }: KernelEvent["facts"]): Loose {
  return { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool };
}

function endOf({ status, reason }: KernelEvent["facts"]): Loose {
  const error = status === "success" ? undefined : (reason ?? status);
  return { "holdfast.call.status": status, "error.type": error };
}

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
  return defined(Object.fromEntries(Object.entries(facts).map(([name, value]) => [`holdfast.${kind}.${name}`, value])));
}

/** Values as attributes can hold them; what is not there is left out. */
function defined(loose: Loose): OtelAttributes {
  const attributes: OtelAttributes = {};
  for (const [name, value] of Object.entries(loose)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") attributes[name] = value;
    else if (Array.isArray(value)) attributes[name] = value.map(String);
    else attributes[name] = JSON.stringify(value);
  }
  return attributes;
}
