import { fieldsOf, isFields } from "../../base/fields.ts";
import { type Body, nameIn, type Refusal, type RefusalKind } from "./dialect.ts";

interface Words {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
}

/** How OpenAI says no. */
const WORDS: Readonly<Record<RefusalKind, Words>> = {
  "rate-limited": {
    status: 429,
    message: "Rate limit reached for requests. Please try again later.",
    type: "requests",
    code: "rate_limit_exceeded",
  },
  "out-of-quota": {
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  overloaded: {
    status: 503,
    message: "The engine is currently overloaded, please try again later.",
    type: "server_error",
    code: "server_is_overloaded",
  },
  "provider-broken": {
    status: 500,
    message: "The server had an error while processing your request. Sorry about that!",
    type: "server_error",
    code: null,
  },
  "too-long": {
    status: 400,
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in more tokens. Please reduce the length of the messages.",
    type: "invalid_request_error",
    code: "context_length_exceeded",
  },
  "refused-request": {
    status: 400,
    message: "We could not parse the JSON body of your request.",
    type: "invalid_request_error",
    code: null,
  },
  "not-allowed": {
    status: 401,
    message: "Incorrect API key provided. You can find your API key in your account settings.",
    type: "invalid_request_error",
    code: "invalid_api_key",
  },
};

export function openaiRefusal(kind: RefusalKind, said: string | undefined, param: string): Refusal {
  const { status, message, type, code } = WORDS[kind];
  const about = kind === "refused-request" || kind === "too-long" ? param : null;
  return { status, headers: {}, body: { error: { message: said ?? message, type, param: about, code } } };
}

export function openaiCaller(headers: Headers, apiKey: string | undefined): Refusal | undefined {
  const given = headers.get("authorization");
  if (given === null) {
    const message =
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.";
    return openaiRefusal("not-allowed", message, "");
  }
  return apiKey === undefined || given === `Bearer ${apiKey}` ? undefined : openaiRefusal("not-allowed", undefined, "");
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** What OpenAI refuses in a function that is offered, by where it stands in the request. */
export function offerFault(declared: Body, place: string): string | undefined {
  const name = nameIn(declared["name"]);
  if (TOOL_NAME.test(name)) return schemaFault(name, declared);
  return `Invalid '${place}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
}

/** What it refuses in its schema. None at all is taken: such a function has no arguments. */
function schemaFault(name: string, { parameters }: Body): string | undefined {
  if (parameters === undefined || parameters === null) return undefined;
  const schema = fieldsOf(parameters);
  const type = typeof schema["type"] === "string" ? schema["type"] : "None";
  if (type !== "object")
    return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`;
  if (["oneOf", "anyOf", "allOf", "enum", "not"].some((key) => schema[key] !== undefined))
    return `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`;
  if (isFields(schema["properties"])) return undefined;
  return `Invalid schema for function '${name}': In context=(), object schema missing properties.`;
}
