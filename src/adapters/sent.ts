import { deepFreeze, isDeepFrozen } from "../base/freeze.ts";
import type { JsonObject } from "../base/json.ts";
import type { SentRequest, ToolOffer } from "../contracts/model.ts";
import { type Fields, fieldsOf } from "../base/fields.ts";
import { wordOf } from "./fields.ts";

/** Where a provider's request body holds its tools (name, description and schema) and the tool that it requires. */
export interface SentShape {
  /** Reads the tools of a body, one element each. Default: its `tools`. */
  readonly tools?: (body: Fields) => unknown;
  /** Reads, from one tool, the object that has its `name` and `description`. */
  readonly described: (tool: object) => unknown;
  /** The field of that object that holds the schema. */
  readonly schema: string;
  /** Reads the name of the tool that the body requires. */
  readonly demanded: (body: Fields) => unknown;
  /** Further fields in which the provider takes text or tools, besides `tools` and the tool choice. */
  readonly speaking: readonly string[];
}

/**
 * Reads what a request body offers back from the body itself, because the caller's own fields may have replaced ours. A
 * tool of the provider's own, without a name or schema, counts under its type. `own` holds the caller's fields.
 */
export function sentIn(body: object, shape: SentShape, own: object = {}): SentRequest {
  const fields = fieldsOf(body);
  const tools = shape.tools === undefined ? fields["tools"] : shape.tools(fields);
  const offered = Array.isArray(tools) ? offersIn(tools as readonly object[], shape) : [];
  const toolChoice = wordOf(shape.demanded(fields));
  return {
    tools: offered,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    foreign: shape.speaking.filter((name) => Object.hasOwn(own, name)),
    says: (words) => saysIn(body, words),
  };
}

/** From the end, where what is said of the catalog nearly always stands. */
export function saysIn(value: unknown, words: string): boolean {
  if (typeof value === "string") return value.includes(words);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Object.values(value)
    .toReversed()
    .some((one) => saysIn(one, words));
}

/** What was read of tools that nobody can change any more. */
const known = new WeakMap<readonly object[], { readonly shape: SentShape; readonly offers: readonly ToolOffer[] }>();

function offersIn(tools: readonly object[], shape: SentShape): readonly ToolOffer[] {
  const before = known.get(tools);
  if (before?.shape === shape) return before.offers;
  const offers = tools.map((tool) => readOffer(tool, shape));
  if (isDeepFrozen(tools)) known.set(tools, { shape, offers: deepFreeze(offers) });
  return offers;
}

function readOffer(tool: object, { described, schema }: SentShape): ToolOffer {
  const fields = fieldsOf(described(tool));
  const description = wordOf(fields["description"]);
  return {
    name: wordOf(fields["name"]) ?? wordOf(fieldsOf(tool)["type"]) ?? "",
    ...(description === undefined ? {} : { description }),
    input: fieldsOf(fields[schema]) as JsonObject,
  };
}
