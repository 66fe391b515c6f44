/** Gemini as a model, over plain `fetch`. What a provider with a body of its own takes beyond the guide's adapter. */
import {
  type Model,
  type ModelEvent,
  type ModelFailure,
  type ModelFailureKind,
  type ModelRequest,
  PROFILES,
  readMessages,
  type StopReason,
  writeMessages,
} from "holdfast";
import {
  type AnswerReader,
  asList,
  askOnce,
  countOf,
  type Draft,
  failureFrom,
  type Fields,
  fieldsOf,
  mustBeSendable,
  onePiece,
  readSdkError,
  type SdkError,
  sentIn,
  type SentShape,
  wholeSchema,
  wordOf,
} from "holdfast/adapters/kit";

export interface GeminiOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL: string;
  /** `false` asks for whole answers. */
  readonly stream?: boolean;
}

export function gemini(options: GeminiOptions): Model {
  const { model, stream = true } = options;
  return {
    name: `gemini:${model}`,
    profile: PROFILES.gemini,
    can: { streams: stream, sealsReasoning: true, cacheMarks: 0 },
    ask(request, { signal, inspect }) {
      const body = bodyOf(request);
      inspect?.(sentIn(body, SENT));
      const open = async (own: AbortSignal) => {
        if (stream) return pieces(await post(options, "streamGenerateContent?alt=sse", body, own));
        return onePiece(post(options, "generateContent", body, own).then((response) => response.json()));
      };
      return askOnce({ request, reader: new GeminiReader(), open, failureOf }, signal);
    },
  };
}

// The request

/** Instructions stand beside the conversation here, and all tools in one. */
function bodyOf(request: ModelRequest): object {
  const { tools = [], toolChoice, maxOutputTokens, temperature, reasoning } = request;
  const { messages, instructions } = writeMessages(request.items, PROFILES.gemini);
  const declared = tools.map(({ name, description, input }) => {
    return { name, description, parametersJsonSchema: wholeSchema(input) };
  });
  const offered = declared.length === 0 ? {} : { tools: [{ functionDeclarations: declared }] };
  mustBeSendable({ messages, ...offered }, PROFILES.gemini);
  return {
    contents: messages,
    ...(instructions.length === 0 ? {} : { systemInstruction: { parts: instructions.map((text) => ({ text })) } }),
    ...offered,
    ...(toolChoice === undefined ? {} : { toolConfig: { functionCallingConfig: choice(toolChoice) } }),
    generationConfig: {
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      thinkingConfig: { includeThoughts: true, ...(reasoning === undefined ? {} : { thinkingLevel: reasoning }) },
    },
  };
}

const MODES = { auto: "AUTO", none: "NONE", required: "ANY" } as const;

function choice(asked: NonNullable<ModelRequest["toolChoice"]>): object {
  return typeof asked === "string" ? { mode: MODES[asked] } : { mode: "ANY", allowedFunctionNames: [asked.name] };
}

const SENT: SentShape = {
  tools: ({ tools }) => asList(tools).flatMap((tool) => asList(fieldsOf(tool)["functionDeclarations"])),
  described: (tool) => tool,
  schema: "parametersJsonSchema",
  demanded: ({ toolConfig }) => {
    return asList(fieldsOf(fieldsOf(toolConfig)["functionCallingConfig"])["allowedFunctionNames"])[0];
  },
  speaking: [],
};

// The answer

/** There is no word for a refusal: a model that will not says so like anything else. */
const STOPS: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
};

/** A piece is an answer with some of the parts, so a whole one is read alike. */
class GeminiReader implements AnswerReader {
  readonly #parts: Fields[] = [];
  #known: Pick<Draft, "id" | "model" | "usage"> = {};
  #calls = 0;
  #finish: string | undefined;

  *read(piece: unknown): Iterable<ModelEvent> {
    const { candidates, promptFeedback, responseId, modelVersion, usageMetadata } = fieldsOf(piece);
    const { content, finishReason } = fieldsOf(asList(candidates)[0]);
    const id = wordOf(responseId);
    const model = wordOf(modelVersion);
    this.#known = { ...this.#known, ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) };
    for (const part of asList(fieldsOf(content)["parts"])) yield* this.#part(fieldsOf(part));
    this.#finish ??= wordOf(finishReason) ?? wordOf(fieldsOf(promptFeedback)["blockReason"]);
    if (usageMetadata === undefined) return;
    const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = fieldsOf(usageMetadata);
    const output = (countOf(candidatesTokenCount) ?? 0) + (countOf(thoughtsTokenCount) ?? 0);
    const usage = { input: countOf(promptTokenCount) ?? 0, output };
    this.#known = { ...this.#known, usage };
    yield { kind: "usage", usage };
  }

  *#part(part: Fields): Iterable<ModelEvent> {
    const { text, thought, functionCall } = part;
    if (text === "" && part["thoughtSignature"] === undefined) return;
    const said = wordOf(text);
    if (said !== undefined) yield { kind: thought === true ? "reasoning-delta" : "text-delta", text: said };
    if (functionCall !== undefined) {
      const { name, args } = fieldsOf(functionCall);
      yield { kind: "call-delta", index: this.#calls, name: wordOf(name) ?? "", arguments: JSON.stringify(args ?? {}) };
      this.#calls += 1;
    }
    const last = this.#parts.at(-1);
    if (last === undefined || !continues(last, part)) this.#parts.push(part);
    else this.#parts[this.#parts.length - 1] = { ...last, text: `${String(last["text"])}${String(text)}` };
  }

  draft(): Draft {
    const nothing = this.#parts.length === 0 && this.#finish === undefined;
    const { items } = readMessages([{ role: "model", parts: this.#parts }], "gemini");
    const draft = { ...this.#known, items: nothing ? [] : items, unread: [] };
    if (this.#finish === undefined) return draft;
    return { ...draft, stop: { reason: STOPS[this.#finish] ?? "other", text: this.#finish } };
  }
}

/** Pieces of one text; never across a seal, which is over what it stands on. */
function continues(last: Fields, part: Fields): boolean {
  const texts = typeof last["text"] === "string" && typeof part["text"] === "string";
  const unsealed = last["thoughtSignature"] === undefined && part["thoughtSignature"] === undefined;
  return texts && unsealed && last["thought"] === part["thought"];
}

// The line

/** In the shape that `readSdkError` reads, which knows no `status` in words and no details. */
class GeminiError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly error: object;

  constructor(headers: Headers, body: unknown) {
    super("Gemini refused.");
    const { code, message, status, details } = fieldsOf(fieldsOf(body)["error"]);
    const isDaily = asList(details).some((detail) => JSON.stringify(detail).includes("PerDay"));
    this.status = countOf(code);
    this.headers = headers;
    this.error = { message, code: status, type: isDaily ? "DAILY_QUOTA" : undefined };
  }
}

async function post(options: GeminiOptions, method: string, body: object, signal: AbortSignal): Promise<Response> {
  const { baseURL, model, apiKey } = options;
  const response = await fetch(`${baseURL}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "x-goog-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response;
  throw new GeminiError(response.headers, await response.json().catch(() => ({ error: { code: response.status } })));
}

async function* pieces(response: Response): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: ?(.*)/m.exec(event)?.[1];
      if (data === undefined) continue; // a comment, to keep the line awake
      const piece: unknown = JSON.parse(data);
      if (fieldsOf(piece)["error"] !== undefined) throw new GeminiError(response.headers, piece);
      yield piece;
    }
  }
}

function failureOf(thrown: unknown, begun: boolean): ModelFailure {
  return failureFrom(readSdkError(thrown), named, begun);
}

function named({ type, message }: SdkError): ModelFailureKind | undefined {
  if (type === "DAILY_QUOTA") return "out-of-quota";
  return /input token count .*exceeds the maximum/.test(message) ? "too-long" : undefined;
}
