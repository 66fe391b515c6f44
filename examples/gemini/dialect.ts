/** Gemini on this machine, as its documentation has it: what it takes, how it answers, how it says no. */
import {
  type Asked,
  type Dialect,
  isSealed,
  pieces,
  type Refusal,
  type RefusalKind,
  type ScriptedAnswer,
  seal,
} from "holdfast/testing";
import { asList, countOf, fieldsOf, wordOf } from "holdfast/adapters/kit";

export const geminiDialect: Dialect = {
  path: /^\/v1beta\/models\/[\w.-]+:(generateContent|streamGenerateContent)$/,
  profile: "gemini",
  refuseCaller: (headers) => (headers.get("x-goog-api-key") === null ? refusal("not-allowed") : undefined),
  refuseBody: (body) => unknownField(body) ?? sealFault(asList(body["contents"])),
  messagesOf: (body) => asList(body["contents"]),
  asked,
  streams: (_body, path) => path.endsWith(":streamGenerateContent"),
  whole: (answer, { nth }) => said(partsOf(answer), nth, answer),
  events: (answer, { nth }) => {
    const parts = partsOf(answer).flatMap(inPieces);
    return [
      ...parts.map((part) => ({ data: said([part], nth) })),
      { data: said([{ text: "" }], nth, answer), end: true as const },
    ];
  },
  refusal,
  broken: ({ body }) => ({ data: body }),
};

const MODES: Readonly<Record<string, "auto" | "none" | "required">> = { AUTO: "auto", NONE: "none", ANY: "required" };

function asked(body: Readonly<Record<string, unknown>>): Asked {
  const config = fieldsOf(body["generationConfig"]);
  const { mode, allowedFunctionNames } = fieldsOf(fieldsOf(body["toolConfig"])["functionCallingConfig"]);
  const name = wordOf(asList(allowedFunctionNames)[0]);
  const toolChoice = name === undefined ? MODES[String(mode)] : { name };
  const maxOutputTokens = countOf(config["maxOutputTokens"]);
  const temperature = countOf(config["temperature"]);
  return {
    instructions: asList(fieldsOf(body["systemInstruction"])["parts"])
      .map((part) => wordOf(fieldsOf(part)["text"]) ?? "")
      .join("\n"),
    effort: fieldsOf(config["thinkingConfig"])["thinkingLevel"],
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

const FIELDS = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"];

function unknownField(body: object): string | undefined {
  const field = Object.keys(body).find((name) => !FIELDS.includes(name));
  return field === undefined ? undefined : `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`;
}

/** It documents this text for calls whose thought was not made here. */
const WAIVED = "skip_thought_signature_validator";

function sealFault(contents: readonly unknown[]): string | undefined {
  const parts = contents.flatMap((content) => asList(fieldsOf(content)["parts"])).map(fieldsOf);
  const broken = parts.some((part) => {
    const { thoughtSignature: given, functionCall, text } = part;
    const over = functionCall === undefined ? `text ${String(text)}` : `call ${String(fieldsOf(functionCall)["name"])}`;
    return given !== undefined && given !== WAIVED && !isSealed(over, given);
  });
  return broken ? "Thought signature is not valid" : undefined;
}

type Part = Readonly<Record<string, unknown>>;

/** What was thought is sealed on the first call, or on an empty text behind the last word. */
function partsOf({ reasoning, text, refusal: refused, calls = [] }: ScriptedAnswer): readonly Part[] {
  const spoken = refused ?? text;
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(spoken === undefined ? [] : [{ text: spoken }]),
    ...calls.map(({ name, input, id }, at) => ({
      functionCall: { name, args: input ?? {}, ...(id === undefined ? {} : { id }) },
      ...(at === 0 ? { thoughtSignature: seal(`call ${name}`) } : {}),
    })),
    ...(reasoning === undefined || calls.length > 0 ? [] : [{ text: "", thoughtSignature: seal("text ") }]),
  ];
}

function inPieces(part: Part): readonly Part[] {
  const text = wordOf(part["text"]);
  return text === undefined ? [part] : pieces(text).map((piece) => ({ ...part, text: piece }));
}

const FINISH: Readonly<Record<string, string>> = { length: "MAX_TOKENS", "content-filter": "SAFETY" };

/** An answer, or a piece of one; the last has why it stopped and what it cost. */
function said(parts: readonly Part[], nth: number, end?: ScriptedAnswer): object {
  const { input, output } = end?.usage ?? { input: 12, output: 34 };
  const finish = end === undefined ? {} : { finishReason: FINISH[end.stop ?? ""] ?? "STOP" };
  const usage = end === undefined ? {} : { usageMetadata: { promptTokenCount: input, candidatesTokenCount: output } };
  const candidates = [{ content: { role: "model", parts }, ...finish, index: 0 }];
  return { candidates, ...usage, modelVersion: "gemini-strict-001", responseId: `strict${nth}` };
}

/** How Google says no. */
const WORDS: Readonly<Record<RefusalKind, readonly [number, string, string]>> = {
  "rate-limited": [429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
  "out-of-quota": [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan."],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
  "provider-broken": [500, "INTERNAL", "An internal error has occurred."],
  "too-long": [400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed."],
  "refused-request": [400, "INVALID_ARGUMENT", "Request contains an invalid argument."],
  "not-allowed": [403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers."],
};

function refusal(kind: RefusalKind, words?: string): Refusal {
  const [code, status, message] = WORDS[kind];
  const details = kind === "out-of-quota" ? { details: [{ violations: [{ quotaId: "RequestsPerDay" }] }] } : {};
  return { status: code, headers: {}, body: { error: { code, status, message: words ?? message, ...details } } };
}
